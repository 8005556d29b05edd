"""Ultimate tic-tac-toe: nine small boards make a large one; three small boards in a row win.

The cell of a small board in which a player moves names the small board in which the other must move. If that board is
won or full, the other may move in any board that is not. A move is a point of the 9 x 9 cells, such as e5.
"""

from __future__ import annotations

import numpy as np

from config import UserError
from game import GameState, illegal_move
from games.boards import draw_named, point_name, point_symmetries
from games.plain import PlainGame

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
ANY, FULL = None, 2


def winner(cells: list[int] | tuple[int, ...]) -> int:
    """Return who has three in a row on nine cells: 1, -1 or 0."""
    for a, b, c in LINES:
        if cells[a] == cells[b] == cells[c] and cells[a] in (1, -1):
            return cells[a]
    return 0


class UltimateState(GameState):
    def __init__(
        self,
        game: UltimateTicTacToe,
        boards: tuple[tuple[int, ...], ...],
        player: int,
        board: int | None,
        last: int = -1,
    ) -> None:
        self.game, self.boards, self.playerTurn, self.last = game, boards, player, last
        self.results = [winner(cells) or (0 if 0 in cells else FULL) for cells in boards]  # of each small board
        self.board = board if board is not None and self.results[board] == 0 else ANY  # where one must move
        self.id = (boards, player, self.board)
        lost = winner(self.results) == -player
        self.isEndGame = lost or 0 not in self.results
        self.value = -1.0 if lost else 0.0
        self.allowedActions = [] if self.isEndGame else [a for a in range(81) if self.may_be_played(a)]

    def may_be_played(self, action: int) -> bool:
        board, cell = place_of(action)
        return self.results[board] == 0 and self.board in (board, ANY) and self.boards[board][cell] == 0

    def takeAction(self, action: int) -> tuple[UltimateState, float, bool]:
        if action not in self.allowedActions:
            raise UserError(illegal_move(self.game, self, action))
        board, cell = place_of(action)
        cells = (*self.boards[board][:cell], self.playerTurn, *self.boards[board][cell + 1 :])
        boards = (*self.boards[:board], cells, *self.boards[board + 1 :])
        state = UltimateState(self.game, boards, -self.playerTurn, cell, action)
        return state, state.value, state.isEndGame

    def on_points(self) -> np.ndarray:
        """Return the marks as [9, 9]."""
        cells = [self.boards[board][cell] for board, cell in map(place_of, range(81))]
        return np.reshape(cells, (9, 9))

    def planes(self) -> np.ndarray:
        """Return own marks, the other's, own small boards, the other's, where one may move, and ones."""
        marks = self.on_points() * self.playerTurn
        won = np.kron(np.reshape(self.results, (3, 3)) * self.playerTurn, np.ones((3, 3), int))
        free = np.zeros(81, bool)
        free[self.allowedActions] = True
        shown = [marks == 1, marks == -1, won == 1, won == -1, free.reshape(9, 9), np.ones((9, 9))]
        return np.stack(shown, axis=-1).astype(np.uint8)

    def render(self) -> str:
        where = "any board" if self.board is ANY else f"board {self.board + 1}"
        won = " ".join({1: "X", -1: "O", 0: "-", FULL: "="}[result] for result in self.results)
        board = draw_named(self.on_points(), self.last, self.game.pieces)
        return "\n".join([*board, f"small boards: {won}" + ("" if self.isEndGame else f"; next: {where}")])


def place_of(action: int) -> tuple[int, int]:
    """Return (small board, cell in it) of a point, both counted in row order."""
    r, c = divmod(action, 9)
    return r // 3 * 3 + c // 3, r % 3 * 3 + c % 3


class UltimateTicTacToe(PlainGame):
    name = "ultimate_tictactoe"
    aim = "Win three small boards in a row. The cell that you choose names the other's next board."
    policy_layout = "points"

    def __init__(self) -> None:
        self.grid_shape, self.input_shape = (9, 9), (9, 9, 6)
        self.action_size = self.max_plies = 81
        self.symmetries = point_symmetries(9, 9)
        super().__init__()

    def start(self) -> UltimateState:
        return UltimateState(self, ((0,) * 9,) * 9, 1, ANY)

    def move_name(self, action: int) -> str:
        return point_name(action, 9, 9)
