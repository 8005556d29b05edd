"""How far compiling is: a hook for whoever shows it, such as the console, the page or a notebook."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from compiling.kept_code import KEEPING
from compiling.numba_import import numba
from compiling.ready_code import READING, SHIPS
from languages.translate import tr

event = numba.core.event

EXPECTED = (
    {"search": 25, "training": 35, "everything": 95} if SHIPS else {"search": 190, "training": 280, "everything": 450}
)
"""About how many functions a search compiles, training with its first tournament, and `prepare` for all games. A file
of code that ships holds what its function calls, too, so fewer are counted."""
KINDS = "numba:compile", READING, KEEPING


class Progress(NamedTuple):
    """How far compiling is since the program's start."""

    done: int
    expected: int
    """Functions compiled, and about how many there are."""
    seconds: float
    """Spent compiling."""

    def __str__(self) -> str:
        seconds = f"{self.seconds:.0f}"
        return tr("compiling the search, once: {done} of about {expected} functions, {seconds} s",
                  done=self.done, expected=self.expected, seconds=seconds)  # fmt: skip


Show = Callable[[Progress | None], None]


class Watch(event.Listener):  # type: ignore[misc]
    """Calls `show` about twice in `every` seconds while code is compiled, from a quarter of them on, until `end`.

    `show` gets the progress, or None when nothing is compiled any more. It is called in another thread or in the one
    that compiles, never twice at once.
    """

    def __init__(self, show: Show, *, expected: int = EXPECTED["search"], every: float = 1.0) -> None:
        self.done, self.seconds = 0, 0.0
        """Functions compiled so far, and the time that it took."""
        self._show, self._expected, self._every = show, expected, every
        self._lock = threading.RLock()
        self._depth, self._began, self._shown, self._ended = 0, 0.0, 0.0, False
        for kind in KINDS:
            event.register(kind, self)

    def end(self) -> None:
        """Show no more, whatever is still compiled; a second time nothing happens."""
        with self._lock:
            ended, self._ended = self._ended, True
        if not ended:
            for kind in KINDS:
                event.unregister(kind, self)

    def on_start(self, _: Any) -> None:
        with self._lock:
            self._depth += 1
            if self._depth == 1:
                self._began = time.monotonic()
                threading.Thread(target=self._tick, args=(self._began,), name="compiling", daemon=True).start()

    def on_end(self, ended: Any) -> None:
        with self._lock:
            if not self._depth:  # what began before this was made
                return
            self._depth, self.done = self._depth - 1, self.done + (ended.kind != KEEPING)
            if self._depth == 0:
                self.seconds += time.monotonic() - self._began
                self._show(None)

    def _tick(self, began: float) -> None:
        """Show the progress while a function and those that it calls are compiled."""
        while True:
            time.sleep(self._every / 10)
            with self._lock:
                if self._ended or self._depth == 0 or self._began != began:
                    return
                now = time.monotonic()
                seconds = self.seconds + now - began
                if seconds >= self._every / 4 and now - self._shown >= self._every / 2:
                    self._shown = now
                    self._show(Progress(self.done, max(self._expected, self.done), seconds))
