"""A run in a notebook: its session, its curves, live; `Board` and `Explained` of board.py to click on.

No logic of training.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import games
from compiling.progress import EXPECTED, Progress, Watch
from config import with_overrides
from initialise import Session
from interface.curves import Picture, curves
from interface.doctor.game_contract import checked
from interface.notebook.board import Board, Explained
from loggers import Console, Phase, read_metrics
from storage.run_folders import EXTRA_HEADS, NETWORK, find_run, read_config, unfinished_run, with_network_of
from training.presets import preset

__all__ = ["Board", "Explained", "LiveCurves", "Picture", "clickable", "curves", "open_session"]

_OPEN: list[Session] = []
_WATCHING: list[Watch] = []
"""What shows how far compiling is, in the cell of the latest training."""


def clickable(board: Board) -> Any:
    """Return a board as a widget to click on; without anywidget the board itself, naming what to install.

    The widget and the calls of the board, such as `board.move(4)`, play the same game.
    """
    try:
        from interface.notebook.widget import BoardWidget
    except ImportError:
        return board.tell("to click on it: `pip install anywidget`, restart the notebook; board.move plays without")
    return BoardWidget.of(board)


def open_session(
    settings: str = "laptop",
    *,
    game: str | None = None,
    new: bool = False,
    overrides: dict[str, Any] | None = None,
    root: str | Path | None = None,
    INITIAL_RUN_NUMBER: int | None = None,
    INITIAL_MODEL_VERSION: int | None = None,
    INITIAL_MEMORY_VERSION: int | None = None,
) -> Session:
    """Resume the newest unfinished run of a game, or start one; the session opened before is closed.

    A run that resumes keeps its own settings, changed by `overrides`; the preset is for a new run. With an
    INITIAL_RUN_NUMBER a new run starts from that run's work, with a network like its own unless `overrides` name one.
    """
    while _OPEN:
        _OPEN.pop().close()
    changes = {name: tuple(v) if isinstance(v, list) else v for name, v in (overrides or {}).items()}
    config = preset(settings, **({"game": game} if game else {}) | changes)
    config = dataclasses.replace(config, game=checked(games.make(config.game)).spec)
    folder = Path(root) if root else None
    if None not in (INITIAL_RUN_NUMBER, INITIAL_MODEL_VERSION) and settings == "laptop":
        config = with_network_of(config, find_run(config.game, INITIAL_RUN_NUMBER, folder))
        config = with_overrides(config, **{name: v for name, v in changes.items() if name in NETWORK + EXTRA_HEADS})
    initial = (INITIAL_RUN_NUMBER, INITIAL_MODEL_VERSION, INITIAL_MEMORY_VERSION)
    found = unfinished_run(config.game, folder) if not new and initial == (None, None, None) else None
    if found is not None:
        changes["game"] = config.game
        session = Session.open(found, with_overrides(read_config(found), **changes))
    else:
        session = Session.start(
            config, root=folder, INITIAL_RUN_NUMBER=INITIAL_RUN_NUMBER,
            INITIAL_MODEL_VERSION=INITIAL_MODEL_VERSION, INITIAL_MEMORY_VERSION=INITIAL_MEMORY_VERSION,
        )  # fmt: skip
    _OPEN.append(session)
    name = f"{session.folder.parent.name}/{session.folder.name}"
    session.console.say(f"{'resuming' if found else 'new run'} {name}, iteration {session.iteration}")
    return session


# ---- curves


class LiveCurves:
    """Redraws a run's curves in place: `main.train(session, on_iteration=LiveCurves(session))`.

    In a notebook it also becomes the session's console: the last lines printed and the progress, in one place.
    Elsewhere it shows nothing and only keeps `picture` up to date.
    """

    def __init__(self, session: Session) -> None:
        self._path = session.folder / "metrics.jsonl"
        self._handle: Any = None
        self._live = _in_notebook()
        if self._live:
            words = self._display({"text/plain": "starting"})
            session.console = told = _Words(lambda text: words.update({"text/plain": text}, raw=True))
            while _WATCHING:
                _WATCHING.pop().end()
            _WATCHING.append(Watch(told.compiling, expected=EXPECTED["training"]))
        self.picture = curves(read_metrics(self._path))
        if self._live:
            self._handle = self._display(self.picture, raw=False)

    def __call__(self, line: dict[str, Any]) -> None:
        """Show the run; this line of its metrics is in the file already."""
        self.picture = curves(read_metrics(self._path))
        if self._handle is not None:
            self._handle.update(self.picture)

    def _display(self, what: Any, *, raw: bool = True) -> Any:
        from IPython.display import display

        return display(what, raw=raw, display_id=True)


def _in_notebook() -> bool:
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return hasattr(shell, "kernel")


class _Words(Console):
    """A console of a few lines that are redrawn in one place."""

    def __init__(self, show: Callable[[str], None]) -> None:
        super().__init__()
        self._show = show
        self._lines: list[str] = []

    def say(self, text: str) -> None:
        self._lines = [*self._lines, text][-6:]
        self._show("\n".join(self._lines))

    def compiling(self, progress: Progress | None) -> None:
        """Show how far compiling is, below the lines said so far."""
        self._show("\n".join([*self._lines, *([str(progress)] if progress else [])]))

    @contextmanager
    def phase(self, name: str, total: int, done: int = 0) -> Iterator[Phase]:
        line: Any = SimpleNamespace(say=lambda text: self._show("\n".join([*self._lines, text])), paces=self.paces)
        line.say(f"  {name}")
        phase = Phase(line, name, total, done, live=False, every=1.0)
        try:
            yield phase
        finally:
            phase.close()
            self._show("\n".join(self._lines))
