"""Random games of Go to the end, in compiled code: each legal move, the pass included, is equally likely.

Boards up to 7 x 7 under simple ko are two words here, one bit per point: point (r, c) is bit `r * stride + c`. The
stride is size + 1, so that an empty column separates the lines. Other boards are played in the row of `games.chains`.
No list of legal moves is made: a candidate is drawn, checked, and drawn again when it is not legal.
"""

from __future__ import annotations

import numpy as np

from compiled import compiled, inlined
from game import OVER, PLAYER, PLY, WINNER
from games.boards import draw_below, mix64, ones
from games.chains import (
    CAP,
    CELLS,
    KO,
    KOMI,
    PASSED,
    SIZE,
    SLOTS,
    STONES_ONLY,
    SUICIDE,
    may_be_played,
    play_action,
)

LARGEST = 7
"""Largest size of a board that, with its empty column, fits into a word."""
NONE, ONE = np.uint64(0), np.uint64(1)


@inlined
def beside(points, stride):
    """Return the neighbours of points; some of them may be off the board."""
    return points << ONE | points >> ONE | points << stride | points >> stride


@compiled
def fill(points, within, stride):
    """Return the points of `within` that are connected with the given ones."""
    while True:
        grown = points | beside(points, stride) & within
        if grown == points:
            return points
        points = grown


@compiled
def put(own, other, point, board, stride, suicide):
    """Put a stone on a free point; return (whether it is legal, own stones, other stones, the point barred by ko)."""
    near, own = beside(point, stride), own | point
    empty = board & ~(own | other)
    open_points = beside(empty, stride)
    taken = ko = NONE
    doomed = near & other & ~open_points
    if doomed != NONE:
        taken = fill(doomed, other, stride)
        free = taken & open_points
        if free != NONE:
            taken &= ~fill(free, taken, stride)
        other &= ~taken
        if taken & (taken - ONE) == NONE and near & (own | empty) == NONE:
            ko = taken
    if taken == NONE and near & empty == NONE:
        chain = fill(point, own, stride)
        if chain & open_points == NONE:
            if chain == point or not suicide:
                return False, own, other, NONE
            own &= ~chain
    return True, own, other, ko


@compiled
def lowest_but(points, count):
    """Return the lowest of some points after `count` lower ones are skipped."""
    for _ in range(count):
        points &= points - ONE
    return points & (~points + ONE)


@compiled
def lead_of(black, white, board, stride, stones_only):
    """Return the points by which Black leads, without komi."""
    if not stones_only:
        empty = board & ~(black | white)
        near_black = fill(beside(black, stride) & empty, empty, stride)
        near_white = fill(beside(white, stride) & empty, empty, stride)
        black |= near_black & ~near_white
        white |= near_white & ~near_black
    return ones(black) - ones(white)


@compiled
def words_of(row):
    """Return the stones of the player to move, those of the other, and all points of a small board."""
    size, bit = row[SIZE], ONE
    own = other = board = NONE
    for r in range(size):
        at = CELLS + (r + 1) * (size + 1) + 1
        for c in range(size):
            stone = row[at + c] * row[PLAYER]
            board |= bit
            if stone > 0:
                own |= bit
            elif stone < 0:
                other |= bit
            bit <<= ONE
        bit <<= ONE
    return own, other, board


@compiled
def barred_word(row):
    """Return the point at which a ko may not be taken back, as a bit of a small board."""
    if row[KO] == 0:
        return NONE
    width = row[SIZE] + 1
    r = row[KO] // width
    return ONE << np.uint64((r - 1) * width + row[KO] - r * width - 1)


@compiled
def play_words(row, seed):
    """Play a small board to the end; return 1 when Black has won, -1 when White has, 0 for a draw."""
    own, other, board = words_of(row)
    ko, stride, suicide = barred_word(row), np.uint64(row[SIZE] + 1), row[SUICIDE] == 1
    player, passed = row[PLAYER], row[PASSED]
    for _ in range(row[PLY], row[CAP]):
        points = board & ~(own | other | ko)
        while True:
            seed += ONE
            count = ones(points)
            k = draw_below(mix64(seed), count + 1)
            if k == count:
                ko = NONE
                break
            point = lowest_but(points, k)
            legal, mine, theirs, barred = put(own, other, point, board, stride, suicide)
            if legal:
                own, other, ko = mine, theirs, barred
                break
            points ^= point
        own, other = other, own
        player = -player
        if k == count and passed:
            break
        passed = k == count
    lead = 2 * lead_of(own, other, board, stride, row[STONES_ONLY] == 1) * player - row[KOMI]
    return np.int64(lead > 0) - np.int64(lead < 0)


@compiled
def play_row(row, seed):
    """Play any board to the end in its row; return what `play_words` returns."""
    size = np.int64(row[SIZE])
    while row[OVER] == 0:
        seed += ONE
        action = draw_below(mix64(seed), size * size + 1)
        p = (action // size + 1) * (size + 1) + action % size + 1
        if action == size * size or (row[CELLS + p] == 0 and may_be_played(row, p, size + 1)):
            play_action(row, action)
    return np.int64(row[WINNER])


@compiled
def random_game(row, seed):
    """Play random moves until the game is over; return its value for player 1. The row is changed."""
    if row[OVER] == 0 and row[SIZE] <= LARGEST and row[SLOTS] == 0:
        return play_words(row, seed)
    return play_row(row, seed)
