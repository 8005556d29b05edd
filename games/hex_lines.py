"""Hex stones as bits, one word per line of the board: which stones hang together, which points join the edges.

Point (r, c) touches (r, c - 1), (r, c + 1), (r - 1, c), (r - 1, c + 1), (r + 1, c - 1) and (r + 1, c). The first player
joins the top edge to the bottom, the other the left edge to the right; the top and the left are called the near edges.

Row: header, size, whether the second player may swap, hash (2), then seven blocks of one word per line with an empty
line before and after: for the first player and for the other his stones, those joined to his near edge and those joined
to his far edge; then room for a search. Bit c of a word is column c.
"""

from __future__ import annotations

import numpy as np

from compiled import compiled, inlined
from game import HEADER, NO_WIN
from games.boards import ones

SIZE, SWAP, HASH, LINES = HEADER, HEADER + 1, HEADER + 2, HEADER + 4
STONES, NEAR, FAR, BLOCKS = 0, 1, 2, 7
WAYS = 32
"""More than the points of an edge."""


@compiled
def block(row, player, which):
    """Return where the first line of a player's block is in the row."""
    return LINES + 1 + (which + (0 if player == 1 else 3)) * (row[SIZE] + 2)


@compiled
def room(row):
    """Return where the first line of the room is."""
    return LINES + 1 + 6 * (row[SIZE] + 2)


@inlined
def touching(row, lines, r):
    """Return the points of line r that touch a point of the block at `lines`."""
    here, above, below = row[lines + r], row[lines + r - 1], row[lines + r + 1]
    return here << 1 | here >> 1 | above | above >> 1 | below | below << 1


@inlined
def edge(row, player, which, r):
    """Return the points of line r that lie at a player's near or far edge."""
    last = row[SIZE] - 1
    if player == 1:
        return (2 << last) - 1 if r == (0 if which == NEAR else last) else 0
    return 1 if which == NEAR else 1 << last


@inlined
def grow(row, lines, stones, r):
    """Add to a block the stones of line r that hang together with it; return whether there are any."""
    joined = row[lines + r]
    free = row[stones + r] & ~joined
    found = touching(row, lines, r) & free
    if found == 0:
        return False
    while found != 0:
        joined |= found
        free &= ~found
        found = (found << 1 | found >> 1) & free
    row[lines + r] = joined
    return True


@compiled
def spread(row, lines, stones):
    """Add to a block all stones that hang together with it."""
    more = True
    while more:
        more = False
        for r in range(row[SIZE]):
            more |= grow(row, lines, stones, r)
        for r in range(row[SIZE] - 2, -1, -1):
            more |= grow(row, lines, stones, r)


@compiled
def add_stone(row, player, r, c):
    """Put a stone of a player on a free point; return whether it joins his edges."""
    bit, stones, joins = 1 << c, block(row, player, STONES), True
    row[stones + r] |= bit
    for which in (NEAR, FAR):
        lines = block(row, player, which)
        if (touching(row, lines, r) | edge(row, player, which, r)) & bit:
            row[lines + r] |= bit
            spread(row, lines, stones)
        else:
            joins = False
    return joins


@compiled
def free_points(row, r):
    """Return the free points of line r."""
    taken = row[block(row, 1, STONES) + r] | row[block(row, -1, STONES) + r]
    return ~taken & (1 << row[SIZE]) - 1


@compiled
def winning_point(row, player, start):
    """Return the lowest free point from `start` on where a player's stone joins his edges, or NO_WIN."""
    size, near, far = row[SIZE], block(row, player, NEAR), block(row, player, FAR)
    first = start // size
    for r in range(first, size):
        found = touching(row, near, r) | edge(row, player, NEAR, r)
        found &= (touching(row, far, r) | edge(row, player, FAR, r)) & free_points(row, r)
        if r == first:
            found &= -1 << (start - first * size)
        if found != 0:
            c = 0
            while not found >> c & 1:
                c += 1
            return r * size + c
    return NO_WIN


@compiled
def missing(row, player, start):
    """Return how many more stones a player needs from the edge `start` to his other one if the other plays elsewhere.

    In units of 1/WAYS, less one for each point of that edge that this number of stones reaches. It searches in the room
    and leaves it empty.
    """
    size, seen, stones = row[SIZE], room(row), block(row, player, STONES)
    for r in range(size):
        row[seen + r] = row[block(row, player, start) + r]
    count, ways = -1, np.int64(0)
    while ways == 0 and count < size * size:
        count += 1
        above = 0
        for r in range(size):
            here = row[seen + r]
            ways += ones(np.uint64(here & edge(row, player, NEAR + FAR - start, r)))
            row[seen + r] = here | free_points(row, r) & (
                here << 1 | here >> 1 | above | above >> 1 | row[seen + r + 1] | row[seen + r + 1] << 1
                | edge(row, player, start, r)
            )
            above = here
        spread(row, seen, stones)
    for r in range(size):
        row[seen + r] = 0
    return WAYS * count - ways
