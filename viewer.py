"""What a notebook shows: the curves of a run, a position explained, a board to play on. No logic of learning.

Each thing has a rich form for notebooks (`_repr_png_`, `_repr_html_`) and its text for everywhere else; colours are
inline and half transparent, so that they stand on light and dark pages.
"""

from __future__ import annotations

import dataclasses
import io
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

import games
from agent import Agent, Player
from config import UserError, preset, with_overrides
from explain import as_text, explain
from game import Game, GameState
from initialise import Session, read_config, unfinished_run
from loggers import Console, Phase, clock, read_metrics

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

    A run that goes on keeps its own settings, changed by `overrides`; the preset is for a new run. With an initial
    run number a new run starts from that one's work.
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
    titles = ("loss", "length of a self-play game", "results of self-play", "tournament against the best")
    draws = (_draw_losses, _draw_lengths, _draw_results, _draw_tournaments)
    for axis, title, draw in zip(panels.flat, titles, draws, strict=True):
        axis.set_title(title, loc="left", fontsize=10.5, fontweight="bold")
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(alpha=0.25)
        axis.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8))
        if not draw(axis, metrics):
            axis.text(0.5, 0.5, "nothing yet", transform=axis.transAxes, ha="center", color="#808890")
            axis.set_yticks([])
        elif axis.get_legend_handles_labels()[0]:
            axis.legend(frameon=False, fontsize=8.5, loc="best")
    for axis in panels[1]:
        axis.set_xlabel("iteration")
        axis.set_xlim(0.4, max([m["iteration"] for m in metrics], default=1) + 0.6)
    if metrics:
        m = metrics[-1]
        said = f"iteration {m['iteration']}, version {m.get('version', 0)}, best version {m.get('best_version', 0)}"
        figure.suptitle(f"{said}, {clock(m.get('total_seconds', 0))} of work", fontsize=10, color="#505860")
    return Picture(figure)


def _series(metrics: list[dict[str, Any]], key: str) -> tuple[list[int], list[float]]:
    """Return the iterations that have a number, and the numbers."""
    found = [m for m in metrics if isinstance(m.get(key), (int, float))]
    return [m["iteration"] for m in found], [float(m[key]) for m in found]


def _draw_losses(axis: Axes, metrics: list[dict[str, Any]]) -> bool:
    axis.set_ylabel("loss")
    for name, colour in (("policy", BLUE), ("value", ORANGE)):
        x, y = _series(metrics, f"retrain_{name}_loss")
        if x:
            axis.plot(x, y, color=colour, marker="o" if len(x) < 25 else "", markersize=3.5, label=name)
            axis.set_ylim(bottom=0)
    return bool(axis.lines)


def _draw_lengths(axis: Axes, metrics: list[dict[str, Any]]) -> bool:
    axis.set_ylabel("moves, mean")
    x, y = _series(metrics, "self_play_plies")
    axis.plot(x, y, color=BLUE, marker="o" if len(x) < 25 else "", markersize=3.5)
    return bool(x)


def _draw_results(axis: Axes, metrics: list[dict[str, Any]]) -> bool:
    axis.set_ylabel("share of games")
    below = {i: 0.0 for i in _series(metrics, "self_play_first_wins")[0]}
    results = [dict(zip(*_series(metrics, f"self_play_{key}"), strict=True)) for key in ("first_wins", "draws")]
    results.append({i: 1.0 - sum(r.get(i, 0.0) for r in results) for i in below})
    names = ("first player wins", "draw", "second player wins")
    for found, name, colour in zip(results, names, (BLUE, GREY, ORANGE), strict=True):
        x = list(below)
        heights = [found.get(i, 0.0) for i in x]
        axis.bar(x, heights, 1.0 if len(x) > 40 else 0.8, list(below.values()), color=colour, label=name)
        below = {i: below[i] + h for i, h in zip(x, heights, strict=True)}
    axis.set_ylim(0, 1)
    return bool(below)


def _draw_tournaments(axis: Axes, metrics: list[dict[str, Any]]) -> bool:
    axis.set_ylabel("score, 0.5 = as strong")
    x, y = _series(metrics, "tournament_score")
    up = [bool(m.get("tournament_promoted")) for m in metrics if m["iteration"] in set(x)]
    axis.plot(x, y, color=GREY, zorder=1)
    for wanted, style in ((True, {"color": ORANGE, "marker": "^", "s": 60, "label": "promoted"}),
                          (False, {"color": "#808890", "marker": "o", "s": 26, "label": "not promoted"})):  # fmt: skip
        some = [(i, s) for i, s, u in zip(x, y, up, strict=True) if u is wanted]
        if some:
            axis.scatter(*zip(*some, strict=True), zorder=2, **style)  # type: ignore[arg-type]
    axis.set_ylim(-0.04, 1.04)
    if x:
        axis.axhline(0.5, color="#505860", linewidth=0.8, linestyle=":")
    return bool(x)


class LiveCurves:
    """Redraws a run's curves in place after each iteration: `main.train(session, on_iteration=LiveCurves(session))`.

    In a notebook it also becomes the session's console: the last lines said and the progress, in one place. Elsewhere
    it shows nothing and only keeps `picture` up to date.
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

        return display(what, raw=raw, display_id=True)


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


# ---- a position


_SMALL = "font-size:90%;opacity:.75"
_SIDES = {1: ("#c8394b", "#fff"), -1: ("#f0b429", "#4a3500")}


def _grid(state: GameState) -> tuple[list[tuple[str, list[str]]], list[str], list[str]] | None:
    """Return ([(label, cells)] of the rows, column labels, other lines) of a drawing, or None when it is no grid."""
    rows, columns = state.planes().shape[:2]
    pieces = set(_pieces(state).values())
    board, labels, others = [], [""] * columns, []
    for line in state.render().splitlines():
        words = re.findall(r"\[[^\[\]\s]+\]|[^\[\]\s]+", line)
        cells = words[-columns:]
        if len(words) in (columns, columns + 1) and all(w.strip("[]") in pieces for w in cells):
            board.append((words[0] if len(words) > columns else "", cells))
        elif len(words) == columns:
            labels = words
        elif line.strip():
            others.append(line)
    return (board, labels, others) if len(board) == rows else None


def _pieces(state: GameState) -> dict[int, str]:
    return getattr(getattr(state, "game", None), "pieces", Game.pieces)


def board_html(state: GameState) -> str:
    """Return a position as a drawing with discs, or as its text where it is no grid of two kinds of pieces."""
    grid = _grid(state)
    if grid is None:
        return f'<pre style="line-height:1.3;margin:0">{escape(state.render())}</pre>'
    board, labels, others = grid
    sides = {piece: _SIDES[side] for side, piece in _pieces(state).items() if side}
    size = 38 if len(labels) <= 10 else 26
    left, width, height = (22 if any(label for label, _ in board) else 2), size * len(labels), size * len(board)
    text = '<text x="{}" y="{}" fill="currentColor" fill-opacity=".75">{}</text>'
    parts = [f'<rect x="{left}" y="1" width="{width}" height="{height}" rx="8" fill="#4a6f9e"/>']
    for r, (label, cells) in enumerate(board):
        y = 1 + size * (r + 0.5)
        parts.append(text.format(10, y, escape(label)) if label else "")
        for c, word in enumerate(cells):
            x, piece = left + size * (c + 0.5), word.strip("[]")
            fill, ink = sides.get(piece, ("#dfe7f1", ""))
            ring = ' stroke="#fff" stroke-width="3"' if word != piece else ""
            parts.append(f'<circle cx="{x}" cy="{y}" r="{0.39 * size}" fill="{fill}"{ring}/>')
            parts.append(f'<text x="{x}" y="{y}" fill="{ink}">{escape(piece)}</text>' if piece in sides else "")
    parts += [text.format(left + size * (c + 0.5), height + 13, escape(name)) for c, name in enumerate(labels)]
    return (
        f'<svg width="{left + width + 2}" height="{height + 24}" role="img" font-size="12" text-anchor="middle" '
        f'dominant-baseline="central" font-family="sans-serif">{"".join(parts)}</svg>'
        + "".join(f"<div>{escape(line)}</div>" for line in others)
    )


class Explained:
    """What `explain.explain` found of a position, as a board and a table."""

    def __init__(self, found: dict[str, Any], state: GameState) -> None:
        self.found, self.state = found, state

    def __str__(self) -> str:
        return as_text(self.found, self.state)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        f = self.found
        names = ("move", "N visits", "share", "P prior", "Q value", "U bonus", "principal variation")
        lines = [_row([escape(name) for name in names], "th")]
        for m in f["moves"]:
            percent = 100 * m["share"]
            bar = f'width:{percent:.1f}px;height:.7em;background:rgba(64,128,224,.75);border-radius:2px'
            share = f'<div style="display:flex;gap:6px;align-items:center"><div style="width:100px">' \
                    f'<div style="{bar}"></div></div>{percent:.1f} %</div>'  # fmt: skip
            q = f"{m['Q']:+.3f}" if m["Q"] is not None else "-"
            numbers = [str(m["N"]), share, f"{m['P']:.3f}", q, f"{m['U']:.3f}"]
            lines.append(_row([f"<b>{escape(m['move'])}</b>", *numbers, escape(" ".join(m["pv"]))], "td"))
        words = f"value for {f['to_move']}: network {f['network_value']:+.3f}, search {f['search_value']:+.3f}"
        effort = f"{f['player']}, {f['simulations']} simulations, {f['nodes']} positions"
        return (
            '<div style="display:flex;flex-wrap:wrap;gap:24px;align-items:flex-start">'
            f"<div>{board_html(self.state)}</div>"
            f'<div><div><b>{escape(f["to_move"])}</b> to move; {escape(words)}</div>'
            f'<div style="{_SMALL}">{escape(effort)}</div>'
            '<div style="max-height:460px;overflow:auto"><table style="border-collapse:collapse;margin:8px 0">'
            f'{"".join(lines)}</table></div></div></div>'
        )


def _row(cells: list[str], kind: str) -> str:
    style = "padding:3px 10px;border-bottom:1px solid rgba(128,128,128,.3);background:transparent;text-align:"
    sides = ["left" if i in (0, 2, 6) else "right" for i in range(len(cells))]
    return "<tr>" + "".join(f'<{kind} style="{style}{s}">{c}</{kind}>' for c, s in zip(cells, sides, strict=True)) + "</tr>"
