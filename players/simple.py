"""Base classes of simple players, and the player that moves at random."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from agent import Player
from game import Game, GameState
from MCTS import Decision


class BatchPlayer(Player):
    """A player that moves in many games at once. Override `act_many`."""

    def act(self, state: GameState, tau: float) -> tuple[int, np.ndarray, float, float]:
        """Choose in the game of slot 0."""
        decision = self.act_many([0], [state], [tau])[0]
        return decision.action, decision.visits, decision.value, decision.value


class SimplePlayer(BatchPlayer):
    """A player that moves in one game after the other. Override `choose`."""

    def __init__(self, name: str, game: Game) -> None:
        super().__init__(name, game)
        self._rngs = {0: np.random.default_rng(0)}

    def new_game(self, slot: int, seed: int) -> None:
        self._rngs[slot] = np.random.default_rng(seed)

    def choose(self, state: GameState, rng: np.random.Generator) -> tuple[int, float]:
        """Return a move and the player's value of the position, for the player to move; randomness comes from `rng`."""
        raise NotImplementedError

    def act_many(self, slots: Sequence[int], states: Sequence[GameState], taus: Sequence[float]) -> list[Decision]:
        decisions = []
        for slot, state in zip(slots, states, strict=True):
            action, value = self.choose(state, self._rngs[slot])
            pi = np.zeros(self.game.action_size)
            pi[action] = 1.0
            decisions.append(Decision(action, pi, value))
        return decisions


class RandomPlayer(SimplePlayer):
    """Plays a uniformly random legal move."""

    judges = False

    def __init__(self, game: Game) -> None:
        super().__init__("random", game)

    def choose(self, state: GameState, rng: np.random.Generator) -> tuple[int, float]:
        return int(rng.choice(state.allowedActions)), 0.0
