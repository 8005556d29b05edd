"""A few lines in one place of a notebook's cell: what is at work, and the seconds without news.

No logic of training.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from compiling.progress import EXPECTED, Progress, Watch
from interface.silence import Silence
from languages.translate import tr
from loggers import Console, Phase


def shell() -> Any:
    """Return the IPython shell of a notebook; None elsewhere."""
    found = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return found if hasattr(found, "kernel") else None


def display_text(text: str) -> Callable[[str], None]:
    """Display a text below the present cell; return what replaces it."""
    from IPython.display import display

    handle = display({"text/plain": text}, raw=True, display_id=True)
    return lambda text: handle.update({"text/plain": text}, raw=True)


@contextmanager
def loading() -> Iterator[Callable[[str], None]]:
    """Show in a notebook for how long a block has been loading libraries; yields what shows its last words instead.

    Outside a notebook these are printed, and nothing else is.
    """
    if shell() is None:
        yield print
        return
    text = tr("loading the network's libraries: {seconds} s")
    show = display_text(text.format(seconds=0))
    silence = Silence(lambda seconds: show(text.format(seconds=int(seconds))))

    def last(words: str) -> None:
        silence.end()
        show(words)

    try:
        yield last
    finally:
        silence.end()


class Words(Console):
    """A console of a few lines that are redrawn in one place; the last one counts the seconds without news."""

    def __init__(self, show: Callable[[str], None]) -> None:
        super().__init__()
        self._draw = show
        self._lines: list[str] = []
        self._below = ""
        """What is shown below the lines for now: a phase, or how far compiling is."""
        self._lock = threading.RLock()
        self._silence = Silence(self._count)
        self._watch = Watch(self.compiling, expected=EXPECTED["training"])

    def end(self) -> None:
        """Change nothing any more: the cell is over."""
        self._silence.end()
        self._watch.end()
        self._show("")

    def say(self, text: str) -> None:
        with self._lock:
            self._lines = [*self._lines, text][-6:]
            self._show(self._below)

    def compiling(self, progress: Progress | None) -> None:
        """Show how far compiling is, below the lines said so far."""
        self._show(str(progress) if progress else "")

    @contextmanager
    def phase(self, name: str, total: int, done: int = 0) -> Iterator[Phase]:
        line: Any = SimpleNamespace(say=self._show, paces=self.paces)
        line.say(f"  {name}")
        phase = Phase(line, name, total, done, live=False, every=1.0)
        try:
            yield phase
        finally:
            phase.close()
            self._show("")

    def _show(self, below: str) -> None:
        with self._lock:
            self._below = below
            self._silence.broken()
            self._draw("\n".join([*self._lines, *([below] if below else [])]))

    def _count(self, seconds: float) -> None:
        with self._lock:
            self._draw("\n".join([*self._lines, f"{self._below}  ... {seconds:.1f} s"]))
