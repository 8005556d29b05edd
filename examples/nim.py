"""Nim: heaps of pieces; in turn, take any number from one heap. Who takes the last piece wins.

A move is a heap's letter and how many are taken: b3. The heaps hold 1, 3, 5 and 7 pieces; `Nim(heaps=3)` has the first
three. C. Bouton (1901): who is to move has lost if the heaps' sizes, in binary, have an XOR of 0.
"""

from __future__ import annotations

import numpy as np

from config import UserError
from game import GameState, illegal_move
from games.plain import PlainGame

MOST = 7
"""The columns of the board: a heap is a row of it, its pieces at the left."""


class NimState(GameState):
    def __init__(self, game: Nim, heaps: tuple[int, ...], player: int) -> None:
        self.game, self.heaps, self.playerTurn = game, heaps, player
        self.id = (heaps, player)
        # An action is heap * MOST + (pieces taken - 1).
        self.allowedActions = [heap * MOST + i for heap, size in enumerate(heaps) for i in range(size)]
        self.isEndGame = sum(heaps) == 0
        self.value = -1.0 if self.isEndGame else 0.0  # the other has taken the last piece

    def takeAction(self, action: int) -> tuple[NimState, float, bool]:
        if action not in self.allowedActions:
            raise UserError(illegal_move(self.game, self, action))
        heap, taken = action // MOST, action % MOST + 1
        heaps = (*self.heaps[:heap], self.heaps[heap] - taken, *self.heaps[heap + 1 :])
        state = NimState(self.game, heaps, -self.playerTurn)
        return state, state.value, state.isEndGame

    def planes(self) -> np.ndarray:
        """Return the pieces, and ones; both sides have the same moves, so nothing says who is to move."""
        pieces = np.arange(MOST) < np.array(self.heaps)[:, None]
        return np.stack([pieces, np.ones_like(pieces)], axis=-1).astype(np.uint8)

    def render(self) -> str:
        return "\n".join(f"{'abcd'[heap]} {size}  {'o' * size}" for heap, size in enumerate(self.heaps))


class Nim(PlainGame):
    name = "nim"
    aim = "Take any number from one heap; who takes the last piece wins."
    policy_layout = "other"

    def __init__(self, heaps: int = 4) -> None:
        if not 1 <= heaps <= 4:
            raise UserError(f"nim: expected 1 to 4 heaps, got {heaps}")
        self.heaps = (1, 3, 5, 7)[:heaps]
        self.grid_shape, self.input_shape = (heaps, MOST), (heaps, MOST, 2)
        self.action_size = heaps * MOST
        self.max_plies = sum(self.heaps)
        self.symmetries = []
        super().__init__()

    def start(self) -> NimState:
        return NimState(self, self.heaps, 1)

    def move_name(self, action: int) -> str:
        return "abcd"[action // MOST] + str(action % MOST + 1)
