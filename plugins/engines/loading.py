"""Loading in a thread, so that another program is answered from the first moment."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from plugins.engines.command_lines import CommandLines

T = TypeVar("T")
LOOK = 0.05
"""Seconds between two looks whether loading has failed."""


class Loading(Generic[T]):
    """The result of a function that may take seconds."""

    def __init__(self, load: Callable[[], T]) -> None:
        self._load = load
        self._found: list[T] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="loading")
        self._thread.start()

    def _run(self) -> None:
        try:
            self._found.append(self._load())
        except BaseException as error:
            self._error = error

    @property
    def done(self) -> bool:
        return bool(self._found)

    def result(self) -> T:
        """Wait for the result; raise the error of the function."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._found[0]

    def wait_for(self, lines: CommandLines) -> str | None:
        """Return the next line, None at the end; raise the error of loading as soon as it is known.

        At the end loading is waited for: its error is not lost where all lines came before it.
        """
        while True:
            loads = self._thread.is_alive()
            if self._error is not None:
                raise self._error
            try:
                line = lines.next(LOOK if loads else None)
            except queue.Empty:
                continue
            if line is None:
                self.result()
            return line

    def end(self) -> None:
        """Wait until the thread has ended: the program may not end while it compiles."""
        self._thread.join()
