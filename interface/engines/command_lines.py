"""Lines from another program, read in a thread: a search sees that the next one has come, and stops.

A line is text without its end; what is no UTF-8 becomes question marks. `None` stands for the end of the input.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import BinaryIO

WAITING = 4096
"""Lines that are read ahead; further ones wait in the pipe."""


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
        try:
            while data := self._stream.readline(self._longest):
                line = data.decode("utf-8", "replace").rstrip("\r\n")
                if not data.endswith(b"\n"):
                    line = self._whole(line)
                if not self._heed(line):
                    self._lines.put(line)
        except (OSError, ValueError):  # the stream is gone
            pass
        self._lines.put(None)

    def _whole(self, line: str) -> str:
        """Return a line that ended without its end: TOO_LONG before it if there was more of it, which is dropped."""
        cut = False
        while rest := self._stream.readline(self._longest):
            cut = cut or bool(rest.strip(b"\r\n"))
            if rest.endswith(b"\n"):
                break
        return TOO_LONG + line[:200] if cut else line


TOO_LONG = "\N{REPLACEMENT CHARACTER}too long "
"""First characters of a line of which the rest was dropped; no command begins with them."""
