"""Victory by continuous threats: moves after which continuous fours would win, were it not for the other's reply.

Such a move makes a three in most cases. All replies that may avert the fours are tried (`games.defences`), the other's
own fours among them; after each the attacker wins by fours or threatens again. A win is a proof; one that takes more
than the limit of fours or more than DEEPEST threats in a line is not found.
Reference: Thomsen 2000, "Lambda-Search in Game Trees".
"""

from __future__ import annotations

import numpy as np

from compiled import compiled, inlined
from game import GIVEN_UP, NO_WIN, ONLY, PLAYER
from games.boards import lowest
from games.defences import mark_open, mark_point
from games.fours import (
    FAILED,
    MOST,
    NOT_WON,
    WON,
    begin_attack,
    behind_fours,
    defend,
    force,
    line_found,
    room_for_fours,
)
from games.line_words import (
    ATTACKER,
    BLACK_LINES,
    FREE_LINES,
    HOT,
    LEFT,
    LENGTH,
    NONE,
    can_move,
    forbidden,
    head,
    lift,
    lines_of,
    longer_wins,
    look,
    look_everywhere,
    next_point,
    point_on,
    put,
    save_lines,
    set_up,
)
from games.lines import PAD, SIZE, N

FOURS = 1024
"""Limit of fours tried for one side of a position."""
DEEPEST = 6
"""Most threats in a line."""
AT, REPLIES_AT, THREAT, REPLY, KEPT, KEPT_REPLY, WORDS = 0, 1, 2, 3, 4, 8, 12
"""Words of a level: next line of its candidates, of its replies; the threat; the reply; words to restore of both. Then
the candidates and the replies, one word per row of the board each, and 4 words for `mark_open`."""


def room_for_threats(size: int) -> int:
    """Return how many words the work space has."""
    return room_for_fours(size) + (DEEPEST + 2) * (WORDS + 2 * size + 4) + 1


@inlined
def level_of(room, k):
    """Return where level k begins."""
    return behind_fours(room) + k * (WORDS + 2 * np.int64(room[SIZE]) + 4)


@inlined
def threes(own, free, n, longer):
    """Return the free points of a line where a stone makes a window of n points with two free and no other's."""
    full, on = ~np.int64(0), own | free
    points = one = two = three = four = np.int64(0)
    for k in range(n):
        x = free >> k
        four |= three & x
        three |= two & x
        two |= one & x
        one |= x
        full &= on >> k
    if not longer:
        full &= ~(own << 1 | own >> n)
    windows = full & three & ~four
    for k in range(n):
        points |= windows << k
    return points & free


@compiled
def list_threats(room, k, must):
    """List the points where the attacker makes a three or a four; with `must` only this one, whatever it makes."""
    size, attacker, at = np.int64(room[SIZE]), np.int64(room[head(room) + ATTACKER]), level_of(room, k)
    own = lines_of(room, BLACK_LINES if attacker == 1 else BLACK_LINES + 1)
    room[at + AT] = 0
    for r in range(size):
        room[at + WORDS + r] = 0
    if must != NONE:
        mark_point(room, at + WORDS, must)
        return
    for i in range(6 * size - 2):
        free = np.int64(room[lines_of(room, FREE_LINES) + i])
        points = np.int64(room[lines_of(room, HOT) + i])
        points |= threes(np.int64(room[own + i]), free, np.int64(room[N]), longer_wins(room, attacker))
        while points != 0:
            mark_point(room, at + WORDS, point_on(size, i, lowest(np.uint64(points)) - PAD))
            points &= points - 1


@compiled
def enter(room, k, limit, must):
    """Begin level k with the attacker to move: return WON if fours win, GIVEN_UP, or NOT_WON with threats listed."""
    result = force(room, must, MOST)
    if result == WON:
        room[level_of(room, k) + THREAT] = room[line_found(room)]
    elif result == NOT_WON and k < limit:
        list_threats(room, k, must)
    return result


@compiled
def make_threat(room, k):
    """Play the next move of level k that threatens to win, and list the replies; return whether there was one."""
    size, attacker, at = np.int64(room[SIZE]), np.int64(room[head(room) + ATTACKER]), level_of(room, k)
    replies = at + WORDS + size
    while room[head(room) + LEFT] > 0:
        point = next_point(room, at + AT, at + WORDS)
        if point == NONE:
            return False
        r, c = point // size, point % size
        room[head(room) + LEFT] -= 1
        if forbidden(room, attacker, r, c):
            continue
        save_lines(room, at + KEPT, r, c)
        put(room, attacker, r, c)
        count, reply = look(room, attacker, r, c)
        room[at + THREAT], room[at + REPLIES_AT] = point, 0
        if count == 0 and force(room, np.int64(NONE), MOST) == WON:
            if mark_open(room, replies) > 0 or can_move(room, -attacker):
                return True
        elif count == 1 and not forbidden(room, -attacker, reply // size, reply % size):
            for i in range(size):
                room[replies + i] = 0
            mark_point(room, replies, reply)
            return True
        lift(room, attacker, point, at + KEPT)
    return False


@compiled
def undo_threat(room, k):
    """Remove the threat of level k."""
    at = level_of(room, k)
    lift(room, np.int64(room[head(room) + ATTACKER]), np.int64(room[at + THREAT]), at + KEPT)


@compiled
def undo_reply(room, k):
    """Remove the reply of level k."""
    at = level_of(room, k)
    lift(room, -np.int64(room[head(room) + ATTACKER]), np.int64(room[at + REPLY]), at + KEPT_REPLY)


@compiled
def pursue(room, must, limit):
    """Return whether the attacker, who is to move, wins by up to `limit` threats and then fours.

    WON, NOT_WON, or GIVEN_UP, with which the stones of the search stay in the room; and whether depth was lacking.
    """
    k, cut, result = np.int64(0), False, enter(room, np.int64(0), limit, must)
    while room[head(room) + LEFT] > 0 and result != GIVEN_UP:
        if result == WON:
            if k == 0:
                return np.int64(WON), cut
            k -= 1
            undo_reply(room, k)
        elif k == limit or not make_threat(room, k):
            cut |= k == limit
            if k == 0:
                return np.int64(NOT_WON if room[head(room) + LEFT] > 0 else GIVEN_UP), cut
            k -= 1
            undo_reply(room, k)
            undo_threat(room, k)
            continue
        at = level_of(room, k)
        reply = next_point(room, at + REPLIES_AT, at + WORDS + np.int64(room[SIZE]))
        if reply == NONE:
            undo_threat(room, k)
            result = np.int64(WON)
            continue
        room[at + REPLY] = reply
        must = defend(room, reply, at + KEPT_REPLY)
        if must == FAILED:
            undo_reply(room, k)
            undo_threat(room, k)
            result = np.int64(NOT_WON)
            continue
        k += 1
        result = enter(room, k, limit, must)
    return np.int64(GIVEN_UP), cut


@compiled
def find_forced(row, threats, room, out):
    """See `game.Game.forced`; `threats`, its effort, is the limit of fours for wins by threats."""
    player = np.int64(row[PLAYER])
    h = head(row)
    set_up(room, row)
    _, must = look_everywhere(room, -player)
    begin_attack(room, player)
    room[h + LEFT] = FOURS
    if force(room, must, MOST) == WON:
        room[room.shape[0] - 1] = 2 * room[h + LENGTH] + 1
        return np.int64(room[line_found(room)])
    room[room.shape[0] - 1] = 0
    if must == NONE:
        room[h + LEFT] = FOURS
        begin_attack(room, -player)
        if force(room, np.int64(NONE), MOST) == WON:
            return list_open(room, out)
    if threats > 0:
        begin_attack(room, player)
        room[h + LEFT] = threats
        for limit in range(1, DEEPEST + 1):
            result, cut = pursue(room, must, np.int64(limit))
            if result == WON:
                return np.int64(room[level_of(room, 0) + THREAT])
            if result == GIVEN_UP or not cut:
                break
    return np.int64(NO_WIN)


@compiled
def list_open(room, out):
    """Write the moves that may avert the fours found, ascending; return ONLY - their number."""
    size, marks = np.int64(room[SIZE]), level_of(room, np.int64(0)) + WORDS
    room[head(room) + LEFT] = 2 * FOURS
    mark_open(room, marks)
    count = np.int64(0)
    for point in range(size * size):
        if room[marks + point // size] >> point % size & 1:
            out[count] = point
            count += 1
    return ONLY - count
