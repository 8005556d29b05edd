"""Chains of Go stones: liberties, captures, ko, repetition, points. Used by `go` and `littlego`.

The board has a border, so that each point has four neighbours: point p = (r + 1) * (size + 1) + c + 1, and the border
left of a line is also the one right of the line above. A chain is named by one of its stones, its head. Each chain has
a count of its pseudo-liberties: pairs of a stone and an empty neighbour, so that a liberty next to two stones of a
chain counts twice. That is enough: p is a chain's only liberty exactly when its pseudo-liberties are as many as the
neighbours of p that belong to it.
"""

from __future__ import annotations

import numpy as np

from compiled import compiled
from game import HEADER, LAST, OVER, PLAYER, PLY, WINNER, Row
from games.boards import get, kept_hash, mix64, put, thing_word, toggle

SIZE, KOMI, STONES_ONLY, SUICIDE, CAP, SLOTS, PASSED, KO, HASH, PAST, CELLS = (HEADER + i for i in (*range(9), 10, 12))
"""SIZE: lines of the board. KOMI: twice the points White gets. STONES_ONLY: 1 when empty points do not count. SUICIDE:
1 when a chain of two or more stones may take its own last liberty. CAP: the ply at which the game ends. SLOTS: room
for boards of the past, a power of two, or 0 with simple ko. PASSED: 1 when a pass ends the game. KO: the point at
which a ko may not be taken back, or 0. HASH, PAST: two cells each, a hash of the board and one of the boards before.

From CELLS on `area` cells each: the board (0 empty, BORDER, or player * head of the stone's chain); the next stone of
the chain, a ring; pseudo-liberties of the chain, for heads only. Then a hash table of the boards before: pairs."""
BORDER = 1 << 20


def start_row(size: int, komi: float, plies: int, *, superko: bool, suicide: bool) -> Row:
    """Return the row of the empty board."""
    slots = 1 << (3 * plies // 2).bit_length() if superko else 0
    size_of_board = board_area(size)
    row = np.zeros(CELLS + 3 * size_of_board + 2 * slots, np.int32)
    row[[PLAYER, LAST, SIZE, CAP, SLOTS]] = 1, -1, size, plies, slots
    row[[KOMI, SUICIDE]] = round(2 * komi), suicide
    cells = np.full((size + 2, size + 1), BORDER, np.int32)
    cells[1:-1, 1:] = 0
    row[CELLS : CELLS + size_of_board] = [*cells.ravel(), BORDER]
    return row


def board_area(size: int) -> int:
    """Return the number of cells of a board with its border."""
    return (size + 2) * (size + 1) + 1


def colours(row: Row) -> np.ndarray:
    """Return the board [size, size]: 1, -1 or 0."""
    size = int(row[SIZE])
    cells = row[CELLS : CELLS + board_area(size) - 1].reshape(size + 2, size + 1)
    return np.sign(cells[1:-1, 1:])


def areas(row: Row) -> np.ndarray:
    """Return the owner of each point, [size, size] int8, as `points` counts them; call `spread` first."""
    size, stones = int(row[SIZE]), colours(row)
    start = CELLS + board_area(size)
    notes = row[start : start + board_area(size) - 1].reshape(size + 2, size + 1)[1:-1, 1:]
    alone = np.where((stones == 0) & (row[STONES_ONLY] == 0), (notes == 1) * 1 - (notes == 2), 0)
    owners: np.ndarray = (stones + alone).astype(np.int8)
    return owners


def liberties(row: Row, action: int) -> int:
    """Return how many empty points the chain of the stone on a point touches; 0 without a stone."""
    size = int(row[SIZE])
    board = np.pad(colours(row), 1, constant_values=2)
    todo, chain, free = [(action // size + 1, action % size + 1)], set(), set()
    colour = board[todo[0]]
    while todo and colour != 0:
        r, c = point = todo.pop()
        if board[point] == colour and point not in chain:
            chain.add(point)
            todo += [(r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)]
        elif board[point] == 0:
            free.add(point)
    return len(free)


@compiled
def step(width, d):
    """Return the offset of the neighbour in direction d: up, left, right, down."""
    return -width if d == 0 else (-1 if d == 1 else (1 if d == 2 else width))


@compiled
def touching(row, p, stone):
    """Return how many neighbours of p belong to the chain of a cell."""
    width, p = row[SIZE] + 1, CELLS + p
    count = 0
    for d in range(4):
        count += row[p + step(width, d)] == stone
    return count


@compiled
def can_fill(row, p):
    """Return whether the player may put a stone on a point without empty neighbours, apart from ko and repetition."""
    player, width = row[PLAYER], np.int64(row[SIZE]) + 1
    counts = CELLS + 2 * ((width + 1) * width + 1)
    friends = False
    for d in range(4):
        stone = row[CELLS + p + step(width, d)]
        if stone == BORDER:
            continue
        own = stone * player > 0
        friends |= own
        if (row[counts + abs(stone)] == touching(row, p, stone)) != own:
            return True
    return friends and row[SUICIDE] == 1


@compiled
def may_be_played(row, p, width):
    """Return whether the player may put a stone on a free point; width: size + 1."""
    at = CELLS + p
    free = row[at - 1] == 0 or row[at + 1] == 0 or row[at - width] == 0 or row[at + width] == 0
    return (free or (p != row[KO] and can_fill(row, p))) and (row[SLOTS] == 0 or not repeats(row, p))


@compiled
def legal_actions(row, out):
    """Write the legal actions, points in row order and then the pass; return their number."""
    size = np.int64(row[SIZE])
    width, count, action = size + 1, 0, 0
    for r in range(1, width):
        for p in range(r * width + 1, r * width + width):
            if row[CELLS + p] == 0 and may_be_played(row, p, width):
                out[count] = action
                count += 1
            action += 1
    out[count] = action
    return count + 1


@compiled
def play_action(row, action):
    """Play a stone or pass."""
    size = row[SIZE]
    row[PLY] += 1
    row[LAST] = action
    row[KO] = 0
    if action == size * size:
        row[OVER] = row[PASSED]
        row[PASSED] = 1
    else:
        row[PASSED] = 0
        if row[SLOTS] > 0:
            remember(row)
        put_stone(row, (action // size + 1) * (size + 1) + action % size + 1)
    if row[PLY] >= row[CAP]:
        row[OVER] = 1
    if row[OVER] == 1:
        spread(row)
        lead = 2 * (points(row, 1) - points(row, -1)) - row[KOMI]
        row[WINNER] = (lead > 0) - (lead < 0)
    row[PLAYER] = -row[PLAYER]


@compiled
def put_stone(row, p):
    """Put a stone of the player on the point p and remove the chains that then have no liberty."""
    player, width = row[PLAYER], row[SIZE] + 1
    rings = CELLS + (width + 1) * width + 1
    counts = rings + (rings - CELLS)
    head, taken, captured = p, 0, 0
    row[CELLS + p] = player * p
    row[rings + p] = p
    row[counts + p] = 0
    toggle(row, HASH, p, player < 0)
    for d in range(4):
        stone = row[CELLS + p + step(width, d)]
        if stone == 0:
            row[counts + head] += 1
        elif stone != BORDER:
            row[counts + abs(stone)] -= 1
            if stone * player > 0:
                head = join(row, rings, head, abs(stone))
    for d in range(4):
        q = p + step(width, d)
        stone = row[CELLS + q]
        if stone != BORDER and stone * player < 0 and row[counts + abs(stone)] == 0:
            taken += take_away(row, abs(stone))
            captured = q
    if row[counts + head] == 0:
        take_away(row, head)
    elif taken == 1 and row[rings + p] == p and row[counts + head] == 1 and row[SLOTS] == 0:
        row[KO] = captured


@compiled
def join(row, rings, one, other):
    """Join two chains, if they differ, under the head of the larger one; return the head."""
    if one == other:
        return one
    a, b = row[rings + one], row[rings + other]
    while a != one and b != other:  # both at once, up to the end of the shorter ring
        a, b = row[rings + a], row[rings + b]
    if a == one:
        one, other = other, one
    counts = rings + (rings - CELLS)
    row[counts + one] += row[counts + other]
    stone = other
    while True:
        row[CELLS + stone] = row[PLAYER] * one
        stone = row[rings + stone]
        if stone == other:
            break
    row[rings + one], row[rings + other] = row[rings + other], row[rings + one]
    return one


@compiled
def take_away(row, head):
    """Remove a chain; return the number of its stones."""
    width = row[SIZE] + 1
    rings = CELLS + (width + 1) * width + 1
    counts = rings + (rings - CELLS)
    white = row[CELLS + head] < 0
    stone, count = head, 0
    while True:
        row[CELLS + stone] = 0
        toggle(row, HASH, stone, white)
        for d in range(4):
            other = row[CELLS + stone + step(width, d)]
            if other != 0 and other != BORDER:  # also this chain's last stones: its count is not read again
                row[counts + abs(other)] += 1
        stone = row[rings + stone]
        count += 1
        if stone == head:
            return count


@compiled
def spread(row):
    """Note for each empty point whose stones its region touches: 1 Black's, 2 White's, 3 both.

    The note is written into the rings, which are not used for empty points.
    """
    width = row[SIZE] + 1
    rings = CELLS + (width + 1) * width + 1
    for p in range(width + 1, row[SIZE] * width + width):
        if row[CELLS + p] == 0:
            row[rings + p] = 0
    changed = True
    while changed:
        changed = False
        for p in range(width + 1, row[SIZE] * width + width):
            if row[CELLS + p] != 0:
                continue
            seen = row[rings + p]
            for d in range(4):
                q = p + step(width, d)
                stone = row[CELLS + q]
                if stone == 0:
                    seen |= row[rings + q]
                elif stone != BORDER:
                    seen |= 1 if stone > 0 else 2
            changed |= seen != row[rings + p]
            row[rings + p] = seen


@compiled
def points(row, player):
    """Return a player's points without komi: stones, and empty regions that touch no other; call `spread` first."""
    width = row[SIZE] + 1
    rings = CELLS + (width + 1) * width + 1
    alone = (1 if player == 1 else 2) if row[STONES_ONLY] == 0 else -1
    count = 0
    for p in range(width + 1, row[SIZE] * width + width):
        stone = row[CELLS + p]
        if stone == 0:
            count += row[rings + p] == alone
        elif stone != BORDER:
            count += stone * player > 0
    return count


@compiled
def past_word(word):
    """Return the word for a board with this hash in the table of past boards; never 0, which is an empty slot."""
    return mix64(word ^ np.uint64(0x9E6C63D0876A9A99)) | np.uint64(1)


@compiled
def slot_of(row, word):
    """Return the index in the row of a past board, or of the empty slot for it."""
    width = row[SIZE] + 1
    table = CELLS + 3 * ((width + 1) * width + 1)
    slot = np.int64(word >> np.uint64(33)) & (row[SLOTS] - 1)
    while True:
        found = get(row, table + 2 * slot)
        if found == word or found == np.uint64(0):
            return table + 2 * slot
        slot = (slot + 1) & (row[SLOTS] - 1)


@compiled
def remember(row):
    """Add the board to the table of past boards."""
    word = past_word(get(row, HASH))
    put(row, slot_of(row, word), word)
    put(row, PAST, get(row, PAST) ^ word)


@compiled
def chain_word(row, head):
    """Return the exclusive or of the words of a chain's stones."""
    width = row[SIZE] + 1
    rings = CELLS + (width + 1) * width + 1
    white = row[CELLS + head] < 0
    word, stone = np.uint64(0), np.int64(head)
    while True:
        word ^= thing_word(stone, white)
        stone = row[rings + stone]
        if stone == head:
            return word


@compiled
def repeats(row, p):
    """Return whether a stone on p, otherwise legal, would bring back a past board."""
    player, width = row[PLAYER], row[SIZE] + 1
    counts = CELLS + 2 * ((width + 1) * width + 1)
    taken, lost, lives = np.uint64(0), np.uint64(0), False
    for d in range(4):
        stone = row[CELLS + p + step(width, d)]
        lives |= stone == 0
        if stone == 0 or stone == BORDER:
            continue
        own = stone * player > 0
        dies = row[counts + abs(stone)] == touching(row, p, stone)
        lives |= dies != own
        for e in range(d):
            dies &= row[CELLS + p + step(width, e)] != stone  # each chain once
        if dies and own:
            lost ^= chain_word(row, abs(stone))
        elif dies:
            taken ^= chain_word(row, abs(stone))
    after = taken ^ thing_word(p, player < 0) if lives else lost
    word = past_word(get(row, HASH) ^ after)
    return get(row, slot_of(row, word)) == word


@compiled
def barred_point(row, p):
    """Return whether a point may not be played because of ko or of a past board."""
    return row[KO] == p or (row[SLOTS] > 0 and row[CELLS + p] == 0 and repeats(row, p))


@compiled
def position_key(row):
    """Return a hash of all that the future depends on.

    The ply is part of it because a board can come back; the player to move, because stones can be set up for either;
    and whether the game is over, because a pass may have ended it.
    """
    salt = (((row[PLY] * 512 + row[KO]) * 2 + row[PASSED]) * 2 + row[OVER]) * 2 + (row[PLAYER] == 1)
    word = kept_hash(row, HASH, salt)
    return word ^ kept_hash(row, PAST, 1) if row[SLOTS] > 0 else word


@compiled
def encode_stones(row, out, planes):
    """Write the first four planes of each point: own stones, other stones, and those of each with one liberty left."""
    size, player = np.int64(row[SIZE]), row[PLAYER]
    width = size + 1
    counts = CELLS + 2 * ((width + 1) * width + 1)
    i = 0
    for r in range(1, width):
        for p in range(r * width + 1, r * width + width):
            stone = row[CELLS + p] * player
            out[i] = stone > 0
            out[i + 1] = stone < 0
            out[i + 2] = 0
            out[i + 3] = 0
            i += planes
    for r in range(1, width):
        for p in range(r * width + 1, r * width + width):
            if row[CELLS + p] == 0:
                for d in range(4):
                    stone = row[CELLS + p + step(width, d)]
                    if stone != 0 and stone != BORDER and row[counts + abs(stone)] == touching(row, p, stone):
                        mark_chain(row, out, planes, abs(stone), 2 if stone * player > 0 else 3)


@compiled
def mark_chain(row, out, planes, head, plane):
    """Set a plane at the stones of a chain."""
    size = row[SIZE]
    rings = CELLS + (size + 2) * (size + 1) + 1
    stone = head
    while True:
        out[planes * ((stone // (size + 1) - 1) * size + stone % (size + 1) - 1) + plane] = 1
        stone = row[rings + stone]
        if stone == head:
            break
