"""The board as lines of four directions, one word per line, for gomoku's searches of forced wins.

A *four* is a stone after which one more wins. The searches share a work space of int32 (`room`): a copy of the row, a
head, the lines of the stones, then what games/fours.py and games/threats.py need. A stone changes four words, so the
patterns of all lines are kept up to date by looking at these four again.
"""

from __future__ import annotations

import numpy as np

from compiled import compiled, inlined
from games.boards import lowest, toggle
from games.lines import BLACK, EXACT, FREE, HASH, LINES, PAD, RENJU, RULE, SIZE, WHITE, N, block
from games.renju import ALLOWED, DEPTH, FIVE, crowded, verdict

NONE = -1
"""No point."""
ATTACKER, LEFT, LENGTH, STORED, HEAD = 0, 1, 2, 3, 4
"""Words of the head: the attacking player; fours that may still be tried; fours of the line found; whether the table
is in use."""
BLACK_LINES, WHITE_LINES, FREE_LINES, HOT = 0, 1, 2, 3
"""Blocks of one word per line: stones, free points, and the points where a stone of the attacker makes a four."""


@inlined
def head(room):
    """Return where the head begins, behind the row."""
    return LINES + 4 * (PAD + np.int64(room[SIZE])) + DEPTH


@inlined
def lines_of(room, which):
    """Return where a block of lines begins."""
    return head(room) + HEAD + which * (6 * np.int64(room[SIZE]) - 2)


@inlined
def behind_lines(room):
    """Return where the room of the searches begins."""
    return lines_of(room, 4)


def room_for_lines(size: int) -> int:
    """Return how many words `room` has up to `behind_lines`."""
    return LINES + 4 * (PAD + size) + DEPTH + HEAD + 4 * (6 * size - 2)


# ---- lines and patterns


@inlined
def line_through(size, d, r, c):
    """Return the line of direction d through a point; on it the point's place is r, in a row (d = 0) c."""
    if d == 0:
        return r
    if d == 2:
        return size + c
    return 2 * size + r + c if d == 1 else 5 * size - 2 + r - c


@inlined
def point_on(size, line, place):
    """Return the point of a place on a line."""
    if line < size:
        return line * size + place
    if line < 2 * size:
        return place * size + line - size
    if line < 4 * size - 1:
        return place * size + line - 2 * size - place
    return place * size + place - line + 5 * size - 2


@inlined
def longer_wins(room, player):
    """Return whether a line longer than n wins as well."""
    return not (room[RULE] == EXACT or (room[RULE] == RENJU and player == 1))


@inlined
def patterns(own, free, n, longer):
    """Return the free points of a line where a stone makes n in a row, and those where it makes a four.

    Bit i of a mask of windows is the window of n points from point i on.
    """
    one = two = three = np.int64(0)  # windows with at least 1, 2, 3 free points
    full, on = ~np.int64(0), own | free
    for k in range(n):
        x = free >> k
        three |= two & x
        two |= one & x
        one |= x
        full &= on >> k
    if not longer:
        full &= ~(own << 1 | own >> n)
    fives, fours = full & one & ~two, full & two & ~three
    at_five = at_four = np.int64(0)
    for k in range(n):
        at_five |= fives << k
        at_four |= fours << k
    return at_five & free, at_four & free


@inlined
def few(own, n):
    """Return whether a line has fewer than n - 2 stones, too few for a four; n is 3 to 5."""
    for _ in range(n - 3):
        own &= own - 1
    return own == 0


@compiled
def put(room, player, r, c):
    """Put a stone on a free point, or remove it again."""
    size = np.int64(room[SIZE])
    own, free = lines_of(room, BLACK_LINES if player == 1 else WHITE_LINES), lines_of(room, FREE_LINES)
    room[block(room, BLACK if player == 1 else WHITE) + r] ^= np.int32(1 << (PAD + c))
    room[block(room, FREE) + r] ^= np.int32(1 << (PAD + c))
    for d in range(4):
        i, bit = line_through(size, d, r, c), np.int32(1 << (PAD + (c if d == 0 else r)))
        room[own + i] ^= bit
        room[free + i] ^= bit
    toggle(room, HASH, r * size + c, player + 1)


@compiled
def look(room, player, r, c):
    """Return how many points on the lines through a point win for a player (2: at least two), and one of them.

    For the attacker, also bring the points of fours on these lines up to date.
    """
    size, n, longer = np.int64(room[SIZE]), np.int64(room[N]), longer_wins(room, player)
    own, free = lines_of(room, BLACK_LINES if player == 1 else WHITE_LINES), lines_of(room, FREE_LINES)
    hot, attacks = lines_of(room, HOT), room[head(room) + ATTACKER] == player
    count, point = np.int64(0), np.int64(NONE)
    for d in range(4):
        i = line_through(size, d, r, c)
        fives = fours = np.int64(0)
        if not few(np.int64(room[own + i]), n):
            fives, fours = patterns(np.int64(room[own + i]), np.int64(room[free + i]), n, longer)
        if attacks:
            room[hot + i] = fours
        if fives != 0:
            count += 1 + (fives & (fives - 1) != 0)
            point = point_on(size, i, lowest(np.uint64(fives)) - PAD)
    return min(count, 2), point


@compiled
def look_everywhere(room, player):
    """Do as `look` for all lines of the board."""
    size, n, longer = np.int64(room[SIZE]), np.int64(room[N]), longer_wins(room, player)
    own, free = lines_of(room, BLACK_LINES if player == 1 else WHITE_LINES), lines_of(room, FREE_LINES)
    hot, attacks = lines_of(room, HOT), room[head(room) + ATTACKER] == player
    count, point = np.int64(0), np.int64(NONE)
    for i in range(6 * size - 2):
        fives = fours = np.int64(0)
        if not few(np.int64(room[own + i]), n):
            fives, fours = patterns(np.int64(room[own + i]), np.int64(room[free + i]), n, longer)
        if attacks:
            room[hot + i] = fours
        while fives != 0:
            found = point_on(size, i, lowest(np.uint64(fives)) - PAD)
            count += found != point
            point = found
            fives &= fives - 1
    return min(count, 2), point


@compiled
def set_up(room, row):
    """Copy a position into the room."""
    size = np.int64(row[SIZE])
    for i in range(LINES + 4 * (PAD + size) + (DEPTH if row[RULE] == RENJU else 0)):
        room[i] = row[i]
    black, white, free = lines_of(room, BLACK_LINES), lines_of(room, WHITE_LINES), lines_of(room, FREE_LINES)
    for i in range(3 * (6 * size - 2)):
        room[black + i] = 0
    for r in range(size):
        dark, light = row[block(row, BLACK) + r] >> PAD, row[block(row, WHITE) + r] >> PAD
        for c in range(size):
            to = black if dark >> c & 1 else (white if light >> c & 1 else free)
            for d in range(4):
                room[to + line_through(size, d, r, c)] |= np.int32(1 << (PAD + (c if d == 0 else r)))


# ---- renju


@inlined
def forbidden(room, player, r, c):
    """Return whether a stone of a player is forbidden on a free point."""
    return room[RULE] == RENJU and player == 1 and ALLOWED < verdict(room, r, c) < FIVE


@compiled
def can_move(room, player):
    """Return whether a player has a legal move; without one the game is a draw."""
    if room[RULE] != RENJU or player != 1:
        return True
    for r in range(room[SIZE]):
        free, hot = room[block(room, FREE) + r], crowded(room, r)
        if free & ~hot:
            return True
        for c in range(room[SIZE]):
            if free >> (PAD + c) & 1 and not forbidden(room, 1, r, c):
                return True
    return False


# ---- stones of a search


@compiled
def save_lines(room, to, r, c):
    """Keep the points of fours on the lines through a point, before `look` changes them."""
    for d in range(4):
        room[to + d] = room[lines_of(room, HOT) + line_through(np.int64(room[SIZE]), d, r, c)]


@compiled
def lift(room, player, point, kept):
    """Remove a stone, with what `save_lines` kept."""
    size = np.int64(room[SIZE])
    r = point // size
    c = point - r * size
    put(room, player, r, c)
    for d in range(4):
        room[lines_of(room, HOT) + line_through(size, d, r, c)] = room[kept + d]


@inlined
def next_point(room, at, candidates):
    """Take the next candidate: the lowest bit of the words from `candidates` on; room[at] is the first word to read."""
    size = np.int64(room[SIZE])
    while room[at] < size:
        word = np.int64(room[candidates + room[at]])
        if word != 0:
            room[candidates + room[at]] = word & (word - 1)
            return room[at] * size + lowest(np.uint64(word))
        room[at] += 1
    return np.int64(NONE)
