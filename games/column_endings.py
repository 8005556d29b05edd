"""Solves endings on a board of columns in one 64-bit word, see `games.columns`: alpha-beta with a table of positions.

A value is -1, 0 or 1 for the player to move, whose stones are `own`. Points of a player: cells where a stone more
makes a line. The table is empty for each leaf and each root, so that a game does not depend on the games next to it.
Reference for the key and the order of moves: P. Pons, "Solving Connect 4: how to build a perfect AI".
"""

from __future__ import annotations

import numpy as np

from compiled import compiled, inlined
from game import GIVEN_UP
from games.boards import get, next_move, ones, put
from games.columns import completing, lined, not_losing

LEFT, QUESTION, BOTTOM, CELLS, HEIGHT, N, COLUMNS, MOVES = 0, 1, 2, 4, 6, 7, 8, 9
"""Places in the work space: positions left, number of the question, the lowest cells, all cells, bits of a column,
stones of a line, columns, the moves by empty cells."""
MOST_MOVES, MOST_CELLS = 32, 63
"""Columns and cells of the largest boards of one word."""
ROOM = 3 * MOST_MOVES
"""Numbers for the moves of a position: when to try them, then the player's points after each of them."""
TABLE = MOVES + ROOM * (MOST_CELLS + 1)
"""Where the table begins."""
ENTRY, BITS = 4, 12
"""Numbers of an entry (the key, the question, bounds); there are 2 ** BITS entries."""
SIZE = TABLE + (ENTRY << BITS)
"""Numbers in the work space, int32."""
FEW = 6
"""With so few empty cells or fewer, neither the table nor an order of moves pays."""


@inlined
def nth_from_centre(k, columns):
    """Return the column that is tried as number k: the middle first, then by turns right and left of it."""
    return ((columns - 1) >> 1) + (((k + 1) >> 1) if k & 1 else -(k >> 1))


@compiled
def value_of_few(own, other, points, alpha, beta, work):
    """Do the same as `value_of`, columns near the centre first."""
    work[LEFT] -= 1
    if work[LEFT] <= 0:
        return np.int64(GIVEN_UP)
    bottom, cells, height, n = get(work, BOTTOM), get(work, CELLS), np.int64(work[HEIGHT]), np.int64(work[N])
    free = ((own | other) + bottom) & cells
    if free == 0:
        return np.int64(0)
    moves = not_losing(points, free, bottom << np.uint64(height - 1))
    if moves == 0:
        return np.int64(-1)
    if alpha < 0 and not lined(cells & ~own, height, n):
        alpha = np.int64(0)
    if beta > 0 and not lined(cells & ~other, height, n):
        beta = np.int64(0)
    column, columns = (np.uint64(1) << np.uint64(height - 1)) - np.uint64(1), np.int64(work[COLUMNS])
    for k in range(columns):
        if alpha >= beta:
            break
        move = moves & (column << np.uint64(nth_from_centre(k, columns) * height))
        if move:
            mine = own | move
            value = value_of_few(other, mine, completing(mine, height, n), -beta, -alpha, work)
            if value == GIVEN_UP:
                return value
            alpha = max(alpha, -value)
    return alpha


@inlined
def list_moves(own, moves, empty, work, at):
    """Write when moves are to be tried, and the player's points after each of them; return the number of moves.

    The more points a move makes, the earlier it is tried; among equals, the nearer to the centre.
    """
    height, n, columns = np.int64(work[HEIGHT]), np.int64(work[N]), np.int64(work[COLUMNS])
    column, count = (np.uint64(1) << np.uint64(height - 1)) - np.uint64(1), 0
    for k in range(columns):
        c = nth_from_centre(k, columns)
        move = moves & (column << np.uint64(c * height))
        if move:
            points = completing(own | move, height, n)
            work[at + count] = ((MOST_CELLS - ones(points & empty)) << 6 | k) << 6 | c
            put(work, at + MOST_MOVES + 2 * c, points)
            count += 1
    return count


@compiled
def value_of(own, other, points, alpha, beta, work):
    """Return the value of a position whose player cannot win at once; GIVEN_UP: work[LEFT] is used up.

    points: of the other. A value not between alpha and beta is replaced by the bound that it passes. A player without n
    cells in a row free of the other's stones cannot win any more.
    """
    bottom, cells = get(work, BOTTOM), get(work, CELLS)
    stones = own | other
    empty = cells & ~stones
    if ones(empty) <= FEW:
        return value_of_few(own, other, points, alpha, beta, work)
    work[LEFT] -= 1
    if work[LEFT] <= 0:
        return np.int64(GIVEN_UP)
    height, n = np.int64(work[HEIGHT]), np.int64(work[N])
    moves = not_losing(points, (stones + bottom) & cells, bottom << np.uint64(height - 1))
    if moves == 0:
        return np.int64(-1)
    key = own + (stones + bottom)
    place = TABLE + ENTRY * np.int64((key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - BITS))
    if get(work, place) == key and work[place + 2] == work[QUESTION]:
        low, high = np.int64((work[place + 3] & 3) - 1), np.int64((work[place + 3] >> 2) - 1)
    else:
        low = np.int64(-1) if lined(cells & ~own, height, n) else np.int64(0)
        high = np.int64(1) if lined(cells & ~other, height, n) else np.int64(0)
    if low >= beta or low == high:
        return low
    if high <= alpha:
        return high
    best, stop_at = max(alpha, low), min(beta, high)
    at = MOVES + ROOM * ones(empty)
    stop = at + list_moves(own, moves, empty, work, at)
    column = (np.uint64(1) << np.uint64(height - 1)) - np.uint64(1)
    while at < stop and best < stop_at:
        c = next_move(work, at, stop)
        stop -= 1
        move = moves & (column << np.uint64(c * height))
        value = value_of(other, own | move, get(work, at + MOST_MOVES + 2 * c), -stop_at, -best, work)
        if value == GIVEN_UP:
            return value
        best = max(best, -value)
    put(work, place, key)
    work[place + 2] = work[QUESTION]
    low, high = (best if best > max(alpha, low) else low), (best if best < stop_at else high)
    work[place + 3] = (low + 1) | (high + 1) << 2
    return best


@compiled
def solved(own, other, bottom, rows, columns, n, work):
    """Return the value of a position of a board of some rows, or GIVEN_UP, with work space [SIZE]."""
    height = np.int64(rows + 1)
    cells = bottom * ((np.uint64(1) << np.uint64(rows)) - np.uint64(1))
    put(work, BOTTOM, bottom)
    put(work, CELLS, cells)
    work[HEIGHT], work[N], work[COLUMNS] = height, n, columns
    if completing(own, height, n) & ((own | other) + bottom) & cells:
        return np.int64(1)
    return value_of(own, other, completing(other, height, n), np.int64(-1), np.int64(1), work)
