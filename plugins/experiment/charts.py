"""Curves and intervals as SVG, whose colours come from the style sheet of the report."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape
from typing import NamedTuple

WIDTH, HEIGHT = 460, 240
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 12, 34
COLOURS = 8


class Series(NamedTuple):
    """A line of a chart."""

    name: str
    """Lines of one name have one place in the legend."""
    points: Sequence[tuple[float, float]]
    colour: int
    errors: Sequence[float] = ()


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Return round numbers from `low` to `high`.

    >>> ticks(0, 47)
    [0.0, 10.0, 20.0, 30.0, 40.0]
    """
    if not high > low:
        return [low]
    rough = (high - low) / count
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * k for k in (1, 2, 5, 10) if size * k >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(k * step, 10) + 0.0 for k in range(first, math.floor(high / step + 1e-9) + 1)]


def short(value: float) -> str:
    """Return a number for an axis.

    >>> short(12000), short(0.25), short(3)
    ('12k', '0.25', '3')
    """
    return f"{value / 1000:g}k" if abs(value) >= 10_000 else f"{value:.6g}"


def line_chart(
    title: str, series: Sequence[Series], *, across: str, label: Callable[[float], str] = short, zero: bool = False
) -> str:
    """Return a titled chart with its legend, "" if no line has a point. zero: the axis begins at 0."""
    lines = [found for s in series if (found := _finite(s)).points]
    if not lines:
        return ""
    xs = [x for s in lines for x, _ in s.points]
    ys = [y + k * e for s in lines for (_, y), e in zip(s.points, s.errors, strict=True) for k in (-1, 1)]
    left, right = min(xs), max(xs)
    low, high = (0.0 if zero else min(ys)), max(ys)
    left, right = (left, right) if right > left else (left - 1, right + 1)
    room = 0.06 * (high - low) or abs(high) * 0.1 or 1.0
    low, high = low - room * (not zero), high + room

    def across_of(x: float) -> float:
        return LEFT + (x - left) / (right - left) * (WIDTH - LEFT - RIGHT)

    def up(y: float) -> float:
        return HEIGHT - BOTTOM - (y - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    parts = []
    for y in ticks(low, high):
        height = f"{up(y):.1f}"
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{height}" y2="{height}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{up(y) + 4:.1f}" text-anchor="end">{escape(label(y))}</text>')
    for x in ticks(left, right):
        at = f'x="{across_of(x):.1f}" y="{HEIGHT - BOTTOM + 16}"'
        parts.append(f'<text {at} text-anchor="middle">{short(x)}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{HEIGHT - 3}" text-anchor="middle">{escape(across)}</text>')
    for s in lines:
        parts.append(_line([(across_of(x), up(y)) for x, y in s.points], s.colour))
        for (x, y), error in zip(s.points, s.errors, strict=True):
            if not error:
                continue
            at = f'x1="{across_of(x):.1f}" x2="{across_of(x):.1f}" y1="{up(y - error):.1f}" y2="{up(y + error):.1f}"'
            parts.append(f'<line class="line c{s.colour % COLOURS}" {at}/>')
    return _framed(title, "".join(parts), {s.name: s.colour for s in lines if s.name}, HEIGHT)


def _finite(series: Series) -> Series:
    """Return the points of a line that can be drawn, each with its error, 0 without one."""
    errors = series.errors or [0.0] * len(series.points)
    pairs = [(p, e) for p, e in zip(series.points, errors, strict=True) if all(map(math.isfinite, (*p, e)))]
    return series._replace(points=[p for p, _ in pairs], errors=[e for _, e in pairs])


def _line(points: Sequence[tuple[float, float]], colour: int) -> str:
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    own = f"c{colour % COLOURS}"
    shape = f'<path class="line {own}" d="{path}"/>'
    if len(points) < 25:
        shape += "".join(f'<circle class="dot {own}" cx="{x:.1f}" cy="{y:.1f}" r="2.6"/>' for x, y in points)
    return shape


class Interval(NamedTuple):
    """A difference with its interval, and what it is the mean of."""

    name: str
    mean: float
    low: float
    high: float
    dots: Sequence[float]


def interval_chart(title: str, rows: Sequence[Interval], *, across: str) -> str:
    """Return intervals below each other, with the seeds' dots and a line at 0; "" if there are none."""
    if not rows:
        return ""
    numbers = [0.0, *(n for r in rows for n in (r.mean, r.low, r.high, *r.dots) if math.isfinite(n))]
    low, high = min(numbers), max(numbers)
    room = 0.06 * (high - low) or 1.0
    low, high, height = low - room, high + room, 44 * len(rows) + 40

    def at(x: float) -> float:
        return 12 + (min(max(x, low), high) - low) / (high - low) * (WIDTH - 24)

    parts = []
    for x in ticks(low, high):
        kind = "axis" if x == 0 else "grid"
        parts.append(f'<line class="{kind}" x1="{at(x):.1f}" x2="{at(x):.1f}" y1="4" y2="{height - 34}"/>')
        parts.append(f'<text x="{at(x):.1f}" y="{height - 20}" text-anchor="middle">{short(x)}</text>')
    parts.append(f'<text x="{WIDTH / 2}" y="{height - 3}" text-anchor="middle">{escape(across)}</text>')
    for number, row in enumerate(rows):
        y, colour = 34 + 44 * number, f"c{(number + 1) % COLOURS}"
        parts.append(f'<text x="14" y="{y - 14}">{escape(row.name)}</text>')
        parts.append(f'<line class="bar {colour}" x1="{at(row.low):.1f}" x2="{at(row.high):.1f}" y1="{y}" y2="{y}"/>')
        parts += [f'<circle class="dot {colour} faint" cx="{at(x):.1f}" cy="{y}" r="3.5"/>' for x in row.dots]
        parts.append(f'<path class="dot {colour}" d="M{at(row.mean):.1f} {y - 7}l6 7l-6 7l-6 -7z"/>')
    return _framed(title, "".join(parts), {}, height)


def _framed(title: str, inside: str, legend: dict[str, int], height: int) -> str:
    names = "".join(f'<span class="key c{c % COLOURS}">{escape(name)}</span>' for name, c in legend.items())
    svg = f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}">{inside}</svg>'
    return f'<figure><figcaption>{escape(title)}{names and f"<div>{names}</div>"}</figcaption>{svg}</figure>'
