"""Curves of runs, drawn from the lines of their metrics.jsonl: one run in all detail, or several next to each other.

Only Matplotlib's `Figure` is used, without pyplot: it draws with Agg, needs no display and keeps no global state. It
is loaded with the first picture, as that takes a second.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evaluation.rating import ANCHOR, rated_versions
from interface.metric_lines import MetricsLine, finite, searched_sims
from loggers import clock
from storage.atomic_files import replacing
from storage.run_store import STAGES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, GREY, DARK, GREEN = "#3566a8", "#e08a1e", "#c3c9d1", "#505860", "#3f8f5b"
RUN_COLOURS = (BLUE, ORANGE, GREEN, "#b04a5a", "#7a5ca8", "#3a9aa8", "#8a6d3b", "#9aa33a")
DASHES: Any = ("-", (0, (4, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)))


MARK = "AlphaZero in Keras"
"""Stands in each file of a picture."""


class Picture:
    """A matplotlib figure that a notebook shows as an image; without setup a bare one would show as text."""

    def __init__(self, figure: Figure) -> None:
        self.figure = figure

    def save(self, path: str | Path) -> None:
        """Write the image to a file in the format of its ending."""
        form, buffer = Path(path).suffix.lower().lstrip("."), io.BytesIO()
        self.figure.savefig(buffer, format=form, dpi=110, metadata={"Software" if form == "png" else "Creator": MARK})
        with replacing(Path(path)) as trial:
            trial.write_bytes(buffer.getvalue())

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.figure.savefig(buffer, format="png", dpi=110)
        return buffer.getvalue()


class Run(NamedTuple):
    """A run to draw."""

    name: str
    lines: Sequence[MetricsLine]
    colour: str | None
    """None if it is the only run: then colours distinguish series, else dashes do."""
    by_time: bool

    def place(self, line: MetricsLine) -> float:
        """Return the position of a line on the x axis."""
        return line.get("total_seconds", 0) / 60 if self.by_time else line["iteration"]

    def series(self, key: str) -> tuple[list[float], list[float]]:
        """Return the x positions of the lines that have a number, and the numbers."""
        found = finite(self.lines, key)
        return [self.place(m) for m in found], [float(m[key]) for m in found]

    def style(self, number: int, colour: str) -> dict[str, Any]:
        """Return the style of the run's series with this number and colour."""
        return {"color": self.colour or colour, "linestyle": "-" if self.colour is None else DASHES[number]}


def curves(metrics: Sequence[MetricsLine] | Mapping[str, Sequence[MetricsLine]], *, by_time: bool = False) -> Picture:
    """Draw a run from the lines of its metrics.jsonl, or several: {name: lines}; over iterations or minutes of work."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    named = metrics if isinstance(metrics, Mapping) else {"": metrics}
    several = len(named) > 1
    runs = [
        Run(name, lines, RUN_COLOURS[i % len(RUN_COLOURS)] if several else None, by_time)
        for i, (name, lines) in enumerate(named.items())
    ]
    figure = Figure(figsize=(13.2, 8.6), layout="constrained", facecolor="white")
    panels = figure.subplots(3, 3, sharex=True)
    for axis, (title, label, draw) in zip(panels.flat, PANELS, strict=True):
        _panel(axis, title, label, [draw(axis, run) for run in runs], several)
    for axis in panels[-1]:
        axis.set_xlabel("minutes of work" if by_time else "iteration")
        _limits(axis, runs)
    if several:  # names of runs, with their colours
        handles = [Line2D([], [], color=run.colour, label=run.name) for run in runs]
        figure.legend(handles=handles, loc="outside upper left", ncols=6, frameon=False, fontsize=9.5)
    elif runs and runs[0].lines:
        figure.suptitle(_words(runs[0]), fontsize=10, color=DARK)
    return Picture(figure)


def _words(run: Run) -> str:
    m = run.lines[-1]
    versions = f"version {m.get('version', 0)}, best version {m.get('best_version', 0)}"
    name = f"{run.name}: " if run.name else ""
    return f"{name}iteration {m['iteration']}, {versions}, {clock(m.get('total_seconds', 0))} of work"


def _panel(axis: Axes, title: str, label: str, drawn: list[bool], several: bool) -> None:
    axis.set_title(title, loc="left", fontsize=10.5, fontweight="bold")
    axis.set_ylabel(label)
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(alpha=0.25)
    axis.set_axisbelow(True)
    if not any(drawn):
        axis.text(0.5, 0.5, "nothing yet", transform=axis.transAxes, ha="center", color="#808890")
        axis.set_yticks([])
        axis.grid(False)
        return
    from matplotlib.lines import Line2D

    handles, labels = axis.get_legend_handles_labels()
    known = dict(zip(labels, handles, strict=True))
    if several:
        known = {
            text: Line2D([], [], color=DARK, linestyle=DASHES[int(h.get_gid() or 0)])
            for text, h in known.items()
            if isinstance(h, Line2D) and h.get_gid()
        }
    if known:
        axis.legend(
            list(known.values()), list(known), frameon=False, fontsize=8.5, ncols=4, loc="lower right",
            bbox_to_anchor=(1.02, 0.985), handlelength=1.6 if several else 1.1, handletextpad=0.4, columnspacing=0.9,
            borderpad=0.2,
        )  # fmt: skip


def _limits(axis: Axes, runs: list[Run]) -> None:
    from matplotlib.ticker import MaxNLocator

    last = max((run.place(m) for run in runs for m in run.lines), default=1.0)
    if runs[0].by_time:
        axis.set_xlim(0, 1.03 * last or 1.0)
    else:
        axis.set_xlim(0.4, last + 0.6)
        axis.xaxis.set_major_locator(MaxNLocator(8, integer=True, steps=[1, 2, 5, 10], min_n_ticks=1))


def _plot(axis: Axes, run: Run, key: str, name: str, number: int = 0, colour: str = BLUE) -> float | None:
    """Draw one series; return its largest value, None if it is empty."""
    x, y = run.series(key)
    if not x:
        return None
    marker = "o" if len(x) < 25 else ""
    axis.plot(x, y, marker=marker, markersize=3.5, label=name, gid=str(number), **run.style(number, colour))
    return max(y)


def _stack(axis: Axes, run: Run, x: list[float], parts: Sequence[tuple[str, str, list[float]]]) -> None:
    """Stack (name, colour, heights), as bars of an iteration or as areas over time."""
    if run.by_time:
        names, colours, heights = zip(*parts, strict=True)
        axis.stackplot(x, *heights, labels=names, colors=colours)
        return
    below = [0.0] * len(x)
    for name, colour, height in parts:
        axis.bar(x, height, 1.0 if len(x) > 40 else 0.8, below, color=colour, label=name)
        below = [a + b for a, b in zip(below, height, strict=True)]


# ---- the panels


def _draw_losses(axis: Axes, run: Run) -> bool:
    found = [
        _plot(axis, run, f"retrain_{name}_loss", name, i, colour)
        for i, (name, colour) in enumerate((("policy", BLUE), ("value", ORANGE)))
    ]
    largest = max((y for y in found if y is not None), default=0.0)
    axis.set_ylim(0, max(1.08 * largest, axis.get_ylim()[1] if len(axis.lines) > 2 else 0) or 1.0)
    return any(y is not None for y in found)


def _draw_kept(axis: Axes, run: Run) -> bool:
    axis.yaxis.set_major_formatter(lambda y, _: f"{round(100 * y, 1):g} %")
    sims = searched_sims(run.lines) or 0
    alone = _plot(axis, run, "score_kept_alone", "alone", 1, ORANGE)
    searched = _plot(axis, run, "score_kept", f"{sims} simulations", 0, BLUE)
    return alone is not None or searched is not None


def _draw_elo(axis: Axes, run: Run) -> bool:
    versions, ratings = rated_versions(run.lines)
    if ANCHOR not in ratings:
        return False
    points = sorted((run.place(line), rating.elo, rating.error) for line, rating in versions)
    x, y, errors = (list(column) for column in zip(*points, strict=True))
    style: dict[str, Any] = {"marker": "o", "markersize": 3.5, "elinewidth": 1, "capsize": 2.5, "linewidth": 1.2}
    axis.errorbar(x, y, errors, color=run.colour or BLUE, **style)
    if run.colour is None:
        opponents = [(r.elo, name) for name, r in ratings.items() if name.startswith("rollout:")]
        _rules(axis, sorted(opponents, key=lambda pair: abs(pair[0])))
    return True


def _rules(axis: Axes, heights: list[tuple[float, str]]) -> None:
    """Draw a named dotted line at each height; names that would cover another are left out."""
    room = 0.06 * (axis.get_ylim()[1] - axis.get_ylim()[0])
    named: list[float] = []
    for height, name in heights:
        axis.axhline(height, color=DARK, linewidth=0.8, linestyle=":", zorder=1)
        if all(abs(height - other) > room for other in named):
            named.append(height)
            axis.annotate(
                name, (0.0, height), xycoords=("axes fraction", "data"), xytext=(3, 2), textcoords="offset points",
                fontsize=7.5, color=DARK,
            )  # fmt: skip


def _draw_tournaments(axis: Axes, run: Run) -> bool:
    x, y = run.series("tournament_score")
    up = [bool(m.get("tournament_promoted")) for m in finite(run.lines, "tournament_score")]
    axis.plot(x, y, color=run.colour or GREY, zorder=1, linewidth=1.2)
    styles = ((True, "promoted", ORANGE, "^", 60), (False, "not promoted", "#808890", "o", 26))
    for wanted, name, colour, marker, size in styles:
        some = [(i, score) for i, score, is_up in zip(x, y, up, strict=True) if is_up is wanted]
        if some:
            where, scores = zip(*some, strict=True)
            axis.scatter(where, scores, s=size, color=run.colour or colour, marker=marker, label=name, zorder=2)
    axis.set_ylim(-0.04, 1.04)
    if x:
        axis.axhline(0.5, color=DARK, linewidth=0.8, linestyle=":")
    return bool(x)


def _draw_results(axis: Axes, run: Run) -> bool:
    axis.set_ylim(0, 1)
    if run.colour is not None:
        found = [
            _plot(axis, run, "self_play_first_wins", "first wins", 0),
            _plot(axis, run, "self_play_draws", "draw", 2),
        ]
        return any(y is not None for y in found)
    x, first = run.series("self_play_first_wins")
    draws = dict(zip(*run.series("self_play_draws"), strict=True))
    drawn = [draws.get(place, 0.0) for place in x]
    second = [1.0 - a - b for a, b in zip(first, drawn, strict=True)]
    if x:
        _stack(axis, run, x, (("first wins", BLUE, first), ("draw", GREY, drawn), ("second wins", ORANGE, second)))
    return bool(x)


def _draw_lengths(axis: Axes, run: Run) -> bool:
    return _plot(axis, run, "self_play_plies", "") is not None


def _draw_memory(axis: Axes, run: Run) -> bool:
    _thousands(axis)
    found = _plot(axis, run, "self_play_memory", "")
    axis.set_ylim(bottom=0, auto=True)  # further runs may reach higher
    return found is not None


def _draw_speeds(axis: Axes, run: Run) -> bool:
    _thousands(axis)
    found = [
        _plot(axis, run, key, name, i, colour)
        for i, (key, name, colour) in enumerate(
            (
                ("self_play_sims_per_s", "simulated", BLUE),
                ("self_play_evals_per_s", "evaluated", GREEN),
                ("retrain_positions_per_s", "trained", ORANGE),
            )
        )
    ]
    if any(found):
        axis.set_yscale("log")
    return any(y is not None for y in found)


def _draw_seconds(axis: Axes, run: Run) -> bool:
    if run.colour is not None:
        return _plot(axis, run, "seconds", "") is not None
    colours = zip(STAGES, (BLUE, ORANGE, GREY, GREEN), strict=True)
    stages = [(stage.replace("-", "_"), {"retrain": "training"}.get(stage, stage), colour) for stage, colour in colours]
    lines = [m for m in run.lines if any(f"{key}_seconds" in m for key, *_ in stages)]
    if lines:
        parts = [(name, colour, [float(m.get(f"{key}_seconds", 0.0)) for m in lines]) for key, name, colour in stages]
        _stack(axis, run, [run.place(m) for m in lines], parts)
    return bool(lines)


def _thousands(axis: Axes) -> None:
    axis.yaxis.set_major_formatter(lambda y, _: f"{y / 1000:,g} k" if y >= 1000 else f"{y:g}")


PANELS: tuple[tuple[str, str, Callable[[Axes, Run], bool]], ...] = (
    ("loss", "loss", _draw_losses),
    ("value kept", "share of solved positions", _draw_kept),
    ("strength", f"Elo over {ANCHOR}", _draw_elo),
    ("results", "share of self-play games", _draw_results),
    ("length of games", "moves in self-play, mean", _draw_lengths),
    ("tournaments", "score against the best", _draw_tournaments),
    ("memory", "positions", _draw_memory),
    ("speed", "positions a second", _draw_speeds),
    ("time", "seconds an iteration", _draw_seconds),
)
"""(title, y label, function that draws a run and returns whether it had data) of each panel, in reading order."""
