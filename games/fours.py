"""Victory by continuous fours: each move threatens to win at once, so the other side has one reply at most.

A *four* is a stone after which one more wins. The search runs on a work space of int32 (`room`): a copy of the row,
then the stones as one word per line of each direction. A stone changes four words, so the patterns of all lines are
kept up to date by looking at these four again. Depth grows move by move, so the shortest win is found first; positions
that were searched in vain are kept in a small table. Renju: forbidden points are looked up on the board as it is then.
Reference: Allis, van den Herik, Huntjens 1993, "Go-Moku Solved by New Search Techniques".
"""

from __future__ import annotations

import numpy as np

from compiled import compiled, inlined
from game import GIVEN_UP
from games.boards import lowest, toggle
from games.lines import BLACK, EXACT, FREE, HASH, LINES, PAD, RENJU, RULE, SIZE, WHITE, N, block
from games.renju import ALLOWED, DEPTH, FIVE, crowded, verdict

NOT_WON, WON = 0, 1
"""Results of a search, and GIVEN_UP: more fours than the limit."""
NONE, FAILED, WINS = -1, -2, -3
"""Results of a four in place of the point that the attacker must take next: no such point; it does not help; it wins
by force at once."""
ATTACKER, LEFT, LENGTH, STORED, HEAD = 0, 1, 2, 3, 4
"""Words of the head: the attacking player; fours that may still be tried; fours of the line found; whether the table
is in use."""
BLACK_LINES, WHITE_LINES, FREE_LINES, HOT = 0, 1, 2, 3
"""Blocks of one word per line: stones, free points, and the points where a stone of the attacker makes a four."""
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
def head(room):
    """Return where the head begins, behind the row."""
    return LINES + 4 * (PAD + np.int64(room[SIZE])) + DEPTH


@inlined
def lines_of(room, which):
    """Return where a block of lines begins."""
    return head(room) + HEAD + which * (6 * np.int64(room[SIZE]) - 2)


@inlined
def level(room, d):
    """Return where level d of the search begins; its candidates, one word per row of the board, stand behind it."""
    return lines_of(room, 4) + d * (SAVED + np.int64(room[SIZE]))


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
    rows = LINES + 4 * (PAD + size) + DEPTH + HEAD
    return rows + 4 * (6 * size - 2) + (MOST + 1) * (SAVED + size) + MOST + 3 * TABLE


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
    one = two = three = np.int64(0)  # windows with at least so many free points
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


@compiled
def begin_attack(room, attacker):
    """Make a player the attacker; return how many points win for it at once (2: at least two), and one of them."""
    room[head(room) + ATTACKER] = attacker
    if room[head(room) + STORED]:
        for i in range(3 * TABLE):
            room[table(room) + i] = 0
        room[head(room) + STORED] = 0
    return look_everywhere(room, attacker)


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


# ---- one four and its reply


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
    """Keep that so many more moves were tried in vain."""
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
