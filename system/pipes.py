"""A pipe read or written in a thread: a wait for it has an end on every system (Windows waits only for sockets)."""

from __future__ import annotations

import os
import queue
import threading
from typing import IO

SIZE = 4096
"""Most bytes read at once."""


class PipeReader:
    """The data of a pipe, in the order in which it came. The thread owns the pipe and closes it."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._parts: queue.Queue[bytes] = queue.Queue(maxsize=1)  # a flood waits in the pipe
        self._closed = threading.Event()
        threading.Thread(target=self._run, daemon=True, name="pipe reader").start()

    def read(self, seconds: float) -> bytes | None:
        """Return what came next, b"" at the end of the pipe, None when nothing came within `seconds`."""
        try:
            return self._parts.get(timeout=max(seconds, 0.0))
        except queue.Empty:
            return None

    def close(self) -> None:
        """Let the thread end, now or when what it reads now has ended."""
        self._closed.set()
        self.read(0.0)  # the place for a last part

    def _run(self) -> None:
        with self._pipe:
            data = b" "
            while data and not self._closed.is_set():
                try:
                    data = os.read(self._pipe.fileno(), SIZE)
                except OSError:
                    data = b""
                self._parts.put(data)


class PipeWriter:
    """Writes into a pipe whose reader may not read. The thread owns the pipe and closes it."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._parts: queue.Queue[bytes | None] = queue.Queue()
        self._taken = threading.Event()
        self._taken.set()
        self._error: OSError | None = None
        threading.Thread(target=self._run, daemon=True, name="pipe writer").start()

    def write(self, data: bytes, seconds: float) -> None:
        """Write all of the data; raise `OSError` if that fails, `TimeoutError` if it is not taken within `seconds`."""
        if self._taken.is_set() and self._error is None:
            self._taken.clear()
            self._parts.put(data)
        if not self._taken.wait(max(seconds, 0.0)):
            raise TimeoutError
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        """Close the pipe, now or when what is written now has been taken or refused."""
        self._parts.put(None)

    def _run(self) -> None:
        try:
            with self._pipe:
                while (data := self._parts.get()) is not None:
                    while data:
                        data = data[os.write(self._pipe.fileno(), data) :]
                    self._taken.set()
        except OSError as error:
            self._error = error
            self._taken.set()
