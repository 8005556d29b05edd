"""A run in a notebook: its session, its curves, live; `Board` and `Explained` of board.py to click on.

No logic of training.
"""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

import games
from config import with_overrides
from evaluation.game_contract import checked
from initialise import Session
from interface.curves import Picture, curves
from interface.notebook.board import Board, Explained
from interface.notebook.words import Words, display_text, loading, shell
from loggers import read_metrics
from storage.run_folders import EXTRA_HEADS, NETWORK, find_run, read_config, runs_of, unfinished_run, with_network_of
from training.presets import preset

__all__ = ["Board", "Explained", "LiveCurves", "Picture", "curves", "open_session"]

_OPEN: list[Session] = []
_SHOWN: list[LiveCurves] = []
"""Those whose cell is not over."""
LIMITS = "iterations", "minutes", "evaluations"
"""Settings that say when a run ends."""


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

    The newest run also resumes if it is finished and `overrides` raise its limit of iterations, minutes or evaluations.
    A run that resumes keeps its own settings, changed by `overrides`; the preset is for a new run. With an
    INITIAL_RUN_NUMBER a new run starts from that run's work, with a network like its own unless `overrides` name one.
    """
    while _OPEN:
        _OPEN.pop().close()
    with loading() as say:
        session, resumes = _opened(settings, game, new, overrides, root,
                                   (INITIAL_RUN_NUMBER, INITIAL_MODEL_VERSION, INITIAL_MEMORY_VERSION))  # fmt: skip
        _OPEN.append(session)
        name = f"{session.folder.parent.name}/{session.folder.name}"
        say(f"{'resuming' if resumes else 'new run'} {name}, iteration {session.iteration}")
    return session


def _opened(
    settings: str, game: str | None, new: bool, overrides: dict[str, Any] | None, root: str | Path | None,
    initial: tuple[int | None, int | None, int | None],
) -> tuple[Session, bool]:  # fmt: skip
    """Return (session, whether it resumes a run)."""
    number, version, memory_version = initial
    changes: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in (overrides or {}).items()}
    config = preset(settings, **({"game": game} if game else {}) | changes)
    config = dataclasses.replace(config, game=checked(games.make(config.game)).spec)
    folder = Path(root) if root else None
    if None not in (number, version) and settings == "laptop":
        config = with_network_of(config, find_run(config.game, number, folder))
        config = with_overrides(config, **{name: v for name, v in changes.items() if name in NETWORK + EXTRA_HEADS})
    found = None
    if not new and initial == (None, None, None):
        found = unfinished_run(config.game, folder) or _lengthened(config.game, changes, folder)
    if found is not None:
        changes["game"] = config.game
        return Session.open(found, with_overrides(read_config(found), **changes)), True
    return Session.start(
        config, root=folder, INITIAL_RUN_NUMBER=number, INITIAL_MODEL_VERSION=version,
        INITIAL_MEMORY_VERSION=memory_version,
    ), False  # fmt: skip


def _lengthened(game: str, changes: dict[str, Any], root: Path | None) -> Path | None:
    """Return the newest run of a game if `changes` raise one of its limits and lower none, else None."""
    for folder in runs_of(game, root)[-1:]:
        limits = {name: getattr(read_config(folder), name) for name in LIMITS}
        pairs = [(changes.get(name, now) or math.inf, now or math.inf) for name, now in limits.items()]  # 0: no limit
        if any(new > now for new, now in pairs) and all(new >= now for new, now in pairs):
            return folder
    return None


# ---- curves


class LiveCurves:
    """Redraws a run's curves in place: `main.train(session, on_iteration=LiveCurves(session))`.

    In a notebook it also becomes the session's console: the last lines printed and the progress, in one place.
    Elsewhere it shows nothing and only keeps `picture` up to date.
    """

    def __init__(self, session: Session) -> None:
        self._path = session.folder / "metrics.jsonl"
        self._handle: Any = None
        self._shell = shell()
        if self._shell is not None:
            for earlier in [*_SHOWN]:  # of the same cell: they would count seconds for ever
                earlier._end()
            _SHOWN.append(self)
            session.console = self._words = Words(display_text("starting"))
            self._shell.events.register("post_run_cell", self._end)
        self.picture = curves(read_metrics(self._path))
        if self._shell is not None:
            from IPython.display import display

            self._handle = display(self.picture, display_id=True)

    def __call__(self, line: dict[str, Any]) -> None:
        """Show the run; this line of its metrics is in the file already."""
        self.picture = curves(read_metrics(self._path))
        if self._handle is not None:
            self._handle.update(self.picture)

    def _end(self, _: Any = None) -> None:
        _SHOWN.remove(self)
        self._shell.events.unregister("post_run_cell", self._end)
        self._words.end()
