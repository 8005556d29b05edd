"""Lines from another program, read in a thread: a search sees that the next one has come, and stops.

A line is text without its end; what is no UTF-8 becomes question marks. `None` stands for the end of the input.
"""

from __future__ import annotations

import io
import os
import queue
import threading
from collections.abc import Callable
from typing import BinaryIO

WAITING = 4096
"""Lines that are read ahead; further ones wait in the pipe."""


class Failure(Exception):
    """A command that cannot be done; its text is the answer that the other program gets."""


class CommandLines:
    """The lines of a stream, in their order."""

    def __init__(
        self, stream: BinaryIO, longest: int = 1 << 16, heed: Callable[[str], bool] = lambda line: False
    ) -> None:
        """Begin to read. Of a line longer than `longest` bytes the rest is dropped, and TOO_LONG stands before it.

        heed: called in the thread with each line as it comes; True takes the line, so that it is not returned.
        """
        self._stream, self._longest, self._heed = stream, longest, heed
        self._lines: queue.Queue[str | None] = queue.Queue(WAITING)
        self._ended = False
        threading.Thread(target=self._run, daemon=True, name="command lines").start()

    @property
    def waiting(self) -> bool:
        """Return whether a line, or the end, has come and was not returned yet."""
        return self._ended or not self._lines.empty()

    def next(self, seconds: float | None = None) -> str | None:
        """Return the next line, None at the end; raise `queue.Empty` when none comes within `seconds`."""
        if self._ended:
            return None
        line = self._lines.get(timeout=seconds)
        self._ended = line is None
        return line

    def _run(self) -> None:
        data, cut = b"", False
        while part := self._read():
            *lines, data = (data + part).split(b"\n")
            for line in lines:
                self._put(line, cut)
                cut = False
            if len(data) > self._longest:
                data, cut = data[: self._longest], True
        if data:
            self._put(data, cut)
        self._lines.put(None)

    def _read(self) -> bytes:
        """Return what comes next, b"" at the end.

        The file is read without its buffer: a thread that waits with a buffer locked cannot be left at the program's
        end.
        """
        try:
            return os.read(self._stream.fileno(), CHUNK)
        except io.UnsupportedOperation:  # it is in memory
            return self._stream.read(CHUNK)
        except (OSError, ValueError):  # it is gone
            return b""

    def _put(self, data: bytes, cut: bool) -> None:
        cut = cut or len(data) > self._longest
        line = data[: self._longest].decode("utf-8", "replace").rstrip("\r")
        if not self._heed(line):
            self._lines.put(TOO_LONG + line[:200] if cut else line)


CHUNK = 1 << 16
TOO_LONG = "\N{REPLACEMENT CHARACTER}too long "
"""First characters of a line of which the rest was dropped; no command begins with them."""
