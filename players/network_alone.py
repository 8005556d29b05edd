"""A network without search: plays the move with the highest prior."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from agent import Agent
from game import GameState
from MCTS import Decision
from players.simple import BatchPlayer
from search.expand import legal_softmax


class PolicyPlayer(BatchPlayer):
    """Plays the legal move with the highest prior; with tau > 0 draws moves with probability ~ prior^(1 / tau)."""

    def __init__(self, agent: Agent) -> None:
        super().__init__(f"net:{agent.name}", agent.game)
        self.agent = agent
        self._rngs = {0: np.random.default_rng(0)}

    def with_network(self, agent: Agent) -> PolicyPlayer:
        """Return such a player with another agent's network and game."""
        found = PolicyPlayer(agent)
        found.name = self.name
        return found

    def new_game(self, slot: int, seed: int) -> None:
        self._rngs[slot] = np.random.default_rng(seed)

    def act_many(self, slots: Sequence[int], states: Sequence[GameState], taus: Sequence[float]) -> list[Decision]:
        values, logits = self.agent.predict(np.stack([state.planes() for state in states]))
        decisions = []
        for slot, state, tau, value, row in zip(slots, states, taus, values, logits, strict=True):
            allowed = np.array(state.allowedActions)
            shifted = row[allowed].astype(np.float64) - row[allowed].max()
            odds = np.exp(shifted / tau) if tau else (shifted == 0).astype(float)
            priors = np.zeros(self.game.action_size)
            priors[allowed] = legal_softmax(row[allowed])
            decisions.append(Decision(int(self._rngs[slot].choice(allowed, p=odds / odds.sum())), priors, float(value)))
        return decisions
