"""Solves endings of Othello on boards up to 8 x 8: alpha-beta over two 64-bit words, with a table of positions.

A board lies in the middle of an 8 x 8 board, point (r, c) of that being bit 8 r + c, so that the quadrants are the same
for each size. A score is the player's discs less the other's at the end, for the player to move. The table is empty for
each leaf and each root, so that a game does not depend on the games next to it.

References for the order of moves: Andersson, "Writing an Othello program" (fastest first, parity); Buro 1997.
"""

from __future__ import annotations

import numpy as np

from compiled import compiled, inlined
from games.boards import get, lowest, next_move, ones, put

TOO_LONG = -128
"""In place of a score: left[0] positions were not enough."""
LEFT, QUESTION, CORNERS, MOVES = 0, 1, 2, 8
"""Places in the work space: positions left, number of the question, the corners' word, the moves by empty points."""
MOST_MOVES, TABLE = 64, MOVES + 61 * 64
"""Room for the moves of a position; where the table begins."""
ENTRY, PLACES = 8, 1 << 15
"""Numbers of an entry (own discs, the other's, question, bounds and best move) and how many entries there are."""
SIZE = TABLE + ENTRY * PLACES
"""Numbers in the work space, int32."""
FEW = 6
"""With so few empty points or fewer, neither the table nor an order by mobility pays; these are not counted."""
INNER = 0x7E7E7E7E7E7E7E7E
"""All columns but those at the edges, where lines across columns end."""


@inlined
def moved(word, shift, up):
    return word << np.uint64(shift) if up else word >> np.uint64(shift)


@inlined
def run_along(start, through, shift, up):
    """Return the bits of `through` behind `start` without a gap, up to six of them."""
    run = through & moved(start, shift, up)
    run |= through & moved(run, shift, up)
    pairs = through & moved(through, shift, up)
    run |= pairs & moved(run, 2 * shift, up)
    return run | pairs & moved(run, 2 * shift, up)


@inlined
def reached(own, through, shift):
    up, down = run_along(own, through, shift, True), run_along(own, through, shift, False)
    return moved(up, shift, True) | moved(down, shift, False)


@inlined
def moves_of(own, other, empty):
    """Return the points where the player may put a disc."""
    inner = other & np.uint64(INNER)
    return empty & (reached(own, inner, 1) | reached(own, inner, 7) | reached(own, other, 8) | reached(own, inner, 9))


@inlined
def enclosed(disc, own, through, shift):
    up, down = run_along(disc, through, shift, True), run_along(disc, through, shift, False)
    up = up if moved(up, shift, True) & own else np.uint64(0)
    return up | (down if moved(down, shift, False) & own else np.uint64(0))


@inlined
def turned_by(disc, own, other):
    """Return the other's discs that a disc turns over."""
    inner = other & np.uint64(INNER)
    return enclosed(disc, own, inner, 1) | enclosed(disc, own, inner, 7) | enclosed(disc, own, other, 8) | enclosed(
        disc, own, inner, 9
    )


@inlined
def around(discs):
    """Return the discs and all points next to them."""
    wide = discs | ((discs << np.uint64(1)) & ~np.uint64(0x0101010101010101))
    wide |= (discs >> np.uint64(1)) & ~np.uint64(0x8080808080808080)
    return wide | (wide << np.uint64(8)) | (wide >> np.uint64(8))


@inlined
def odd_part(empty, quadrant):
    return quadrant if ones(empty & quadrant) & 1 else np.uint64(0)


@inlined
def odd_quadrants(empty):
    """Return the quadrants with an odd number of empty points, where a player likes to move: the last move there too
    may be the player's.
    """
    low = odd_part(empty, np.uint64(0x000000000F0F0F0F)) | odd_part(empty, np.uint64(0x00000000F0F0F0F0))
    return low | odd_part(empty, np.uint64(0x0F0F0F0F00000000)) | odd_part(empty, np.uint64(0xF0F0F0F000000000))


# ---- the last points


@inlined
def lead(own, other):
    return ones(own) - ones(other)


@compiled
def last_one(own, other, disc):
    """Return the score with one empty point."""
    turned = turned_by(disc, own, other)
    if turned:
        return lead(own, other) + 1 + 2 * ones(turned)
    turned = turned_by(disc, other, own)
    if turned:
        return lead(own, other) - 1 - 2 * ones(turned)
    return lead(own, other)


@compiled
def last_few(own, other, empty, alpha, beta, passed):
    """Return the score with up to FEW empty points, or a bound as `score_of` does."""
    near = empty & around(other)
    odd = odd_quadrants(empty)
    best = np.int64(-100)
    for part in range(2):
        moves = near & (odd if part == 0 else ~odd)
        while moves:
            disc = moves & -moves
            moves ^= disc
            turned = turned_by(disc, own, other)
            if turned:
                rest = empty ^ disc
                theirs, mine = other ^ turned, own | turned | disc
                if rest & (rest - np.uint64(1)):
                    value = -last_few(theirs, mine, rest, -beta, -max(alpha, best), np.int64(0))
                elif rest:
                    value = -last_one(theirs, mine, rest)
                else:
                    value = -lead(theirs, mine)
                if value > best:
                    best = value
                    if best >= beta:
                        return best
    if best > -100:
        return best
    if passed:
        return lead(own, other)
    return -last_few(other, own, empty, -beta, -alpha, np.int64(1))


# ---- more points: with the table and ordered moves


@inlined
def place_of(own, other):
    """Return where the entry of a position begins."""
    mixed = own * np.uint64(0x9E3779B97F4A7C15) + other * np.uint64(0xC2B2AE3D27D4EB4F)
    return TABLE + ENTRY * np.int64((mixed ^ (mixed >> np.uint64(32))) * np.uint64(0x165667B19E3779F9) >> np.uint64(49))


@inlined
def list_moves(own, other, empty, moves, first, work):
    """Write the moves with how late they are to be tried; return their number.

    Moves after which the other has few replies, and few empty points to get new ones from, come first, then corners and
    odd quadrants. first: the move to try before all others, 64 if there is none.
    """
    at = MOVES + MOST_MOVES * ones(empty)
    corners, odd, count = get(work, CORNERS), odd_quadrants(empty), 0
    while moves:
        disc = moves & -moves
        moves ^= disc
        point = lowest(disc)
        turned = turned_by(disc, own, other)
        theirs, mine = other ^ turned, own | turned | disc
        replies = moves_of(theirs, mine, empty ^ disc)
        late = 8 + 4 * (ones(replies) + ones(replies & corners)) + ones(around(mine) & empty)
        late -= 5 if disc & corners else 0
        late -= 2 if disc & odd else 0
        work[at + count] = (0 if point == first else late) << 8 | point
        count += 1
    return count


@inlined
def remember(work, place, own, other, low, high, point):
    put(work, place, own)
    put(work, place + 2, other)
    work[place + 4] = work[QUESTION]
    work[place + 5] = (low + 64) | (high + 64) << 8 | point << 16


@compiled
def score_of(own, other, empty, alpha, beta, passed, work):
    """Return the score of a position for the player to move, whose discs are `own`; TOO_LONG: work[LEFT] is used up.

    A score that is not between alpha and beta is a bound only: at most that where it is not above alpha, at least that
    where it is not below beta.
    """
    if ones(empty) <= FEW:
        return last_few(own, other, empty, alpha, beta, passed)
    work[LEFT] -= 1
    if work[LEFT] <= 0:
        return np.int64(TOO_LONG)
    moves = moves_of(own, other, empty)
    if moves == 0:
        if passed:
            return lead(own, other)
        value = score_of(other, own, empty, -beta, -alpha, np.int64(1), work)
        return -value if value != TOO_LONG else value
    place, low, high, first = place_of(own, other), np.int64(-64), np.int64(64), np.int64(64)
    if get(work, place) == own and get(work, place + 2) == other and work[place + 4] == work[QUESTION]:
        known = work[place + 5]
        low, high, first = np.int64((known & 255) - 64), np.int64((known >> 8 & 255) - 64), np.int64(known >> 16)
        if low >= beta or low == high:
            return low
        if high <= alpha:
            return high
        alpha, beta = max(alpha, low), min(beta, high)
    at = MOVES + MOST_MOVES * ones(empty)
    stop = at + list_moves(own, other, empty, moves, first, work)
    best, lower = np.int64(-100), alpha
    while at < stop:
        point = next_move(work, at, stop)
        stop -= 1
        disc = np.uint64(1) << np.uint64(point)
        turned = turned_by(disc, own, other)
        theirs, mine, rest = other ^ turned, own | turned | disc, empty ^ disc
        value = np.int64(TOO_LONG)
        if best > -100:
            value = score_of(theirs, mine, rest, -lower - 1, -lower, np.int64(0), work)
            if value == TOO_LONG:
                return value
        if best == -100 or lower < -value < beta:
            value = score_of(theirs, mine, rest, -beta, -lower, np.int64(0), work)
            if value == TOO_LONG:
                return value
        if -value > best:
            best, first = -value, np.int64(point)
            if best >= beta:
                break
            lower = max(lower, best)
    if best > alpha:
        low = max(low, best)
    if best < beta:
        high = min(high, best)
    remember(work, place, own, other, low, high, first)
    return best


@compiled
def score_in(own, other, points, size, alpha, beta, work):
    """Return `score_of` a position on a board of a size up to 8 that begins at bit 0, with work space [SIZE]."""
    shift, last = np.uint64(9 * (8 - size) // 2), np.uint64(size - 1)
    side = np.uint64(1) | np.uint64(1) << last
    put(work, CORNERS, (side | side << (last << np.uint64(3))) << shift)
    own, other, empty = own << shift, other << shift, (points & ~(own | other)) << shift
    return score_of(own, other, empty, alpha, beta, np.int64(0), work)
