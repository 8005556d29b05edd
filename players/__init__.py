"""Players without a network."""

from __future__ import annotations

import numpy as np

from agent import Player
from game import Game, GameState


class RandomPlayer(Player):
    """Plays any legal move."""

    def __init__(self, game: Game) -> None:
        super().__init__("random", game)
        self._rng = np.random.default_rng(0)

    def new_game(self, slot: int, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def act(self, state: GameState, tau: float) -> tuple[int, np.ndarray, float, float]:
        pi = np.zeros(self.game.action_size)
        pi[list(state.allowedActions)] = 1 / len(state.allowedActions)
        return int(self._rng.choice(state.allowedActions)), pi, 0.0, 0.0
