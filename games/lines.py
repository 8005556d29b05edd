"""Stones as bits, one word per line of the board: the row of gomoku, and which stones make a winning line.

Row: header, size, n, rule, hash (2), then four blocks of one word per line of the board, one bit per column (see PAD):
Black's stones, White's stones, free points, points forbidden to the player to move. In renju then DEPTH words of room.
"""

from __future__ import annotations

from compiled import compiled
from game import HEADER, NO_WIN, PLAYER

SIZE, N, RULE, HASH, LINES = HEADER, HEADER + 1, HEADER + 2, HEADER + 3, HEADER + 5
BLACK, WHITE, FREE, FORBIDDEN = 0, 1, 2, 3
PAD = 5
"""Empty lines around each block, and empty bits below column 0: reading five points past the edge finds nothing."""
FREESTYLE, EXACT, RENJU = 0, 1, 2


@compiled
def block(row, which):
    """Return where the first line of a block is in the row."""
    return LINES + PAD + which * (row[SIZE] + PAD)


@compiled
def reach(row, base, r, c, dr, dc):
    """Count the stones in an unbroken line from (r, c) on, (r, c) itself excluded."""
    length = 0
    while row[base + r + dr] >> (PAD + c + dc) & 1:
        length += 1
        r += dr
        c += dc
    return length


@compiled
def wins(row, player, r, c):
    """Return whether the stone that a player put on (r, c) makes a winning line."""
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
    """Return the points (bits) of line r followed by `count` stones without a gap in direction (dr, dc)."""
    found, k = ~0, 1
    while k <= count and found != 0:  # the empty line past the edge ends it
        line = row[base + r + k * dr]
        found &= line >> k if dc > 0 else (line << k if dc < 0 else line)
        k += 1
    return found


@compiled
def winning_point(row, player, start):
    """Return the lowest point from `start` on where a player's stone wins, or NO_WIN.

    Points forbidden to the player to move are left out. On one side of such a point stands at least half of the line,
    so only points with that are checked.
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
