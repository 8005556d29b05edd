"""UCT with random rollouts and proofs, for every game: the compiled search without a network."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

import numpy as np

from agent import Player
from backends import cores
from chance import choose
from game import Game, GameState
from games.plain import PlainGame
from MCTS import MCTS, Decision
from rollouts import rollout_step
from selection import Rule

EXPLORATION = 1.4
"""c of UCB1, for values from -1 to 1."""
AT_ONCE = 512
"""Simulations between two looks at the clock."""
MOST_NODES = 2_000_000
"""Room of one tree under a time limit; a full tree ends the search."""


class RolloutPlayer(Player):
    """A budget of simulations a move in one tree, or of seconds in as many trees as there are cores.

    The trees of a move are independent, their visits are added up (root parallelisation) and the most visited move is
    played, ties at random. A tree is kept from move to move, and its visits count towards the budget. A number of
    simulations gives the same games on every machine; seconds do not.
    """

    def __init__(
        self, game: Game, *, sims: int | None = None, seconds: float | None = None, exploration: float = EXPLORATION
    ) -> None:
        if (sims is None) == (seconds is None):
            raise ValueError("expected either sims or seconds")
        name = f"rollout:{sims}" if sims is not None else f"rollout:{seconds:g}s"
        super().__init__(name, game)
        self._sims, self._seconds, self._exploration = sims, seconds, exploration
        self._lanes = 1 if isinstance(game, PlainGame) else cores()
        self._forests: list[MCTS] = []
        self._slots = 0
        self._make_room(1)

    def _make_room(self, slots: int) -> None:
        """Have trees for so many games at once; those there are start anew when there are too few."""
        if slots <= self._slots:
            return
        self._slots = max(slots, 2 * self._slots)
        sims = self._sims if self._sims is not None else max(MOST_NODES // (2 * self._slots), 1000)
        trees = self._slots if self._seconds is not None else -(-self._slots // self._lanes)
        self._forests = [MCTS(self.game, trees=trees, sims=sims, cache_size=0) for _ in range(self._lanes)]
        for mcts in self._forests:
            mcts.rule = Rule(self._exploration, 0.0, -1.0, 0.0, ucb=True, prove=True)

    def _trees(self, slot: int) -> list[tuple[MCTS, int]]:
        """Return the trees of a game."""
        if self._seconds is not None:
            return [(mcts, slot) for mcts in self._forests]
        return [(self._forests[slot % self._lanes], slot // self._lanes)]

    def new_game(self, slot: int, seed: int) -> None:
        self._make_room(slot + 1)
        for i, (mcts, tree) in enumerate(self._trees(slot)):
            mcts.reset(tree, seed + i)

    def act_many(self, slots: Sequence[int], states: Sequence[GameState], taus: Sequence[float]) -> list[Decision]:
        self._make_room(max(slots) + 1)
        work: dict[int, list[tuple[int, GameState]]] = {i: [] for i in range(self._lanes)}
        for slot, state in zip(slots, states, strict=True):
            for mcts, tree in self._trees(slot):
                work[self._forests.index(mcts)].append((tree, state))
        threads = [threading.Thread(target=self._search, args=(self._forests[i], work[i])) for i in work if work[i]]
        for thread in threads[1:]:
            thread.start()
        threads[0].run()
        for thread in threads[1:]:
            thread.join()
        return [self._decide(slot, tau) for slot, tau in zip(slots, taus, strict=True)]

    def _search(self, mcts: MCTS, work: list[tuple[int, GameState]]) -> None:
        tables = mcts.forest, mcts.rules, mcts.rule, mcts.cache
        room = self._sims if self._sims is not None else 0
        for tree, state in work:
            mcts.set_root(state, tree=tree, sims=room)
            if self._sims is not None:
                rollout_step(*tables, tree, self._sims)
                mcts.check_errors()
                continue
            end = time.perf_counter() + (self._seconds or 0.0) / len(work)
            while time.perf_counter() < end:
                before = _visits(mcts, tree)
                rollout_step(*tables, tree, before + AT_ONCE)
                mcts.check_errors()
                if _visits(mcts, tree) < before + AT_ONCE:
                    break

    def _decide(self, slot: int, tau: float) -> Decision:
        trees = self._trees(slot)
        visits = np.sum([mcts.visit_counts(tree) for mcts, tree in trees], axis=0)
        weights = np.array([_visits(mcts, tree) for mcts, tree in trees], float) + 1
        value = float(np.average([mcts.root_value(tree) for mcts, tree in trees], weights=weights))
        mcts, tree = trees[0]
        action = int(mcts.forest.moves[choose(mcts.forest, tree, float(tau))])
        return Decision(action, visits, value)

    def act(self, state: GameState, tau: float) -> tuple[int, np.ndarray, float, float]:
        """Choose in the game of slot 0."""
        decision = self.act_many([0], [state], [tau])[0]
        return decision.action, decision.visits, decision.value, decision.value


def _visits(mcts: MCTS, tree: int) -> int:
    return int(mcts.forest.nodes["total"][mcts.forest.trees["root"][tree]])
