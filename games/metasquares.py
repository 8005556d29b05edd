"""MetaSquares: four stones of one player at the corners of a square, at any angle, score; more points win.

Rule "area" (the default): a square scores its area, and the game ends when the board is full, or on an odd board when
one point is left, so that both have placed as many stones. Rule "race", of the game published by Scott Kim in 1996 on 8
x 8: a square scores the area of the smallest upright square of cells around it (4 to 64), and a player with 150 points
and a lead of 15 wins at once (http://www.papg.com/show?5SAX); a full board ends the game by points.

Row: header, size, whether the rule is "race", stones to be placed, points of the first player, points of the other,
hash (2 numbers), then for the first player and for the other: the stones of each row, of each column and of each
falling diagonal as bits; bit r or c is the one on row r or column c. An action is a point in row order from the top
left.
"""

from __future__ import annotations

import numpy as np

from compiled import compiled, rule
from game import (
    COUNT,
    ENCODE,
    EVALUATE,
    HEADER,
    KEY,
    LAST,
    LEGAL,
    OUTCOME,
    OVER,
    PLAY,
    PLAYER,
    PLY,
    WINNER,
    Game,
    GameState,
    Grid,
    Parameter,
    Row,
    Rules,
    Value,
)
from games.boards import draw_named, edge_names, kept_hash, make_grid, point_name, point_symmetries, squash, toggle
from languages.translate import tr

SIZE, RACE, STONES, FIRST, SECOND, HASH, LINES = (HEADER + i for i in (0, 1, 2, 3, 4, 5, 7))
TARGET, LEAD = 150, 15
"""Points that win a race, and how far ahead one has to be."""


@compiled
def lines_of(row, player):
    """Return where the lines of a player begin in the row."""
    return LINES if player == 1 else LINES + 4 * row[SIZE] - 1


@compiled
def gain(row, lines, r, c):
    """Return the score of the squares that a stone on the empty point (r, c) would complete.

    Each is found once: by its next corner in one sense of rotation, (r + dr, c + dc). The corner before is (r + dc, c -
    dr), the one across (r + dr + dc, c - dr + dc). For one dr they lie on a row, a column and a diagonal. Shifted so
    that bit 15 is dc = 0, the bits set in all three are the squares.
    """
    size, points = row[SIZE], 0
    for r1 in range(max(0, r + c - size + 1), min(size, r + c + 1)):
        dr = r1 - r
        c3 = c - dr
        squares = row[lines + r1] << (15 - c)
        squares &= row[lines + size + c3] << (15 - r)
        squares &= row[lines + 2 * size + r1 - c3 + size - 1] << (15 - r1)
        dc = -15
        while squares != 0:
            if squares & 1:
                points += (abs(dr) + abs(dc) + 1) ** 2 if row[RACE] else dr * dr + dc * dc
            squares >>= 1
            dc += 1
    return points


@rule(LEGAL)
def legal(row, out):
    if row[OVER]:
        return 0
    size, first, second, count = row[SIZE], lines_of(row, 1), lines_of(row, -1), 0
    for r in range(size):
        free = ~(row[first + r] | row[second + r])
        for c in range(size):
            out[count] = r * size + c
            count += (free >> c) & 1
    return count


@rule(PLAY)
def play(row, action):
    player, size = row[PLAYER], row[SIZE]
    r = np.int32(action) // size
    c = np.int32(action) - r * size
    lines = lines_of(row, player)
    own, other = (FIRST, SECOND) if player == 1 else (SECOND, FIRST)
    row[own] += gain(row, lines, r, c)
    row[lines + r] |= 1 << c
    row[lines + size + c] |= 1 << r
    row[lines + 2 * size + r - c + size - 1] |= 1 << r
    toggle(row, HASH, action, player + 1)
    row[PLY] += 1
    row[LAST] = action
    row[PLAYER] = -player
    lead = row[own] - row[other]
    if row[PLY] == row[STONES] or (row[RACE] and row[own] >= TARGET and lead >= LEAD):
        row[OVER] = 1
        row[WINNER] = player * ((lead > 0) - (lead < 0))


@rule(OUTCOME)
def outcome(row, out):
    out[0] = row[WINNER] * row[PLAYER]
    return row[OVER]


@rule(ENCODE)
def encode(row, out):
    """Write the planes: stones of the player to move, of the other, whether the first leads, whether the other does,
    ones.

    The last move is left out: nothing depends on it, and positions reached in another order stay equal.
    """
    size, player, i = row[SIZE], row[PLAYER], 0
    own, other = lines_of(row, player), lines_of(row, -player)
    lead = (row[FIRST] - row[SECOND]) * player
    for r in range(size):
        for c in range(size):
            out[i] = (row[own + r] >> c) & 1
            out[i + 1] = (row[other + r] >> c) & 1
            out[i + 2] = lead > 0
            out[i + 3] = lead < 0
            out[i + 4] = 1
            i += 5


@rule(KEY)
def key(row):
    return kept_hash(row, HASH, row[PLAYER] + 1)


@rule(COUNT)
def counted(row, out):
    out[0], out[1] = row[FIRST], row[SECOND]


@rule(EVALUATE)
def evaluate(row):
    """Return an estimate from the lead in points."""
    return squash(np.float64((row[FIRST] - row[SECOND]) * row[PLAYER]), 20.0)


class MetaSquares(Game):
    """Four own stones at the corners of a square score; more points win."""

    name = "metasquares"
    look = "corners"
    plane_names = ("stones of the player to move", "stones of the other", "the player to move leads", "the other leads",
                   "ones")  # fmt: skip
    won_by_a_move = False
    rules = Rules(legal, play, outcome, encode, key)
    evaluate = evaluate
    counted = counted
    takes = Parameter("size", 11, 3, 15), Parameter("rule", "area", words=("area", "race"))

    def __init__(self, **given: Value) -> None:
        size, rule = self.take(given)
        self.grid_shape = (size, size)
        self.input_shape = (size, size, 5)
        self.action_size = size * size
        self.max_plies = size * size - size % 2
        self.symmetries = point_symmetries(size, size)
        self.start_row = np.zeros(LINES + 2 * (4 * size - 1), np.int32)
        self.start_row[[PLAYER, LAST, SIZE, RACE, STONES]] = 1, -1, size, rule == "race", self.max_plies

    @property
    def aim(self) -> str:
        if self.parameters.get("rule") == "race":
            return tr("Four stones at the corners of a square, at any angle, score. 150 points and a lead of 15 win.")
        return tr("Four stones at the corners of a square, at any angle, score its area. More points win.")

    def score(self, row: Row) -> tuple[float, float]:
        """Return the points of the player to move and of the other."""
        first, second = float(row[FIRST]), float(row[SECOND])
        return (first, second) if row[PLAYER] == 1 else (second, first)

    def move_name(self, action: int) -> str:
        return point_name(action, *self.grid_shape)

    def owners(self, row: Row) -> np.ndarray:
        """Return the owner of each stone."""
        size = self.grid_shape[0]
        first, second = (row[at : at + size, None] >> np.arange(size) & 1 for at in (LINES, LINES + 4 * size - 1))
        owners: np.ndarray = (first - second).astype(np.int8)
        return owners

    def cells(self, state: GameState) -> Grid:
        row = self.row_of(state)
        return make_grid(self.owners(row), int(row[LAST]), edge_names(*self.grid_shape), [self._points_in_words(row)])

    def render(self, row: Row) -> str:
        lines = draw_named(self.owners(row), int(row[LAST]), self.pieces)
        return "\n".join([*lines, f"    {self._points_in_words(row)}"])

    def _points_in_words(self, row: Row) -> str:
        return f"{self.pieces[1]} {row[FIRST]}, {self.pieces[-1]} {row[SECOND]} points"
