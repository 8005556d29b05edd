"""Proves who wins a position of Go on boards of up to 7x7: alpha-beta to the end, one ply deeper at a time.

A result holds whatever was played before: with a simple ko a position is its stones, the barred point, whether a pass
ends the game, and who is to move. A proof is a finite tree that ends in two passes, or in stones that cannot be taken
any more (Benson 1976: unconditional life). The board is two words, with an empty column between lines. The rules share
nothing with games/chains.py, so that each tests the other.
"""

from __future__ import annotations

import numpy as np

from compiled import call, compiled, inlined
from config import UserError
from game import PLY, GameState
from games.boards import lowest, mix64, ones
from games.chains import CAP, KO, KOMI, PASSED, STONES_ONLY, colours
from games.go import Go

NONE = np.uint64(0)
ONE = np.uint64(1)
WIDTH, FULL, LEFT = 0, 1, 2
"""Places in the words of a board: points from a line to the next, all points, positions that may still be searched."""
WIN, LOSS, OPEN = 1, -1, 0
"""A position's result for the player to move; OPEN: not known within the depth."""
PASS = 63
MOVES = 64
"""Room for the moves of a position."""
PLACES = 1 << 20
"""Positions in the table."""
MOST = 1_000_000
"""Positions that are searched for one question: a quarter of a second."""
DEEPEST = 60
"""Plies of the longest proof."""
SIDE, BARRED, PASSES = np.uint64(63), np.uint64(56), np.uint64(63)
"""Bits of a position's two words above its stones: of the first whether the larger komi is the player's; of the second
the barred point, and whether a pass ends the game."""


@inlined
def near(stones, board):
    """Return the points next to some."""
    width = board[WIDTH]
    wide = (stones << ONE) | (stones >> ONE) | (stones << width) | (stones >> width)
    return wide & board[FULL]


@compiled
def filled(start, through, board):
    """Return what of `through` hangs together with `start`, itself a part of it."""
    found = start
    while True:
        more = (found | near(found, board)) & through
        if more == found:
            return found
        found = more


@compiled
def taken(stone, own, other, board):
    """Return the other's stones without a free point once a stone is put; `own` holds it."""
    dead, beside = NONE, near(stone, board) & other
    free = board[FULL] & ~(own | other)
    while beside:
        chain = filled(beside & -beside, other, board)
        beside &= ~chain
        if near(chain, board) & free == NONE:
            dead |= chain
    return dead


@compiled
def barred_after(stone, dead, own, other, board):
    """Return the point that a stone, just put, bars: it took one stone, and is alone with that free point only."""
    alone = near(stone, board) & ~other == dead
    return dead if alone and dead and dead & (dead - ONE) == NONE else NONE


@compiled
def safe(own, other, board):
    """Return the points that stay a player's even if he only passes: chains that live unconditionally, eyes of a point.

    Benson 1976: a chain lives if two regions without own stones, which only living chains surround, have all their
    empty points next to it.
    """
    living = own
    while True:
        kept, rest = NONE, living
        while rest:
            chain = filled(rest & -rest, own, board)
            rest &= ~chain
            eyes, outside = 0, near(chain, board) & ~own
            while outside and eyes < 2:
                region = filled(outside & -outside, board[FULL] & ~own, board)
                outside &= ~region
                around = near(region, board) & own
                eyes += around & ~living == NONE and region & ~other & ~near(chain, board) == NONE
            if eyes == 2:
                kept |= chain
        if kept == living:
            break
        living = kept
    free = board[FULL] & ~(own | other)
    return living | free & ~near(board[FULL] & ~living, board)


@compiled
def area(own, other, board):
    """Return a player's points: stones, and empty regions that touch no other."""
    points, free = ones(own), board[FULL] & ~(own | other)
    while free:
        region = filled(free & -free, free, board)
        free &= ~region
        around = near(region, board)
        if around & own and around & other == NONE:
            points += ones(region)
    return points


@inlined
def place_of(first, second):
    return np.int64(mix64(first ^ mix64(second)) & np.uint64(PLACES - 1))


@compiled
def list_moves(own, other, barred, moves, first, board):
    """Write the legal stones with how late they are to be tried; return their number.

    Stones that take, those next to stones in danger, and those in the open come first, own eyes last.
    """
    count, free = 0, board[FULL] & ~(own | other)
    rest = free & ~barred
    while rest:
        stone = rest & -rest
        rest ^= stone
        mine, point = own | stone, lowest(stone)
        dead = taken(stone, mine, other, board)
        theirs = other & ~dead
        chain = filled(stone, mine, board)
        liberties = ones(near(chain, board) & ~(mine | theirs))
        if liberties == 0:
            continue
        beside = near(stone, board)
        late = 20 - 4 * ones(dead) - min(liberties, 4) - 2 * ones(beside & other) - ones(beside & free)
        late += 10 if liberties == 1 and not dead else 0
        late += 30 if beside & ~own == NONE else 0
        moves[count] = (0 if point == first else max(late, 1)) << 8 | point
        count += 1
    return count


@compiled
def result(own, other, barred, passed, margin, depth, board, table, room):
    """Return the result for the player to move, within `depth` plies.

    He wins if twice his points less the other's exceed the margin, which is odd. Writes what it finds into the table,
    uint64 [PLACES, 3]; room: int64 [depths, MOVES]. Gives up, OPEN, when board[LEFT] reaches 0.
    """
    points = ones(board[FULL])
    if board[LEFT] == NONE:
        return OPEN
    board[LEFT] -= ONE
    if passed:
        mine, theirs = area(own, other, board), area(other, own, board)
        if 2 * (mine - theirs) > margin:
            return WIN
    if 2 * (2 * ones(safe(own, other, board)) - points) > margin:
        return WIN
    if 2 * (points - 2 * ones(safe(other, own, board))) < margin:
        return LOSS
    if depth <= 0:
        return OPEN

    one = own | np.uint64(margin > 0) << SIDE
    two = other | (np.uint64(lowest(barred) + 1) << BARRED if barred else NONE) | np.uint64(passed) << PASSES
    at, first = place_of(one, two), np.int64(PASS + 1)
    if table[at, 0] == one and table[at, 1] == two:
        known = np.int64(table[at, 2])
        kind = (known & 3) - 1
        if kind != OPEN and known >> 8 & 255 <= depth or kind == OPEN and known >> 8 & 255 >= depth:
            return kind
        first = known >> 16

    moves, best, found = room[depth], np.int64(PASS + 1), LOSS
    count = list_moves(own, other, barred, moves, first, board)
    moves[count] = (0 if first == PASS else 25) << 8 | PASS
    count += 1
    for i in range(count):
        least = i
        for j in range(i + 1, count):
            if moves[j] < moves[least]:
                least = j
        moves[i], moves[least] = moves[least], moves[i]
        point = moves[i] & 255
        if point == PASS:
            if passed:
                continue  # the score does not win, as seen above
            reply = result(other, own, NONE, np.int64(1), -margin, depth - 1, board, table, room)
        else:
            stone = ONE << np.uint64(point)
            mine = own | stone
            dead = taken(stone, mine, other, board)
            bars = barred_after(stone, dead, mine, other & ~dead, board)
            reply = result(other & ~dead, mine, bars, np.int64(0), -margin, depth - 1, board, table, room)
        if reply == LOSS:
            best, found = point, WIN
            break
        if reply == OPEN:
            best, found = point, OPEN
    if board[LEFT] or found == WIN:
        table[at, 0] = one
        table[at, 1] = two
        table[at, 2] = np.uint64((found + 1) | depth << 8 | best << 16)
    return found


class GoProver:
    """Proves positions of one game of Go; what it has proven is kept."""

    def __init__(self, game: Go) -> None:
        """Raises `UserError` for a game that it does not know."""
        size = game.grid_shape[0]
        other = sorted(game.parameters.keys() - {"size", "komi", "plies"})
        if other or size > 7 or game.start_row[KOMI] % 2 == 0 or game.start_row[STONES_ONLY]:
            raise UserError(
                f"expected go of at most 7x7 with a simple ko, no suicide and a komi of a half, got {game.spec}"
            )
        self.game, self.size, self.searched = game, size, 0
        self._komi = abs(int(game.start_row[KOMI]))
        self.bits = np.array([[r * (size + 1) + c for c in range(size)] for r in range(size)]).ravel()
        self.board = np.array([size + 1, sum(1 << int(bit) for bit in self.bits), 0], np.uint64)
        self._table = np.zeros((PLACES, 3), np.uint64)
        self._room = np.zeros((DEEPEST + 1, MOVES), np.int64)

    def position(self, state: GameState) -> tuple[np.uint64, np.uint64, np.uint64]:
        """Return the words of the player to move, of the other, and of the barred point."""
        row, width = self.game.row_of(state), self.size + 1
        stones = colours(row).ravel() * state.playerTurn
        own, other = (np.uint64(sum(1 << int(bit) for bit in self.bits[stones == side])) for side in (1, -1))
        line, column = divmod(int(row[KO]), width)
        return own, other, ONE << np.uint64((line - 1) * width + column - 1) if row[KO] else NONE

    def proven(self, state: GameState, depth: int, most: int = MOST) -> int:
        """Return WIN or LOSS for the player to move within `depth` plies, OPEN if that is not known.

        most: positions that may be searched; `searched` says how many were.
        """
        row = self.game.row_of(state)
        own, other, barred = self.position(state)
        margin = int(row[KOMI]) * int(state.playerTurn)
        if abs(margin) != self._komi:
            self._komi = abs(margin)
            self._table.fill(0)  # it holds the sign of the margin alone
        left = int(row[CAP]) - int(row[PLY]) - 1  # the last ply would end the game without two passes
        depth = min(depth, left, DEEPEST)
        self.board[LEFT] = most
        found = call(
            result,
            own,
            other,
            barred,
            np.int64(row[PASSED]),
            np.int64(margin),
            np.int64(depth),
            self.board,
            self._table,
            self._room,
        )
        self.searched = most - int(self.board[LEFT])
        return int(found)


class ProvenScores:
    """The values of all moves of a position of Go, for `evaluation.puzzle_maker.Maker`."""

    def __init__(self, game: Go, most: int = MOST) -> None:
        """most: positions that may be searched for one position."""
        self.prover, self.most = GoProver(game), most

    def scores(self, state: GameState) -> dict[int, float] | None:
        """Return {action: score for the player to move}, positive where he wins; None where that takes too long.

        A win with a shorter proof has a larger score, and so has a loss with a longer one.
        """
        after = {action: state.takeAction(action) for action in state.allowedActions}
        found = {action: -value for action, (_, value, over) in after.items() if over}
        left = self.most
        for depth in range(DEEPEST):
            for action in after.keys() - found.keys():
                known = -self.prover.proven(after[action][0], depth, left)
                left -= self.prover.searched
                if left <= 0:
                    return None
                if known:
                    found[action] = known * (1 - depth / (2 * DEEPEST))
            if len(found) == len(after):
                return {action: found[action] for action in after}
        return None
