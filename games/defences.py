"""The moves that avert a win by continuous fours: all other moves lose.

Each move is tried on the board. Most leave the line of fours that was found as it is; only those on its points, and
those that give one of its replies a four, can avert it. The others lose without a look. In renju a stone anywhere can
change what is forbidden, so the line is played again after every move.
"""

from __future__ import annotations

import numpy as np

from compiled import compiled, inlined
from games.boards import lowest
from games.fours import (
    FAILED,
    MOST,
    REPLY,
    WON,
    attack,
    defend,
    force,
    level,
    line_found,
    replay,
    take_back,
)
from games.line_words import (
    ATTACKER,
    BLACK_LINES,
    FREE_LINES,
    LEFT,
    LENGTH,
    few,
    forbidden,
    head,
    lift,
    line_through,
    lines_of,
    longer_wins,
    patterns,
    point_on,
    put,
)
from games.lines import FREE, PAD, RENJU, RULE, SIZE, N, block

EACH = 128
"""Limit of fours tried after one move, so that one that averts the win leaves enough for the others."""


@inlined
def mark_point(room, to, point):
    """Set a point's bit in the words from `to` on, one per row of the board."""
    room[to + point // np.int64(room[SIZE])] |= np.int32(1 << point % np.int64(room[SIZE]))


@compiled
def mark_line(room, to, player, i, fives_too):
    """Mark the points of a line where a stone of a player makes a four, or wins (`fives_too`)."""
    size, which = np.int64(room[SIZE]), 0 if player == 1 else 1
    own = np.int64(room[lines_of(room, BLACK_LINES + which) + i])
    if few(own, np.int64(room[N])):
        return
    free = np.int64(room[lines_of(room, FREE_LINES) + i])
    fives, fours = patterns(own, free, np.int64(room[N]), longer_wins(room, player))
    points = fours | (fives if fives_too else 0)
    while points != 0:
        mark_point(room, to, point_on(size, i, lowest(np.uint64(points)) - PAD))
        points &= points - 1


@compiled
def mark_relevant(room, to):
    """Mark the moves that may avert the line of fours found, in the words from `to` on."""
    size, attacker, length = np.int64(room[SIZE]), np.int64(room[head(room) + ATTACKER]), room[head(room) + LENGTH]
    for line in range(size):
        room[to + line] = 0
    for i in range(6 * size - 2):
        mark_line(room, to, -attacker, i, False)
    for k in range(length - 1):
        point = np.int64(room[line_found(room) + k])
        attack(room, k, point)
        reply = np.int64(room[level(room, k) + REPLY])
        mark_point(room, to, point)
        mark_point(room, to, reply)
        for d in range(4):
            mark_line(room, to, -attacker, line_through(size, d, reply // size, reply % size), False)
    last = np.int64(room[line_found(room) + length - 1])
    r, c = last // size, last % size
    mark_point(room, to, last)
    put(room, attacker, r, c)
    for d in range(4):
        mark_line(room, to, attacker, line_through(size, d, r, c), True)
    put(room, attacker, r, c)
    for k in range(length - 2, -1, -1):
        take_back(room, k)


@compiled
def mark_open(room, to):
    """Mark the legal moves of the defender, who is to move, that may avert the win found: all but those that lose.

    Uses 4 words behind the marks. A move stays open when room[LEFT] is used up before it is known to lose.
    """
    size, attacker = np.int64(room[SIZE]), np.int64(room[head(room) + ATTACKER])
    kept = to + size
    if room[RULE] == RENJU:
        for r in range(size):
            room[to + r] = room[block(room, FREE) + r] >> PAD
    else:
        mark_relevant(room, to)
    count = np.int64(0)
    for r in range(size):
        for c in range(size):
            if not room[to + r] >> c & 1:
                continue
            if forbidden(room, -attacker, r, c) or loses(room, r * size + c, kept):
                room[to + r] ^= np.int32(1 << c)
            else:
                count += 1
    return count


@compiled
def loses(room, point, kept):
    """Return whether the attacker still wins by fours after a move of the defender, as far as EACH fours show."""
    attacker, left = np.int64(room[head(room) + ATTACKER]), np.int64(room[head(room) + LEFT]) - 1
    tries = max(min(left, np.int64(EACH)), np.int64(0))
    room[head(room) + LEFT] = tries
    must = defend(room, point, kept)
    lost = must != FAILED and (replay(room, must) or force(room, must, MOST) == WON)
    lift(room, -attacker, point, kept)
    room[head(room) + LEFT] = left - (tries - room[head(room) + LEFT])
    return lost
