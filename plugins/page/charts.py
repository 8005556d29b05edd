"""Curves as SVG: a run's numbers over its iterations.

Axes take the page's colour, so that they are visible on light and dark; every point has its number as a tooltip.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

from languages.translate import tr

COLOURS = ("#3b7dd8", "#e08a1e", "#2ba36b", "#b04fc4", "#d1495b", "#7a8491")
WIDTH, HEIGHT = 420.0, 210.0
LEFT, RIGHT, TOP, BOTTOM = 50.0, 10.0, 28.0, 24.0
ROW, LETTER = 15.0, 6.2
"""Height of a line of names, width of a letter at most on average."""
TEXTS = "iteration", "version", "promoted"
"""What an axis counts, and a note on a point."""


class Point(NamedTuple):
    """A number of an iteration, perhaps with its interval."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    note: str = ""
    """A note on the point, which is then drawn larger."""


def curve_svg(
    title: str, series: Mapping[str, Sequence[Point]], *, unit: str = "", low: float | None = 0.0,
    high: float | None = None, over: str = "iteration", here: float | None = None,
) -> str:  # fmt: skip
    """Return curves over the iterations; `low` and `high` are always in sight; None: as the numbers need.

    over: what the x axis counts; here: a place on it that is marked. The names take as many lines as they need.
    """
    shown = {name: [p for p in points if math.isfinite(p.y)] for name, points in series.items()}
    every = [p for points in shown.values() for p in points]
    legend, rows = _legend(list(shown))
    top, height = TOP + ROW * rows, HEIGHT + ROW * rows
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 {WIDTH:g} {height:g}" role="img" '
        f'aria-label="{escape(title)}" font-family="system-ui, sans-serif" font-size="11" fill="currentColor">'
        f'<text x="2" y="13" font-size="13" font-weight="600">{escape(title)}</text>'
    )
    if not every:
        place = f'x="{WIDTH / 2:g}" y="{height / 2:g}" text-anchor="middle" opacity=".75"'
        return f"{head}<text {place}>{escape(tr('nothing yet'))}</text></svg>"
    ends = [v for p in every for v in (p.y, p.low, p.high) if v is not None and math.isfinite(v)]
    ticks = _ticks(min(ends if low is None else [low, *ends]), max(ends if high is None else [high, *ends]))
    across = _ticks(min(p.x for p in every), max(p.x for p in every), whole=True)
    x0, x1 = min(p.x for p in every), max(p.x for p in every)
    span_x, span_y = (x1 - x0) or 1.0, (ticks[-1] - ticks[0]) or 1.0

    def at(x: float, y: float) -> tuple[float, float]:
        share = (x - x0) / span_x if x1 > x0 else 0.5
        down = (height - BOTTOM - top) * (y - ticks[0]) / span_y
        return LEFT + (WIDTH - LEFT - RIGHT) * share, height - BOTTOM - down

    parts = [head, legend, _unit(unit)]
    if here is not None and x0 <= here <= x1:
        x = at(here, ticks[0])[0]
        parts.append(f'<path class="here" d="M{x:.1f} {top:g}V{height - BOTTOM:g}" stroke="#14a37f" stroke-width="2"/>')
    for tick in ticks:
        y = at(x0, tick)[1]
        parts.append(f'<path d="M{LEFT:g} {y:.1f}H{WIDTH - RIGHT:g}" stroke="currentColor" opacity=".13"/>')
        parts.append(f'<text x="{LEFT - 6:g}" y="{y + 4:.1f}" text-anchor="end" opacity=".75">{_short(tick)}</text>')
    for tick in across:
        if x0 <= tick <= x1:
            parts.append(
                f'<text x="{at(tick, ticks[0])[0]:.1f}" y="{height - 8:g}" text-anchor="middle" opacity=".75">'
                f"{_short(tick)}</text>"
            )
    for (name, points), colour in zip(shown.items(), _colours(len(shown)), strict=True):
        parts.append(_curve(name, points, colour, at, unit, over))
    return "".join(parts) + "</svg>"


def _colours(count: int) -> list[str]:
    return [COLOURS[i % len(COLOURS)] for i in range(count)]


def _curve(name: str, points: Sequence[Point], colour: str, at: object, unit: str, over: str) -> str:
    places = [at(p.x, p.y) for p in points]  # type: ignore[operator]
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places) if places else ""
    parts = [f'<path class="curve" d="{path}" fill="none" stroke="{colour}" stroke-width="1.8"/>' if path else ""]
    radius = 2.6 if len(points) <= 60 else 1.2
    for p, (x, y) in zip(points, places, strict=True):
        if p.low is not None and p.high is not None:
            top, bottom = at(p.x, p.high)[1], at(p.x, p.low)[1]  # type: ignore[operator]
            path = f"M{x:.1f} {top:.1f}V{bottom:.1f}"
            parts.append(f'<path class="interval" d="{path}" stroke="{colour}" opacity=".5" stroke-width="1.5"/>')
        label = f"{name}, {tr(over)} {_short(p.x)}: {_short(p.y)} {unit}".strip()
        if p.low is not None and p.high is not None:
            label += f" ({_short(p.low)} to {_short(p.high)})"
        label += f", {tr(p.note)}" if p.note else ""
        ring = f' stroke="{colour}" stroke-opacity=".35" stroke-width="5"' if p.note else ""
        dot = f'class="dot" cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{colour}"{ring}'
        parts.append(f"<circle {dot}><title>{escape(label)}</title></circle>")
    return "".join(parts)


def _legend(names: list[str]) -> tuple[str, int]:
    """Return (the names with their colours, the lines they take); a name longer than a line is cut."""
    parts, x, row = [], 2.0, 0
    for name, colour in zip(names, _colours(len(names)), strict=True):
        if not name:
            continue
        most = int((WIDTH - 24) / LETTER)
        text = name if len(name) <= most else f"{name[: most - 1]}…"
        if x > 2 and x + 14 + LETTER * len(text) > WIDTH:
            x, row = 2.0, row + 1
        y = 24 + ROW * row
        parts.append(f'<circle cx="{x + 4:g}" cy="{y:g}" r="3.5" fill="{colour}"/>')
        parts.append(f'<text class="name" x="{x + 11:g}" y="{y + 4:g}" opacity=".8">{escape(text)}</text>')
        x += 24 + LETTER * len(text)
    return "".join(parts), row + 1 if parts else 0


def _unit(unit: str) -> str:
    place = f'x="{WIDTH - RIGHT:g}" y="13" text-anchor="end" opacity=".75"'
    return f"<text {place}>{escape(unit)}</text>" if unit else ""


def _ticks(low: float, high: float, *, whole: bool = False) -> list[float]:
    """Return about four round numbers around a range, its ends within."""
    span = (high - low) or abs(high) or 1.0
    step = 10.0 ** math.floor(math.log10(span / 3))
    step *= next(f for f in (1, 2, 5, 10) if span / (step * f) <= 4.5)
    if whole:
        step = max(1.0, round(step))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(i * step, 10) for i in range(first, max(last, first + 1) + 1)]


def _short(value: float) -> str:
    """Return a number for an axis.

    >>> [_short(v) for v in (0.25, 1500, 2_000_000, 3.0)]
    ['0.25', '1.5k', '2M', '3']
    """
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"

