"""Connect 4: any rows x columns x n in a row (default 6 x 7 x 4); an action is a column, named 1, 2, ... from the left.

Row: header, rows, columns, n, then the cells from the top row down, 1 / -1 / 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import cfunc

from compiled import compiled
from config import UserError
from game import (
    ENCODE,
    EVALUATE,
    HEADER,
    KEY,
    LAST,
    LEGAL,
    NO_WIN,
    OUTCOME,
    OVER,
    PLAY,
    PLAYER,
    PLY,
    SAFE,
    WINNER,
    WINNING,
    Game,
    Row,
    Rules,
)
from games.boards import column_mirror, draw, hash_cells, longest_line, squash

ROWS, COLUMNS, N, CELLS = HEADER, HEADER + 1, HEADER + 2, HEADER + 3


@cfunc(LEGAL, cache=True)
def legal(row, out):  # type: ignore[no-untyped-def]
    count = 0
    for c in range(row[COLUMNS]):
        if row[CELLS + c] == 0:
            out[count] = c
            count += 1
    return count


@cfunc(PLAY, cache=True)
def play(row, action):  # type: ignore[no-untyped-def]
    rows, columns = row[ROWS], row[COLUMNS]
    r = rows - 1
    while row[CELLS + r * columns + action] != 0:
        r -= 1
    row[CELLS + r * columns + action] = row[PLAYER]
    row[PLY] += 1
    row[LAST] = r * columns + action
    if longest_line(row, CELLS, rows, columns, r, action) >= row[N]:
        row[OVER] = 1
        row[WINNER] = row[PLAYER]
    elif row[PLY] == rows * columns:
        row[OVER] = 1
    row[PLAYER] = -row[PLAYER]


@cfunc(OUTCOME, cache=True)
def outcome(row, out):  # type: ignore[no-untyped-def]
    out[0] = row[WINNER] * row[PLAYER]
    return row[OVER]


@cfunc(ENCODE, cache=True)
def encode(row, out):  # type: ignore[no-untyped-def]
    """Planes: stones of the player to move, stones of the other, ones (so that the edge can be seen)."""
    player = row[PLAYER]
    for i in range(row[ROWS] * row[COLUMNS]):
        cell = row[CELLS + i]
        out[3 * i] = cell == player
        out[3 * i + 1] = cell == -player
        out[3 * i + 2] = 1


@cfunc(KEY, cache=True)
def key(row):  # type: ignore[no-untyped-def]
    return hash_cells(row, CELLS, CELLS + row[ROWS] * row[COLUMNS], row[PLAYER] + 1)


@compiled
def fits(row):  # type: ignore[no-untyped-def]
    """Tell whether a board fits into a number: a bit a cell, column by column from below, an empty one above each."""
    return (row[ROWS] + 1) * row[COLUMNS] <= 63


@compiled
def bits(row):  # type: ignore[no-untyped-def]
    """Return the stones of the player to move, those of the other and where a stone may come to lie, as bits."""
    rows, columns, player = row[ROWS], row[COLUMNS], row[PLAYER]
    own = other = free = np.int64(0)
    for c in range(columns):
        place = CELLS + (rows - 1) * columns + c
        bit = np.int64(1) << c * (np.int64(rows) + 1)
        while place >= CELLS and row[place] != 0:
            if row[place] == player:
                own |= bit
            else:
                other |= bit
            bit <<= 1
            place -= columns
        if place >= CELLS:
            free |= bit
    return own, other, free


@compiled
def completing(stones, height, n):  # type: ignore[no-untyped-def]
    """Return the cells, as bits, where one stone more makes n in a row; those above the board may be among them."""
    found = np.int64(0)
    for d in range(4):
        step = 1 if d == 0 else height - 2 + d
        if (n - 1) * step > 62:
            continue
        for hole in range(n):
            line = np.int64(-1)
            for k in range(n):
                if k < hole:
                    line &= stones << ((hole - k) * step)
                elif k > hole:
                    line &= stones >> ((k - hole) * step)
            found |= line
    return found


@compiled
def stones_from(row, player, r, c, dr, dc):  # type: ignore[no-untyped-def]
    """Count a player's stones that stand in a line without a gap from (r, c) on, itself left out."""
    rows, columns = row[ROWS], row[COLUMNS]
    count = 0
    r, c = r + dr, c + dc
    while 0 <= r < rows and 0 <= c < columns and row[CELLS + r * columns + c] == player:
        count += 1
        r, c = r + dr, c + dc
    return count


@compiled
def makes_line(row, player, r, c):  # type: ignore[no-untyped-def]
    """Tell whether a player's stone at (r, c) would make a line that wins."""
    need = row[N] - 1
    return (
        stones_from(row, player, r, c, 1, 0) >= need
        or stones_from(row, player, r, c, 0, 1) + stones_from(row, player, r, c, 0, -1) >= need
        or stones_from(row, player, r, c, 1, 1) + stones_from(row, player, r, c, -1, -1) >= need
        or stones_from(row, player, r, c, 1, -1) + stones_from(row, player, r, c, -1, 1) >= need
    )


@compiled
def landing(row, c):  # type: ignore[no-untyped-def]
    """Return the row where a stone in column c would come to lie; -1 when it is full."""
    r = -1
    while r + 1 < row[ROWS] and row[CELLS + (r + 1) * row[COLUMNS] + c] == 0:
        r += 1
    return r


@cfunc(WINNING, cache=True)
def winning(row):  # type: ignore[no-untyped-def]
    if fits(row):
        own, _, free = bits(row)
        height = np.int64(row[ROWS]) + 1
        points = free & completing(own, height, row[N])
        for c in range(row[COLUMNS] if points else 0):
            if points >> c * height & ((np.int64(1) << height) - 1):
                return c
        return NO_WIN
    for c in range(row[COLUMNS]):
        r = landing(row, c)
        if r >= 0 and makes_line(row, row[PLAYER], r, c):
            return c
    return NO_WIN


@compiled
def safe_of_bits(row, out):  # type: ignore[no-untyped-def]
    """Do what `safe` does, for a board that fits into a number."""
    _, other, free = bits(row)
    height = np.int64(row[ROWS]) + 1
    points = completing(other, height, row[N])
    threats = points & free
    if threats & (threats - 1):
        return 0
    moves = threats if threats else free
    cells = (np.int64(1) << height - 1) - 1
    count = 0
    for c in range(row[COLUMNS]):
        if (moves >> c * height) & ~((points >> c * height & cells) >> 1) & cells:
            out[count] = c
            count += 1
    return count


@cfunc(SAFE, cache=True)
def safe(row, out):  # type: ignore[no-untyped-def]
    """Where the other would win has to be stopped; no move may lie under such a point."""
    if fits(row):
        return safe_of_bits(row, out)
    other, threats, only = -row[PLAYER], 0, 0
    for c in range(row[COLUMNS]):
        r = landing(row, c)
        if r >= 0 and makes_line(row, other, r, c):
            threats += 1
            only = c
    if threats > 1:
        return 0
    count = 0
    for c in range(row[COLUMNS]):
        r = landing(row, c)
        if r >= 0 and (threats == 0 or c == only) and not (r > 0 and makes_line(row, other, r - 1, c)):
            out[count] = c
            count += 1
    return count


@cfunc(EVALUATE, cache=True)
def evaluate(row):  # type: ignore[no-untyped-def]
    """Lines still open to one player only, each by the square of its stones: many lines run through the centre."""
    rows, columns, n = row[ROWS], row[COLUMNS], row[N]
    lead = 0.0
    for r in range(rows):
        for c in range(columns):
            for d in range(4):
                dr, dc = 0 if d == 0 else 1, 1 if d < 2 else (0 if d == 2 else -1)
                last = c + (n - 1) * dc
                if r + (n - 1) * dr >= rows or not 0 <= last < columns:
                    continue
                own = other = 0
                for k in range(n):
                    cell = row[CELLS + (r + k * dr) * columns + c + k * dc] * row[PLAYER]
                    own += cell > 0
                    other += cell < 0
                if own == 0 or other == 0:
                    lead += (own - other) * (own + other)
    return squash(lead, 30.0)


class Connect4(Game):
    """Drop a stone into a column; n in a row wins."""

    name = "connect4"
    policy_layout = "columns"
    look = "holes"
    rules = Rules(legal, play, outcome, encode, key, winning, safe=safe)
    evaluate = evaluate

    def __init__(self, rows: int = 6, columns: int = 7, n: int = 4) -> None:
        if not (1 <= rows <= 100 and 1 <= columns <= 400 and rows * columns <= 400 and 2 <= n <= max(rows, columns)):
            raise UserError(
                f"connect4: expected at most 400 cells and 2 <= n <= the longer side, got {rows}x{columns}x{n}"
            )
        defaults = {"rows": 6, "columns": 7, "n": 4}
        given = {"rows": rows, "columns": columns, "n": n}
        self.parameters = {k: v for k, v in given.items() if v != defaults[k]}
        self.grid_shape = (rows, columns)
        self.input_shape = (rows, columns, 3)
        self.action_size = columns
        self.winning_line = n
        self.max_plies = rows * columns
        self.symmetries = column_mirror(rows, columns)
        self.start_row = np.zeros(CELLS + rows * columns, np.int32)
        self.start_row[[PLAYER, LAST, ROWS, COLUMNS, N]] = 1, -1, rows, columns, n

    def move_name(self, action: int) -> str:
        return str(action + 1)

    def parse_moves(self, text: str) -> list[int]:
        """Accept "4433" as well as "4 4 3 3"."""
        if self.grid_shape[1] <= 9:
            text = " ".join("".join(text.split()))
        return super().parse_moves(text)

    def format_moves(self, actions: Sequence[int]) -> str:
        """Return "4433" where each column has one digit."""
        text = super().format_moves(actions)
        return text.replace(" ", "") if self.grid_shape[1] <= 9 else text

    def render(self, row: Row) -> str:
        cells = row[CELLS:].reshape(self.grid_shape)
        numbers = "".join(f"{self.move_name(c):^3}" for c in range(self.grid_shape[1]))
        return "\n".join([*draw(cells, int(row[LAST]), self.pieces), numbers])
