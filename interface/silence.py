"""Counting the seconds in which nothing new was shown, for a line of the console or of a notebook's cell."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

SILENT = 0.6
"""Seconds without anything new from which on their number is shown."""


class Silence:
    """Calls `show` in a thread, twice a second, with the seconds since `broken` was last called, from SILENT on."""

    def __init__(self, show: Callable[[float], None]) -> None:
        self._show, self._ended, self._last = show, threading.Event(), time.monotonic()
        self._thread = threading.Thread(target=self._count, name="silence", daemon=True)
        self._thread.start()

    def broken(self) -> None:
        """Begin to count again: something new was shown."""
        self._last = time.monotonic()

    def end(self) -> None:
        """Show no more."""
        self._ended.set()
        self._thread.join()

    def _count(self) -> None:
        while not self._ended.wait(0.4):
            seconds = time.monotonic() - self._last
            if seconds >= SILENT:
                self._show(seconds)
