"""Little-Go's rules in plain Python, and a move of need: a turn is legal before any compiled code is loaded.

A board is a tuple of 25 points, row by row from the top: 1 Black, -1 White, 0 empty. `games/littlego.py` has the
compiled rules; tests hold both equal.
"""

from __future__ import annotations

from typing import NamedTuple

SIZE, PLIES, PASS = 5, 24, 25
Board = tuple[int, ...]
NEAR = [
    [5 * a + b for a, b in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)) if 0 <= a < SIZE and 0 <= b < SIZE]
    for i in range(SIZE) for j in range(SIZE)
]  # fmt: skip
"""The neighbours of each point."""


class Given(NamedTuple):
    """The host's input."""

    player: int
    """1 Black, -1 White: the side to move."""
    before: Board
    """The board before the other's last move."""
    board: Board
    """The board now."""


def chain_of(board: Board, point: int) -> tuple[set[int], set[int]]:
    """Return (stones, liberties) of the chain at a point."""
    stones, liberties, todo = {point}, set(), [point]
    while todo:
        for near in NEAR[todo.pop()]:
            if board[near] == 0:
                liberties.add(near)
            elif board[near] == board[point] and near not in stones:
                stones.add(near)
                todo.append(near)
    return stones, liberties


def breathes(board: Board) -> bool:
    """Return whether every chain has a liberty."""
    return all(chain_of(board, point)[1] for point in range(PASS) if board[point])


def after(board: Board, action: int, player: int) -> Board | None:
    """Return the board after a move; None where there is a stone or the move is suicide. The ko is not checked."""
    if action == PASS:
        return board
    if board[action]:
        return None
    new = list(board)
    new[action] = player
    taken = [chain_of(tuple(new), near) for near in NEAR[action] if new[near] == -player]
    for stones, liberties in taken:
        for point in stones if not liberties else ():
            new[point] = 0
    return tuple(new) if chain_of(tuple(new), action)[1] else None


def legal(given: Given) -> list[int]:
    """Return the legal moves in ascending order; the last is PASS."""
    boards = [after(given.board, action, given.player) for action in range(PASS)]
    return [action for action in range(PASS) if boards[action] not in (None, given.before)] + [PASS]


def move_of_need(given: Given, ply: int) -> int:
    """Return a legal move found without compiled code: the best after the other's best reply.

    Best by the lead in stones, then by the lead in liberties, then by the distance to the centre. It passes only if
    every stone leaves it worse off. ply: moves played before it; the last one gets no reply.
    """

    def worth(action: int) -> tuple[int, int, int]:
        new = after(given.board, action, given.player) or given.board
        replies = legal(Given(-given.player, given.board, new)) if ply + 1 < PLIES else [PASS]
        lead = min(given.player * sum(after(new, reply, -given.player) or new) for reply in replies)
        return lead, _liberties(new, given.player) - _liberties(new, -given.player), -_from_centre(action)

    return max(legal(given), key=worth)


def _liberties(board: Board, player: int) -> int:
    return sum(not board[point] and any(board[near] == player for near in NEAR[point]) for point in range(PASS))


def _from_centre(action: int) -> int:
    return abs(action // SIZE - SIZE // 2) + abs(action % SIZE - SIZE // 2)
