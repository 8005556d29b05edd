"""Stones as bits, a word a line of the board: the row of gomoku, and which stone makes a line that wins.

Row: header, size, n, rule, hash (2), then four blocks of one word a line of the board, a bit a column (see PAD):
Black's stones, White's stones, free points, points forbidden to the player to move. In renju then DEPTH words of room.
"""

from __future__ import annotations

from compiled import compiled
from game import HEADER, NO_WIN, PLAYER

SIZE, N, RULE, HASH, LINES = HEADER, HEADER + 1, HEADER + 2, HEADER + 3, HEADER + 5
BLACK, WHITE, FREE, FORBIDDEN = 0, 1, 2, 3
PAD = 5
"""Empty lines round each block, and empty bits below column 0: looking five points past the edge finds nothing."""
FREESTYLE, EXACT, RENJU = 0, 1, 2


@compiled
def block(row, which):
    """Return where the first line of a block is in the row."""
    return LINES + PAD + which * (row[SIZE] + PAD)


@compiled
def reach(row, base, r, c, dr, dc):
    """Count the stones that stand in a line without a gap from (r, c) on, itself left out."""
    length = 0
    while row[base + r + dr] >> (PAD + c + dc) & 1:
        length += 1
        r += dr
        c += dc
    return length


@compiled
def wins(row, player, r, c):
    """Tell whether the stone that a player put on (r, c) makes a line that wins."""
    base = block(row, BLACK if player == 1 else WHITE)
    n = row[N]
    longer = row[RULE] == FREESTYLE or (row[RULE] == RENJU and player == -1)
    for d in range(4):
        dr = 0 if d == 0 else 1
        dc = 1 if d == 0 else d - 2
        length = 1 + reach(row, base, r, c, dr, dc) + reach(row, base, r, c, -dr, -dc)
        if length == n or (longer and length > n):
            return True
    return False


@compiled
def before_runs(row, base, r, dr, dc, count):
    """Return the points (bits) of line r that `count` stones without a gap follow in direction (dr, dc)."""
    found, k = ~0, 1
    while k <= count and found != 0:  # the empty line past the edge ends it
        line = row[base + r + k * dr]
        found &= line >> k if dc > 0 else (line << k if dc < 0 else line)
        k += 1
    return found


@compiled
def winning_point(row, player, start):
    """Return the lowest point from `start` on where a player's stone wins, or NO_WIN; not one forbidden to who moves.

    Beside such a point, on one side of it, stands half of the line at least: the other points are not looked at.
    """
    size, half = row[SIZE], row[N] // 2
    base, free, forbidden = block(row, BLACK if player == 1 else WHITE), block(row, FREE), block(row, FORBIDDEN)
    for r in range(start // size, size):
        hot = 0
        for d in range(4):
            dr = 0 if d == 0 else 1
            dc = 1 if d == 0 else d - 2
            hot |= before_runs(row, base, r, dr, dc, half) | before_runs(row, base, r, -dr, -dc, half)
        hot &= row[free + r]
        if player == row[PLAYER]:
            hot &= ~row[forbidden + r]
        c = max(start - r * size, 0)
        while hot >> (PAD + c) != 0:
            if hot >> (PAD + c) & 1 and wins(row, player, r, c):
                return r * size + c
            c += 1
    return NO_WIN
