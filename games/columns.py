"""Boards of columns in one 64-bit word: one bit per cell from below, with an empty bit above each column.

Lines in a row and safe moves for Connect 4, computed for all cells at once.
"""

from __future__ import annotations

import numpy as np

from compiled import compiled, inlined


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
