"""Strip: a game to check signs with. Five points in a row; a stone on an end gives another turn; most stones win.

Turns do not alternate, a draw is impossible, and the game is small enough to know every value.
"""

from __future__ import annotations

import numpy as np

from game import GameState, Symmetry
from games.plain import PlainGame

POINTS = 5


class StripState(GameState):
    """One position."""

    def __init__(self, game: Strip, cells: tuple[int, ...] = (0,) * POINTS, player: int = 1) -> None:
        self.game, self.cells, self.playerTurn = game, cells, player
        self.id = (cells, player)
        self.isEndGame = 0 not in cells
        self.allowedActions = [i for i in range(POINTS) if cells[i] == 0]
        self.value = float(np.sign(sum(cells)) * player) if self.isEndGame else 0.0

    def takeAction(self, action: int) -> tuple[GameState, float, bool]:
        cells = (*self.cells[:action], self.playerTurn, *self.cells[action + 1 :])
        again = action in (0, POINTS - 1)
        state = StripState(self.game, cells, self.playerTurn if again else -self.playerTurn)
        return state, state.value, state.isEndGame

    def planes(self) -> np.ndarray:
        """Stones of the player to move, of the other."""
        board = np.array([self.cells]) * self.playerTurn
        return np.stack([board == 1, board == -1], axis=-1).astype(np.uint8)

    def render(self) -> str:
        return " ".join(self.game.pieces[cell] for cell in self.cells)


class Strip(PlainGame):
    """The rules of the game."""

    name = "strip"

    def __init__(self) -> None:
        self.grid_shape, self.input_shape = (1, POINTS), (1, POINTS, 2)
        self.action_size = self.max_plies = POINTS
        back = np.arange(POINTS)[::-1].copy()
        self.symmetries = [Symmetry(back, back)]
        super().__init__()

    def start(self) -> GameState:
        return StripState(self)
