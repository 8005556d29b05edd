"""A network that errs like a person: it draws among the moves that look good to it, so its mistakes are plausible."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from agent import Agent, Player
from compiled import call, compiled
from game import NO_WIN, NOT_TOLD, Game, GameState
from MCTS import Decision
from players.levels import Level
from players.network_alone import PolicyPlayer
from players.simple import BatchPlayer
from search.expand import legal_softmax
from search.many_games import ManyGames
from search.many_trees import ManyTrees

LEAST = 0.1
"""Moves whose odds are below this share of the best move's are not drawn: no blunder comes from nowhere."""

MOST = 8
"""Moves that a player without a search draws among, however high its temperature: those that look best."""


def draw_odds(weights: np.ndarray, temperature: float) -> np.ndarray:
    """Return probabilities ~ weights^(1 / temperature), 0 where these odds are below LEAST of the largest.

    >>> draw_odds(np.array([0.8, 0.2, 0.01]), 1).round(2).tolist()
    [0.8, 0.2, 0.0]
    """
    odds = (weights / weights.max()) ** (1 / temperature)
    odds[odds < LEAST] = 0.0
    probabilities: np.ndarray = odds / odds.sum()
    return probabilities


@compiled
def named_win(rules, row):
    """Return a move that wins at once, or NO_WIN; NOT_TOLD by a game that names none."""
    return rules.winning(row)


def winning_move(game: Game, state: GameState) -> int | None:
    """Return a move that wins at once, if there is one in a game that is won by a move."""
    named = int(call(named_win, game.rules, game.row_of(state)))
    if named != NOT_TOLD:
        return None if named == NO_WIN else named
    for action in state.allowedActions if game.won_by_a_move else ():
        after = state.takeAction(action)[0]
        if after.isEndGame and after.value * after.playerTurn == state.playerTurn:
            return int(action)
    return None


class TemperedPlayer(BatchPlayer):
    """Draws its moves with a temperature: by the visits of a network's search or, with sims = 0, by its priors.

    It takes a win at once, in games that are won by a move, and plays no move that its search has proven to be worse.
    """

    def __init__(self, agent: Agent, sims: int, temperature: float, slips: float = 0.0) -> None:
        """Make a player with the network and the search settings of `agent`, and trees of its own.

        slips: share of moves, from 0 to 1, that it draws from all that are allowed, as somebody does who overlooks what
        the position asks for; with sims = 0 only.
        """
        if temperature <= 0:
            raise ValueError(f"expected `temperature` > 0, got {temperature}")
        if not 0 <= slips <= 1 or slips and sims:
            raise ValueError(f"expected `slips` from 0 to 1, 0 with a search, got {slips} with {sims} simulations")
        super().__init__(agent.name, agent.game)
        self.sims, self.temperature, self.slips = sims, temperature, slips
        self.at_once = agent.at_once
        self.agent = agent
        self._games = ManyGames(agent.game, agent.search, cache_size=1 << 14)
        self._rngs = {0: np.random.default_rng(0)}

    def with_network(self, agent: Agent) -> TemperedPlayer:
        """Return such a player with another agent's network and game."""
        found = TemperedPlayer(agent, self.sims, self.temperature, self.slips)
        found.name = self.name
        return found

    def new_games(self, slots: int) -> None:
        if self.sims:
            self._games.new_games(slots, self.sims)

    def new_game(self, slot: int, seed: int) -> None:
        self._rngs[slot] = np.random.default_rng(seed)
        self.new_games(slot + 1)
        self._games.new_game(slot, seed)

    def act_many(self, slots: Sequence[int], states: Sequence[GameState], taus: Sequence[float]) -> list[Decision]:
        if not self.sims:
            values, logits = self.agent.predict(np.stack([state.planes() for state in states]))
            return [self._by_priors(*job) for job in zip(slots, states, values, logits, strict=True)]
        self.new_games(max(slots) + 1)
        trees = self._games.search(slots, states, self.agent.predictor, self.sims)
        return [self._by_visits(trees, slot) for slot in slots]

    def _by_priors(self, slot: int, state: GameState, value: float, logits: np.ndarray) -> Decision:
        allowed = np.array(state.allowedActions)
        priors = np.zeros(self.game.action_size)
        priors[allowed] = legal_softmax(logits[allowed])
        action = winning_move(self.game, state)
        if action is None and self.slips and self._rngs[slot].random() < self.slips:
            action = int(self._rngs[slot].choice(allowed))
        if action is None:
            action = self._draw(slot, np.where(priors >= np.sort(priors)[-MOST:].min(), priors, 0.0))
        return Decision(action, priors, float(value))

    def _by_visits(self, trees: ManyTrees, slot: int) -> Decision:
        best, kept = trees.decide(slot, 0.0), trees.kept_visits(slot)
        return best._replace(action=self._draw(slot, kept)) if kept.any() else best

    def _draw(self, slot: int, weights: np.ndarray) -> int:
        return int(self._rngs[slot].choice(len(weights), p=draw_odds(weights, self.temperature)))


def of_level(level: Level, agent: Agent) -> Player:
    """Return the player of a level of the network; `agent` has it, with the level's settings and simulations."""
    if level.temperature:
        return TemperedPlayer(agent, level.sims, level.temperature, level.slips)
    return agent if level.sims else PolicyPlayer(agent)
