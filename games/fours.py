"""Victory by continuous fours: each move threatens to win at once, so the other side has one reply at most.

Depth grows move by move, so the shortest win is found first; positions that were searched in vain are kept in a small
table. The other's counter-fours are followed. Renju: what is forbidden is looked up on the board as it is then.
Reference: Allis, van den Herik, Huntjens 1993, "Go-Moku Solved by New Search Techniques".
"""

from __future__ import annotations

import numpy as np

from compiled import compiled, inlined
from game import GIVEN_UP
from games.boards import lowest
from games.line_words import (
    ATTACKER,
    HOT,
    LEFT,
    LENGTH,
    NONE,
    STORED,
    behind_lines,
    can_move,
    forbidden,
    head,
    lift,
    lines_of,
    look,
    look_everywhere,
    next_point,
    point_on,
    put,
    room_for_lines,
    save_lines,
)
from games.lines import FREE, HASH, PAD, SIZE, block

NOT_WON, WON = 0, 1
"""Results of a search, and GIVEN_UP: more fours than the limit."""
FAILED, WINS = -2, -3
"""Results of a four in place of the point that the attacker must take next (or NONE): it does not help; it wins."""
MOST = 24
"""Longest win, in moves of the attacker before the winning one."""
TABLE = 512
"""Places of the table, three words each: the key, and how many more moves were tried in vain."""
ALL_TRIED = 127
"""More moves than can be tried: nothing was left out for lack of depth."""
SAVED = 12
"""Words of a level besides its candidates: next line; whether depth was lacking; the four; the reply; saved words."""
AT, CUT, FOUR, REPLY, KEPT = 0, 1, 2, 3, 4


@inlined
def level(room, d):
    """Return where level d of the search begins; its candidates, one word per row of the board, stand behind it."""
    return behind_lines(room) + d * (SAVED + np.int64(room[SIZE]))


@inlined
def line_found(room):
    """Return where the points of the fours that win stand."""
    return level(room, MOST + 1)


@inlined
def table(room):
    """Return where the table begins."""
    return line_found(room) + MOST


@inlined
def behind_fours(room):
    """Return where the room of other searches begins."""
    return table(room) + 3 * TABLE


def room_for_fours(size: int) -> int:
    """Return how many words `room` has up to `behind_fours`."""
    return room_for_lines(size) + (MOST + 1) * (SAVED + size) + MOST + 3 * TABLE


@compiled
def begin_attack(room, attacker):
    """Make a player the attacker; return how many points win for it at once (2: at least two), and one of them."""
    room[head(room) + ATTACKER] = attacker
    if room[head(room) + STORED]:
        for i in range(3 * TABLE):
            room[table(room) + i] = 0
        room[head(room) + STORED] = 0
    return look_everywhere(room, attacker)


# ---- one four and its reply


@compiled
def defend(room, point, kept):
    """Put a stone of the defender; return the point that the attacker must take then, NONE or FAILED (two of them)."""
    size, attacker = np.int64(room[SIZE]), np.int64(room[head(room) + ATTACKER])
    r = point // size
    c = point - r * size
    save_lines(room, kept, r, c)
    put(room, -attacker, r, c)
    look(room, attacker, r, c)
    count, must = look(room, -attacker, r, c)
    return np.int64(FAILED) if count > 1 else must


@compiled
def attack(room, d, point):
    """Play a four of level d and its reply; return the point that the attacker must take next, NONE, FAILED or WINS.

    With FAILED and WINS the stones are removed again.
    """
    size, attacker, at = np.int64(room[SIZE]), np.int64(room[head(room) + ATTACKER]), level(room, d)
    r = point // size
    c = point - r * size
    if forbidden(room, attacker, r, c):
        return np.int64(FAILED)
    save_lines(room, at + KEPT, r, c)
    put(room, attacker, r, c)
    count, reply = look(room, attacker, r, c)
    room[at + FOUR], room[at + REPLY] = point, reply
    result = np.int64(FAILED)
    if count > 1 or (count == 1 and forbidden(room, -attacker, reply // size, reply % size)):
        if can_move(room, -attacker):
            result = np.int64(WINS)
    elif count == 1:
        result = defend(room, reply, at + KEPT + 4)
        if result != FAILED:
            return result
        lift(room, -attacker, reply, at + KEPT + 4)
    lift(room, attacker, point, at + KEPT)
    return result


@compiled
def take_back(room, d):
    """Remove the stones of level d."""
    attacker, at = np.int64(room[head(room) + ATTACKER]), level(room, d)
    lift(room, -attacker, np.int64(room[at + REPLY]), at + KEPT + 4)
    lift(room, attacker, np.int64(room[at + FOUR]), at + KEPT)


# ---- the search


@compiled
def list_fours(room, d, must):
    """List the points of fours as candidates of level d, with `must` only this one; return whether there are any."""
    size, hot, at = np.int64(room[SIZE]), lines_of(room, HOT), level(room, d)
    room[at + AT] = room[at + CUT] = 0
    for r in range(size):
        room[at + SAVED + r] = 0
    found = False
    for i in range(6 * size - 2):
        points = np.int64(room[hot + i])
        while points != 0:
            point = point_on(size, i, lowest(np.uint64(points)) - PAD)
            points &= points - 1
            if must == NONE or must == point:
                room[at + SAVED + point // size] |= np.int32(1 << point % size)
                found = True
    return found


@inlined
def place_of(room):
    """Return where the position's entry in the table is."""
    return table(room) + 3 * (np.int64(room[HASH]) & (TABLE - 1))


@compiled
def tried(room):
    """Return how many more moves were tried in vain in this position, 0 if unknown."""
    at = place_of(room)
    known = room[at] == room[HASH] and room[at + 1] == room[HASH + 1]
    return np.int64(room[at + 2]) if known else np.int64(0)


@compiled
def remember(room, moves):
    """Add to the number of moves that were tried in vain."""
    at = place_of(room)
    room[at], room[at + 1], room[at + 2] = room[HASH], room[HASH + 1], moves
    room[head(room) + STORED] = 1


@compiled
def dive(room, must, limit):
    """Search wins by up to `limit` fours, the attacker to move; `must` is the point to take or NONE. See `force`."""
    h, d = head(room), np.int64(0)
    list_fours(room, d, must)
    while True:
        at = level(room, d)
        point = next_point(room, at + AT, at + SAVED)
        if point == NONE:
            if d == 0:
                return np.int64(NOT_WON)
            remember(room, limit - d if room[at + CUT] else ALL_TRIED)
            d -= 1
            room[level(room, d) + CUT] |= room[at + CUT]
            take_back(room, d)
            continue
        room[h + LEFT] -= 1
        result = attack(room, d, point) if room[h + LEFT] >= 0 else np.int64(FAILED)
        if room[h + LEFT] < 0 or result == WINS:
            if result == WINS:
                keep_line(room, d + 1)
            for k in range(d - 1, -1, -1):
                take_back(room, k)
            return np.int64(WON if result == WINS else GIVEN_UP)
        if result == FAILED:
            continue
        known = tried(room)
        if known >= limit - d - 1 and known > 0:
            room[at + CUT] |= known != ALL_TRIED
            take_back(room, d)
        elif list_fours(room, d + 1, result) and d + 1 < limit:
            d += 1
        else:
            room[at + CUT] |= has_candidates(room, d + 1)
            take_back(room, d)


@compiled
def keep_line(room, length):
    """Keep the fours of the first levels as the line found."""
    room[head(room) + LENGTH] = length
    for k in range(length):
        room[line_found(room) + k] = room[level(room, k) + FOUR]


@compiled
def has_candidates(room, d):
    """Return whether level d has candidates."""
    found = np.int32(0)
    for r in range(room[SIZE]):
        found |= room[level(room, d) + SAVED + r]
    return found != 0


@compiled
def force(room, must, most):
    """Return whether the attacker, who is to move and does not win at once, wins by fours: WON, NOT_WON or GIVEN_UP.

    must: the point where the other would win at once, or NONE. At most `most` fours in a line, room[LEFT] in all. With
    WON the points of the fours stand at `line_found`, room[LENGTH] of them; the first one is the move to play.
    """
    for limit in range(1, most + 1):
        result = dive(room, must, limit)
        if result != NOT_WON or not room[level(room, 0) + CUT]:
            return result
    return np.int64(NOT_WON)


@compiled
def replay(room, must):
    """Return whether the fours at `line_found` win in the present position as well."""
    size, free = np.int64(room[SIZE]), block(room, FREE)
    won, d = False, np.int64(0)
    while d < room[head(room) + LENGTH]:
        point = np.int64(room[line_found(room) + d])
        r = point // size
        if (must != NONE and must != point) or not room[free + r] >> (PAD + point - r * size) & 1:
            break
        must = attack(room, d, point)
        if must == FAILED or must == WINS:
            won = must == WINS
            break
        d += 1
    for k in range(d - 1, -1, -1):
        take_back(room, k)
    return won
