"""Domineering: in turn, put a domino on two free cells, the first player's upright, the other's flat.

Who cannot move loses. A move is named by the domino's upper or left cell, with a bar: b3| stands, b3- lies. The game is
G. Andersson's; D. Breuker, J. Uiterwijk and J. van den Herik (2000) solved its boards: of the square ones to 6 x 6 only
5 x 5 is won by the second player.
"""

from __future__ import annotations

import numpy as np

from config import UserError
from game import GameState, Symmetry, illegal_move
from games.boards import draw_named, point_name
from games.plain import PlainGame


class DomineeringState(GameState):
    def __init__(self, game: Domineering, cells: tuple[int, ...], player: int) -> None:
        self.game, self.cells, self.playerTurn = game, cells, player  # cells: 1 or -1 under a domino, else 0
        self.id = (cells, player)
        mine = range(game.upright) if player == 1 else range(game.upright, game.action_size)
        self.allowedActions = [a for a in mine if not any(cells[i] for i in game.covers[a])]
        self.isEndGame = not self.allowedActions
        self.value = -1.0 if self.isEndGame else 0.0

    def takeAction(self, action: int) -> tuple[DomineeringState, float, bool]:
        if action not in self.allowedActions:
            raise UserError(illegal_move(self.game, self, action))
        cells = list(self.cells)
        for i in self.game.covers[action]:
            cells[i] = self.playerTurn
        state = DomineeringState(self.game, tuple(cells), -self.playerTurn)
        return state, state.value, state.isEndGame

    def planes(self) -> np.ndarray:
        """Return what is covered, whether the player to move has the upright dominoes, and ones."""
        board = np.reshape(self.cells, self.game.grid_shape) != 0
        upright = np.full_like(board, self.playerTurn == 1)
        return np.stack([board, upright, np.ones_like(board)], axis=-1).astype(np.uint8)

    def render(self) -> str:
        board = np.reshape(self.cells, self.game.grid_shape)
        return "\n".join(draw_named(board, -1, {1: "|", 0: ".", -1: "="}))


class Domineering(PlainGame):
    name = "domineering"
    aim = "The first player's dominoes stand, the other's lie; who has no room for one loses."
    policy_layout = "other"

    def __init__(self, size: int = 5) -> None:
        if not 2 <= size <= 10:
            raise UserError(f"domineering: expected a size from 2 to 10, got {size}")
        self.grid_shape, self.input_shape = (size, size), (size, size, 3)
        points = np.arange(size * size).reshape(size, size)
        stand = zip(points[:-1].ravel().tolist(), points[1:].ravel().tolist(), strict=True)
        lie = zip(points[:, :-1].ravel().tolist(), points[:, 1:].ravel().tolist(), strict=True)
        self.covers = [*stand, *lie]  # of each action: its two cells
        self.upright = size * (size - 1)  # that many actions come first, then the flat ones
        self.action_size = 2 * self.upright
        self.max_plies = size * size // 2
        # Mirrors only: a quarter turn would make upright dominoes flat.
        self.symmetries = [self.mirrored(form) for form in (points[::-1], points[:, ::-1], points[::-1, ::-1])]
        super().__init__()

    def mirrored(self, form: np.ndarray) -> Symmetry:
        """Return the symmetry that shows old point `form[r, c]` at (r, c); a domino goes where its cells go."""
        old = form.ravel().tolist()
        actions = [self.covers.index((min(old[i], old[j]), max(old[i], old[j]))) for i, j in self.covers]
        return Symmetry(form.ravel().copy(), np.array(actions))

    def start(self) -> DomineeringState:
        return DomineeringState(self, (0,) * (self.grid_shape[0] * self.grid_shape[1]), 1)

    def move_name(self, action: int) -> str:
        return point_name(self.covers[action][0], *self.grid_shape) + ("|" if action < self.upright else "-")
