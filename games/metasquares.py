"""MetaSquares: four stones of one player at the corners of a square, however turned, score; more points win.

Rule "area" (the default): a square scores its area, and play goes on until the board is full, or on an odd board until
one point is left, so that both have placed as many stones. Rule "race", of the game published by Scott Kim in 1996 on
8 x 8: a square scores that of the smallest upright square of cells around it (4 to 64), and who has 150 points and is
15 ahead wins at once (http://www.papg.com/show?5SAX); a full board ends it by points.

Row: header, size, whether the rule is "race", stones to be placed, points of who began, points of the other, hash
(2 numbers), then the cells from the top row down, 1 / -1 / 0. An action is a cell.
"""

from __future__ import annotations

import numpy as np
from numba import cfunc

from compiled import compiled
from config import UserError
from game import ENCODE, HEADER, KEY, LAST, LEGAL, OUTCOME, OVER, PLAY, PLAYER, PLY, WINNER, Game, Row, Rules
from games.boards import draw_named, kept_hash, point_name, point_symmetries, toggle

SIZE, RACE, STONES, FIRST, SECOND, HASH, CELLS = (HEADER + i for i in (0, 1, 2, 3, 4, 5, 7))
SIZES = range(3, 16)
RULES = ("area", "race")
TARGET, LEAD = 150, 15
"""Points that win a race, and how far ahead one has to be."""


@compiled
def gain(row, r, c):  # type: ignore[no-untyped-def]
    """Return what the squares score that the stone on (r, c) is a corner of.

    Each is found once: by its next corner (r1, c1) in one sense of rotation. A side (dr, dc) turned is (dc, -dr).
    """
    size, stone, points = row[SIZE], row[CELLS + r * row[SIZE] + c], 0
    for r1 in range(max(0, r + c - size + 1), min(size, r + c + 1)):
        dr = r1 - r
        c3 = c - dr
        for dc in range(-min(r, r1, c, c3), size - max(r, r1, c, c3)):
            if row[CELLS + r1 * size + c + dc] != stone or row[CELLS + (r + dc) * size + c3] != stone:
                continue
            if row[CELLS + (r1 + dc) * size + c3 + dc] == stone and (dr != 0 or dc != 0):
                points += (abs(dr) + abs(dc) + 1) ** 2 if row[RACE] else dr * dr + dc * dc
    return points


@cfunc(LEGAL, cache=True)
def legal(row, out):  # type: ignore[no-untyped-def]
    count = 0
    if row[OVER] == 0:
        for i in range(row[SIZE] * row[SIZE]):
            if row[CELLS + i] == 0:
                out[count] = i
                count += 1
    return count


@cfunc(PLAY, cache=True)
def play(row, action):  # type: ignore[no-untyped-def]
    player = row[PLAYER]
    row[CELLS + action] = player
    toggle(row, HASH, action, player + 1)
    row[PLY] += 1
    row[LAST] = action
    row[PLAYER] = -player
    own, other = (FIRST, SECOND) if player == 1 else (SECOND, FIRST)
    r = np.int32(action) // row[SIZE]
    row[own] += gain(row, r, np.int32(action) - r * row[SIZE])
    lead = row[own] - row[other]
    if row[PLY] == row[STONES] or (row[RACE] and row[own] >= TARGET and lead >= LEAD):
        row[OVER] = 1
        row[WINNER] = player * ((lead > 0) - (lead < 0))


@cfunc(OUTCOME, cache=True)
def outcome(row, out):  # type: ignore[no-untyped-def]
    out[0] = row[WINNER] * row[PLAYER]
    return row[OVER]


@cfunc(ENCODE, cache=True)
def encode(row, out):  # type: ignore[no-untyped-def]
    """Planes: stones of the player to move, of the other, whether the first leads, whether the other does, ones.

    The last move is not among them: nothing depends on it, and positions reached in another order stay one.
    """
    player = row[PLAYER]
    lead = (row[FIRST] - row[SECOND]) * player
    for i in range(row[SIZE] * row[SIZE]):
        out[5 * i] = row[CELLS + i] == player
        out[5 * i + 1] = row[CELLS + i] == -player
        out[5 * i + 2] = lead > 0
        out[5 * i + 3] = lead < 0
        out[5 * i + 4] = 1


@cfunc(KEY, cache=True)
def key(row):  # type: ignore[no-untyped-def]
    return kept_hash(row, HASH, row[PLAYER] + 1)


class MetaSquares(Game):
    """Four own stones at the corners of a square score; more points win."""

    name = "metasquares"
    rules = Rules(legal, play, outcome, encode, key)

    def __init__(self, size: int = 11, rule: str = "area") -> None:
        if size not in SIZES:
            raise UserError(f"metasquares: expected a size from {SIZES[0]} to {SIZES[-1]}, got {size}")
        if rule not in RULES:
            raise UserError(f"metasquares: expected a rule out of {', '.join(RULES)}, got {rule!r}")
        self.parameters = {}
        if size != 11:
            self.parameters["size"] = size
        if rule != "area":
            self.parameters["rule"] = rule
        self.grid_shape = (size, size)
        self.input_shape = (size, size, 5)
        self.action_size = size * size
        self.max_plies = size * size - size % 2
        self.symmetries = point_symmetries(size, size)
        self.start_row = np.zeros(CELLS + size * size, np.int32)
        self.start_row[[PLAYER, LAST, SIZE, RACE, STONES]] = 1, -1, size, rule == "race", self.max_plies

    def score(self, row: Row) -> tuple[float, float]:
        """Return the points of the player to move and of the other."""
        first, second = float(row[FIRST]), float(row[SECOND])
        return (first, second) if row[PLAYER] == 1 else (second, first)

    def move_name(self, action: int) -> str:
        return point_name(action, *self.grid_shape)

    def render(self, row: Row) -> str:
        lines = draw_named(row[CELLS:].reshape(self.grid_shape), int(row[LAST]), self.pieces)
        points = f"   {self.pieces[1]} {row[FIRST]}, {self.pieces[-1]} {row[SECOND]} points"
        return "\n".join([*lines, points])
