"""Breakthrough: pawns go one row forward, straight or diagonally; who reaches the last row wins.

Only a diagonal step captures, only a straight one must be free. A player without a pawn has lost too. A move is the
pawn's cell and the letter of the column to which it goes: b2c. The game is D. Troyka's (2000).
"""

from __future__ import annotations

import numpy as np

from config import UserError
from game import GameState, Symmetry, illegal_move
from games.boards import LETTERS, draw_named, point_name
from games.plain import PlainGame


class BreakthroughState(GameState):
    def __init__(self, game: Breakthrough, cells: tuple[int, ...], player: int, last: int = -1) -> None:
        self.game, self.cells, self.playerTurn, self.last = game, cells, player, last
        self.id = (cells, player)
        # The first player goes up, from the last rows of `cells` to the first ones.
        goal = cells[: game.size] if player == -1 else cells[-game.size :]
        self.isEndGame = -player in goal or player not in cells
        self.value = -1.0 if self.isEndGame else 0.0
        self.allowedActions = [] if self.isEndGame else [a for a in range(game.action_size) if self.may_be_played(a)]

    def may_be_played(self, action: int) -> bool:
        to = self.game.target(action, self.playerTurn)
        if self.cells[action // 3] != self.playerTurn or to is None:
            return False
        return self.cells[to] == 0 or (action % 3 != 1 and self.cells[to] == -self.playerTurn)

    def takeAction(self, action: int) -> tuple[BreakthroughState, float, bool]:
        if action not in self.allowedActions:
            raise UserError(illegal_move(self.game, self, action))
        to, cells = self.game.target(action, self.playerTurn), list(self.cells)
        cells[action // 3], cells[to] = 0, self.playerTurn
        state = BreakthroughState(self.game, tuple(cells), -self.playerTurn, to)
        return state, state.value, state.isEndGame

    def planes(self) -> np.ndarray:
        """Return own pawns, the other's, whether the player to move goes up, and ones."""
        board = np.reshape(self.cells, self.game.grid_shape) * self.playerTurn
        up = np.full_like(board, self.playerTurn == 1)
        return np.stack([board == 1, board == -1, up, np.ones_like(board)], axis=-1).astype(np.uint8)

    def render(self) -> str:
        board = np.reshape(self.cells, self.game.grid_shape)
        return "\n".join(draw_named(board, self.last, self.game.pieces))


class Breakthrough(PlainGame):
    name = "breakthrough"
    aim = "Bring a pawn to the last row: one step forward each move, diagonally also to capture."
    policy_layout = "other"

    def __init__(self, size: int = 6) -> None:
        if not 4 <= size <= 12:
            raise UserError(f"breakthrough: expected a size from 4 to 12, got {size}")
        self.size = size
        self.grid_shape, self.input_shape = (size, size), (size, size, 4)
        self.action_size = size * size * 3  # an action is cell * 3 + side: 0 to the left, 1 straight, 2 to the right
        self.max_plies = 4 * size * size  # each move brings one of 4 * size pawns a row on
        points = np.arange(size * size).reshape(size, size)
        mirror = points[:, ::-1].ravel()
        sides = mirror[:, None] * 3 + np.array([2, 1, 0])
        self.symmetries = [Symmetry(mirror.copy(), sides.ravel())]
        super().__init__()

    def target(self, action: int, player: int) -> int | None:
        """Return the cell to which a pawn goes; None if that is off the board."""
        r, c = divmod(action // 3, self.size)
        r, c = r - player, c + action % 3 - 1
        return r * self.size + c if 0 <= r < self.size and 0 <= c < self.size else None

    def start(self) -> BreakthroughState:
        rows = 2 * self.size
        return BreakthroughState(self, (-1,) * rows + (0,) * (self.size * (self.size - 4)) + (1,) * rows, 1)

    def move_name(self, action: int) -> str:
        column = action // 3 % self.size + action % 3 - 1
        to = "<" if column < 0 else ">" if column >= self.size else LETTERS[column]  # the first two are never legal
        return point_name(action // 3, self.size, self.size) + to
