"""Players without a network."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from agent import Player
from game import Game, GameState
from MCTS import Decision


class RandomPlayer(Player):
    """Plays any legal move."""

    def __init__(self, game: Game) -> None:
        super().__init__("random", game)
        self._rngs = {0: np.random.default_rng(0)}

    def new_game(self, slot: int, seed: int) -> None:
        self._rngs[slot] = np.random.default_rng(seed)

    def act_many(self, slots: Sequence[int], states: Sequence[GameState], taus: Sequence[float]) -> list[Decision]:
        decisions = []
        for slot, state in zip(slots, states, strict=True):
            pi = np.zeros(self.game.action_size)
            pi[list(state.allowedActions)] = 1 / len(state.allowedActions)
            decisions.append(Decision(int(self._rngs[slot].choice(state.allowedActions)), pi, 0.0))
        return decisions

    def act(self, state: GameState, tau: float) -> tuple[int, np.ndarray, float, float]:
        """Choose in the game of slot 0."""
        decision = self.act_many([0], [state], [tau])[0]
        return decision.action, decision.visits, 0.0, 0.0
