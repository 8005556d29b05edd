"""The geometry of a board of hexagons, as of Hex: rows one below the other, each half a point further right.

Its edges have the colours of the sides: top and bottom that of the player who began, left and right that of the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from plugins.pictures.board_looks import CELL, LOOKS

ROW, RADIUS = 34.5, 23.0
"""From one row to the next, and from a hexagon's centre to its top, for hexagons CELL wide."""
HALF, RIM = CELL / 2, 4.5
"""Half a hexagon's width, and what is seen of the coloured edges."""
Point = tuple[int, int]
"""(row, column)"""
SHAPE = f"l{HALF:g} {RADIUS / 2:g}v{RADIUS:g}l-{HALF:g} {RADIUS / 2:g}l-{HALF:g}-{RADIUS / 2:g}v-{RADIUS:g}z"
"""A hexagon's outline, from its top on."""


class Hexagons(NamedTuple):
    """Where a board's points and names are."""

    rows: int
    columns: int
    left: float
    """What is left of the first point, and above it."""

    @property
    def width(self) -> float:
        return self.left + CELL * self.columns + HALF * (self.rows - 1) + 2 * RIM + 2

    @property
    def height(self) -> float:
        return self.left + 2 * RADIUS + ROW * (self.rows - 1) + 2 * RIM + 2

    def at(self, point: int) -> tuple[float, float]:
        """Return the centre of a point."""
        r, c = divmod(point, self.columns)
        return self.left + RIM + HALF + CELL * c + HALF * r, self.left + RIM + RADIUS + ROW * r

    def outline(self, point: int) -> str:
        """Return the path of a point's hexagon."""
        x, y = self.at(point)
        return f"M{x:g} {y - RADIUS:g}{SHAPE}"

    def ground(self) -> str:
        """Return the edges in the colours of the sides, and the hexagons on them."""
        look = LOOKS["hexagons"]
        half = RADIUS / 2
        last_row = (self.rows - 1) * self.columns
        last_column = self.columns - 1
        top = f"l{HALF:g}-{half:g} {HALF:g} {half:g}" * self.columns
        bottom = f"l{HALF:g} {half:g} {HALF:g}-{half:g}" * self.columns
        down = f"v{RADIUS:g}" + f"l{HALF:g} {half:g}v{RADIUS:g}" * (self.rows - 1)
        parts = []
        for side, point, dx, dy, line in (
            (1, 0, -HALF, -half, top),
            (1, last_row, -HALF, half, bottom),
            (-1, 0, -HALF, -half, down),
            (-1, last_column, HALF, -half, down),
        ):
            x, y = self.at(point)
            path = f'd="M{x + dx:g} {y + dy:g}{line}" fill="none" stroke-width="{2 * RIM:g}" stroke-linejoin="round"'
            parts.append(f'<path {path} stroke="{look.sides[side][0]}"/>')
        cells = "".join(self.outline(point) for point in range(self.rows * self.columns))
        return "".join(parts) + f'<path d="{cells}" fill="{look.ground}" stroke="{look.line}" stroke-width="1.2"/>'

    def names(self, rows: Sequence[str], columns: Sequence[str]) -> list[tuple[float, float, str]]:
        """Return (x, y, name) of the names of rows, left of them, and of columns, above them."""
        found = []
        for r, name in enumerate(rows):
            x, y = self.at(r * self.columns)
            found.append((x - HALF - RIM - 9, y, name))
        for c, name in enumerate(columns):
            x, y = self.at(c)
            found.append((x, y - RADIUS - RIM - 11, name))
        return [one for one in found if one[2]]


NEIGHBOURS = (0, -1), (0, 1), (-1, 0), (-1, 1), (1, -1), (1, 0)
"""From a point to those that it touches, in rows and columns."""


def chain(cells: Sequence[Sequence[int]]) -> list[int]:
    """Return the points of a shortest chain that joins two edges of the same side's, from one to the other; [] if none.

    >>> chain([[1, -1], [1, 0]])
    [0, 2]
    """
    rows, columns = len(cells), len(cells[0])
    top = [(0, c) for c in range(columns)]
    bottom = [(rows - 1, c) for c in range(columns)]
    left = [(r, 0) for r in range(rows)]
    right = [(r, columns - 1) for r in range(rows)]
    line = _joining(cells, 1, top, bottom) or _joining(cells, -1, left, right)
    return [r * columns + c for r, c in line]


def _joining(cells: Sequence[Sequence[int]], side: int, starts: list[Point], ends: list[Point]) -> list[Point]:
    """Return a shortest chain of a side's stones from one of the starts to one of the ends; [] if there is none."""
    before: dict[Point, Point | None] = {(r, c): None for r, c in starts if cells[r][c] == side}
    reached = list(before)  # grows while it is read: breadth first
    for point in reached:
        if point in ends:
            return _path(before, point)
        for dr, dc in NEIGHBOURS:
            r, c = point[0] + dr, point[1] + dc
            if 0 <= r < len(cells) and 0 <= c < len(cells[0]) and cells[r][c] == side and (r, c) not in before:
                before[r, c] = point
                reached.append((r, c))
    return []


def _path(before: Mapping[Point, Point | None], end: Point | None) -> list[Point]:
    """Return the points that lead to one, it last; before: of each point the one from which it was reached."""
    path = []
    while end is not None:
        path.append(end)
        end = before[end]
    return path[::-1]
