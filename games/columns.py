"""Boards of columns in one 64-bit word: one bit per cell from below, with an empty bit above each column.

Lines in a row, safe moves and exact values for Connect 4, computed for all cells at once.
"""

from __future__ import annotations

import numpy as np

from compiled import compiled, inlined
from game import GIVEN_UP


@inlined
def lined_along(stones, step, n):
    """Return bits, any, where n stones stand in a row, each `step` bits further; the length checked doubles."""
    line, length = stones, 1
    while length < n:
        more = min(length, n - length)
        line &= line >> np.uint64(more * step)
        length += more
    return line if (n - 1) * step < 64 else np.uint64(0)


@inlined
def all_but_one_along(stones, step, n):
    """Return the places where one stone more makes n in a row, each `step` bits further."""
    found, before = np.uint64(0), ~np.uint64(0)
    for hole in range(n if (n - 1) * step < 64 else 0):
        behind = ~np.uint64(0)
        for k in range(1, n - hole):
            behind &= stones >> np.uint64(k * step)
        found |= before & behind
        before &= stones << np.uint64((hole + 1) * step)
    return found


@inlined
def lined_in(stones, height, n):
    """Return bits, any, where n stones stand in a row, in any direction; a column has `height` bits."""
    up = lined_along(stones, 1, n)
    across = lined_along(stones, height, n)
    return up | across | lined_along(stones, height - 1, n) | lined_along(stones, height + 1, n)


@inlined
def all_but_one(stones, height, n):
    """Return the places where one stone more makes n in a row, in any direction."""
    up = all_but_one_along(stones, 1, n)
    across = all_but_one_along(stones, height, n)
    return up | across | all_but_one_along(stones, height - 1, n) | all_but_one_along(stones, height + 1, n)


@inlined
def lined(stones, height, n):
    """Do the same as `lined_in`, with the standard board's shifts as constants for the compiler."""
    return lined_in(stones, 7, 4) if height == 7 and n == 4 else lined_in(stones, height, n)


@compiled
def completing(stones, height, n):
    """Return the cells, as bits, where one stone more makes n in a row; those above the board may be among them."""
    if height == 7 and n == 4:
        return all_but_one(stones, 7, 4)
    return all_but_one(stones, height, n)


@inlined
def not_losing(points, free, top):
    """Return the cells, as bits, where a stone may go so that the other cannot win at once; none: all moves lose.

    points: where the other would win. free: where a stone may land. top: the empty bits above the columns, which are no
    threat. An immediate win of the other must be blocked, and no stone may land right below such a point.
    """
    threats = points & free
    two = threats & (threats - np.uint64(1))
    moves = (threats if threats else free) & ~((points & ~top) >> np.uint64(1))
    return np.uint64(0) if two else moves


@compiled
def exact(own, other, bottom, cells, height, n, columns, alpha, beta, left):
    """Return the value, -1, 0 or 1, for the player to move (stones `own`); GIVEN_UP when left[0] positions were not
    enough.

    A value not between alpha and beta is replaced by the bound that it passes. left: counts down. Alpha-beta, columns
    near the centre first. A player without n cells in a row free of the other's stones cannot win any more; with this
    check, a third fewer positions are needed.
    """
    left[0] -= 1
    if left[0] <= 0:
        return np.int64(GIVEN_UP)
    free = ((own | other) + bottom) & cells
    if free == 0:
        return np.int64(0)
    if completing(own, height, n) & free:
        return np.int64(1)
    moves = not_losing(completing(other, height, n), free, bottom << np.uint64(height - 1))
    if moves == 0:
        return np.int64(-1)
    if alpha < 0 and not lined(cells & ~own, height, n):
        alpha = np.int64(0)
    if beta > 0 and not lined(cells & ~other, height, n):
        beta = np.int64(0)
    column = (np.uint64(1) << np.uint64(height)) - np.uint64(1)
    for k in range(columns):
        if alpha >= beta:
            break
        c = ((columns - 1) >> 1) + (((k + 1) >> 1) if k & 1 else -(k >> 1))
        move = moves & (column << np.uint64(c * height))
        if move:
            value = exact(other, own | move, bottom, cells, height, n, columns, -beta, -alpha, left)
            if value == GIVEN_UP:
                return np.int64(GIVEN_UP)
            alpha = max(alpha, -value)
    return np.int64(alpha)
