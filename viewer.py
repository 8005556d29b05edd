"""What a notebook shows of a run: its session, its curves, live; with position.py's `Board` and `Explained`.

No logic of learning. Figures are wrapped, because a bare one shows as text where matplotlib is not set up.
"""

from __future__ import annotations

import dataclasses
import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

import games
from config import preset, with_overrides
from initialise import Session
from loggers import Console, Phase, clock, read_metrics
from position import Board, Explained
from runs import read_config, unfinished_run

__all__ = ["Board", "Explained", "LiveCurves", "Picture", "curves", "open_session"]

BLUE, ORANGE, GREY = "#3566a8", "#e08a1e", "#c3c9d1"
_OPEN: list[Session] = []


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
    """Go on with the newest unfinished run of a game, or start one; the session it opened before is closed.

    A run that goes on keeps its own settings, changed by `overrides`; the preset is for a new run. With an
    INITIAL_RUN_NUMBER a new run starts from that one's work.
    """
    while _OPEN:
        _OPEN.pop().close()
    changes = {name: tuple(v) if isinstance(v, list) else v for name, v in (overrides or {}).items()}
    config = preset(settings, **({"game": game} if game else {}) | changes)
    config = dataclasses.replace(config, game=games.make(config.game).spec)
    folder = Path(root) if root else None
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
    session.console.say(f"{'going on with' if found else 'new run'} {name}, iteration {session.iteration}")
    return session


# ---- curves


class Picture:
    """A matplotlib figure that a notebook shows as an image."""

    def __init__(self, figure: Figure) -> None:
        self.figure = figure

    def save(self, path: str | Path) -> None:
        """Write the image to a file; the ending says in which format."""
        self.figure.savefig(path, dpi=110)

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.figure.savefig(buffer, format="png", dpi=110)
        return buffer.getvalue()


def curves(metrics: list[dict[str, Any]]) -> Picture:
    """Draw a run from the lines of its metrics.jsonl: losses, game length, results by side, tournaments."""
    figure = Figure(figsize=(9.6, 5.6), layout="constrained", facecolor="white")
    panels = figure.subplots(2, 2, sharex=True)
    titles = ("loss", "length of self-play games", "self-play results", "tournaments")
    draws = (_draw_losses, _draw_lengths, _draw_results, _draw_tournaments)
    for axis, title, draw in zip(panels.flat, titles, draws, strict=True):
        axis.set_title(title, loc="left", fontsize=10.5, fontweight="bold")
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(alpha=0.25)
        axis.set_axisbelow(True)
        axis.xaxis.set_major_locator(MaxNLocator(8, integer=True, steps=[1, 2, 5, 10], min_n_ticks=1))
        if not draw(axis, metrics):
            axis.text(0.5, 0.5, "nothing yet", transform=axis.transAxes, ha="center", color="#808890")
            axis.set_yticks([])
            axis.grid(False)
        elif axis.get_legend_handles_labels()[0]:
            axis.legend(
                frameon=False, fontsize=8.5, ncols=3, loc="lower right", bbox_to_anchor=(1.02, 0.985),
                handlelength=1.2, handletextpad=0.5, columnspacing=1.2, borderpad=0.2,
            )  # fmt: skip
    for axis in panels[1]:
        axis.set_xlabel("iteration")
        axis.set_xlim(0.4, max([m["iteration"] for m in metrics], default=1) + 0.6)
    if metrics:
        m = metrics[-1]
        versions = f"version {m.get('version', 0)}, best version {m.get('best_version', 0)}"
        words = f"iteration {m['iteration']}, {versions}, {clock(m.get('total_seconds', 0))} of work"
        figure.suptitle(words, fontsize=10, color="#505860")
    return Picture(figure)


def _series(metrics: list[dict[str, Any]], key: str) -> tuple[list[int], list[float]]:
    """Return the iterations that have a number, and the numbers."""
    found = [m for m in metrics if isinstance(m.get(key), (int, float))]
    return [m["iteration"] for m in found], [float(m[key]) for m in found]


def _draw_losses(axis: Axes, metrics: list[dict[str, Any]]) -> bool:
    axis.set_ylabel("loss")
    largest = 0.0
    for name, colour in (("policy", BLUE), ("value", ORANGE)):
        x, y = _series(metrics, f"retrain_{name}_loss")
        if x:
            axis.plot(x, y, color=colour, marker="o" if len(x) < 25 else "", markersize=3.5, label=name)
            largest = max(largest, *y)
    axis.set_ylim(0, 1.08 * largest or 1.0)
    return bool(axis.lines)


def _draw_lengths(axis: Axes, metrics: list[dict[str, Any]]) -> bool:
    axis.set_ylabel("moves, mean")
    x, y = _series(metrics, "self_play_plies")
    axis.plot(x, y, color=BLUE, marker="o" if len(x) < 25 else "", markersize=3.5)
    return bool(x)


def _draw_results(axis: Axes, metrics: list[dict[str, Any]]) -> bool:
    axis.set_ylabel("share of games")
    below = {i: 0.0 for i in _series(metrics, "self_play_first_wins")[0]}
    keys = ("self_play_first_wins", "self_play_draws")
    results = [dict(zip(*_series(metrics, key), strict=True)) for key in keys]
    results.append({i: 1.0 - sum(r.get(i, 0.0) for r in results) for i in below})
    names = ("first wins", "draw", "second wins")
    for found, name, colour in zip(results, names, (BLUE, GREY, ORANGE), strict=True):
        x = list(below)
        heights = [found.get(i, 0.0) for i in x]
        axis.bar(x, heights, 1.0 if len(x) > 40 else 0.8, list(below.values()), color=colour, label=name)
        below = {i: below[i] + h for i, h in zip(x, heights, strict=True)}
    axis.set_ylim(0, 1)
    return bool(below)


def _draw_tournaments(axis: Axes, metrics: list[dict[str, Any]]) -> bool:
    axis.set_ylabel("score against the best")
    x, y = _series(metrics, "tournament_score")
    up = [bool(m.get("tournament_promoted")) for m in metrics if m["iteration"] in set(x)]
    axis.plot(x, y, color=GREY, zorder=1)
    styles = ((True, "promoted", ORANGE, "^", 60), (False, "not promoted", "#808890", "o", 26))
    for wanted, name, colour, marker, size in styles:
        some = [(i, score) for i, score, is_up in zip(x, y, up, strict=True) if is_up is wanted]
        if some:
            where, scores = zip(*some, strict=True)
            axis.scatter(where, scores, s=size, color=colour, marker=marker, label=name, zorder=2)
    axis.set_ylim(-0.04, 1.04)
    if x:
        axis.axhline(0.5, color="#505860", linewidth=0.8, linestyle=":")
    return bool(x)


class LiveCurves:
    """Redraws a run's curves in place: `main.train(session, on_iteration=LiveCurves(session))`.

    In a notebook it also becomes the session's console: the last lines said and the progress, in one place.
    Elsewhere it shows nothing and only keeps `picture` up to date.
    """

    def __init__(self, session: Session) -> None:
        self._path = session.folder / "metrics.jsonl"
        self._handle: Any = None
        self._live = _in_notebook()
        if self._live:
            words = self._display({"text/plain": "starting"})
            session.console = _Words(lambda text: words.update({"text/plain": text}, raw=True))
        self.picture = curves(read_metrics(self._path))
        if self._live:
            self._handle = self._display(self.picture, raw=False)

    def __call__(self, line: dict[str, Any]) -> None:
        """Show the run with this line of its metrics, which is in the file already."""
        self.picture = curves(read_metrics(self._path))
        if self._handle is not None:
            self._handle.update(self.picture)

    def _display(self, what: Any, *, raw: bool = True) -> Any:
        from IPython.display import display

        return display(what, raw=raw, display_id=True)  # type: ignore[no-untyped-call]


def _in_notebook() -> bool:
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return hasattr(shell, "kernel")


class _Words(Console):
    """A console of a few lines that are shown again and again in one place."""

    def __init__(self, show: Callable[[str], None]) -> None:
        super().__init__()
        self._show = show
        self._lines: list[str] = []

    def say(self, text: str) -> None:
        self._lines = [*self._lines, text][-6:]
        self._show("\n".join(self._lines))

    @contextmanager
    def phase(self, name: str, total: int) -> Iterator[Phase]:
        line: Any = SimpleNamespace(say=lambda text: self._show("\n".join([*self._lines, text])))
        line.say(f"  {name}")
        try:
            yield Phase(line, name, total, live=False, every=1.0)
        finally:
            self._show("\n".join(self._lines))
