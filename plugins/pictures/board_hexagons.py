"""The geometry of a board of hexagons, as of Hex: rows one below the other, each half a point further right.

Its edges have the colours of the sides: top and bottom that of the player who began, left and right that of the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from plugins.pictures.board_looks import CELL, LOOKS

ROW, RADIUS = 34.5, 23.0
"""From one row to the next, and from a hexagon's centre to its top, for hexagons CELL wide."""
HALF, RIM = CELL / 2, 4.5
"""Half a hexagon's width, and what is seen of the coloured edges."""
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
        look, half, parts = LOOKS["hexagons"], RADIUS / 2, []
        last_row, last = (self.rows - 1) * self.columns, self.columns - 1
        down = f"v{RADIUS:g}" + f"l{HALF:g} {half:g}v{RADIUS:g}" * (self.rows - 1)
        for side, point, dx, dy, line in (
            (1, 0, -HALF, -half, f"l{HALF:g}-{half:g} {HALF:g} {half:g}" * self.columns),
            (1, last_row, -HALF, half, f"l{HALF:g} {half:g} {HALF:g}-{half:g}" * self.columns),
            (-1, 0, -HALF, -half, down), (-1, last, HALF, -half, down),
        ):  # fmt: skip
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


def chain(cells: Sequence[Sequence[int]]) -> list[int]:
    """Return the points of a shortest chain that joins two edges of the same side's, from one to the other; [] if none.

    >>> chain([[1, -1], [1, 0]])
    [0, 2]
    """
    rows, columns = len(cells), len(cells[0])
    for side in (1, -1):
        starts = [(0, c) for c in range(columns)] if side == 1 else [(r, 0) for r in range(rows)]
        before: dict[tuple[int, int], tuple[int, int] | None] = {p: None for p in starts if cells[p[0]][p[1]] == side}
        for r, c in (todo := list(before)):  # which grows
            if (r == rows - 1) if side == 1 else (c == columns - 1):
                line: list[int] = []
                point: tuple[int, int] | None = (r, c)
                while point is not None:
                    line.append(point[0] * columns + point[1])
                    point = before[point]
                return line[::-1]
            for p in ((r, c - 1), (r, c + 1), (r - 1, c), (r - 1, c + 1), (r + 1, c - 1), (r + 1, c)):
                if 0 <= p[0] < rows and 0 <= p[1] < columns and cells[p[0]][p[1]] == side and p not in before:
                    before[p] = (r, c)
                    todo.append(p)
    return []
