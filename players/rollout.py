"""UCT with random rollouts and proofs, for every game: the compiled search without a network."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence

import numpy as np

from compiled import call
from config import SearchSettings
from game import Game, GameState
from games.plain import PlainGame
from MCTS import MCTS, Decision, Edge, Node
from network.predictor import cores
from players.simple import BatchPlayer
from search.many_trees import room_for_trees
from search.pipeline import shared_run
from search.rollouts import rollout_step
from search.select import puct_of
from search.solving.proofs import WIN
from search.tables import ENDLESS, trees_in
from system.plugins import load, plugins

SEARCH = SearchSettings(cpuct=1.4, epsilon=0.0, fpu_reduction=-1.0, look_ahead=0, endgame=0)
"""Uses proofs; cpuct is the c of UCB1, for values from -1 to 1."""
FEW = 8
"""Simulations before the first check of the clock; later, as many as take about LOOK, which depends on the game."""
LOOK = 0.01
"""Seconds between two checks of the clock."""
ANYHOW = 512
"""Default number of simulations of `think`."""
TREES_BYTES = 2**30
"""Memory limit for the trees of one move under a time limit."""


EndOfMove = Callable[[Game, GameState, int, Callable[[int], float]], int]
"""(game, state, the move that the search chose, worth of a move) -> the move to play. worth: the mean value of all
searches, in [-1, 1] for the player to move, or a proven one; 1 for a move that none of them visited."""


def end_of_move(game: Game) -> EndOfMove | None:
    """Return the rule that a plugin has for the end of a move in a game; None without one."""
    for plugin, found in plugins().items():
        if game.name in found.end_of_move:
            rule: EndOfMove = load(plugin, found.end_of_move[game.name])
            return rule
    return None


def search(mcts: MCTS, most: int, over: Callable[[], bool]) -> None:
    """Search until the root has `most` visits or is proven, or `over()` is true. A full tree makes room."""
    full_at, step, tables = -1, FEW, (mcts.forest, mcts.rules, mcts.puct, mcts.cache)
    run = shared_run(*tables)
    while mcts.root.visits < most and not over():
        began = time.monotonic()
        goal = min(mcts.root.visits + step, most)
        call(rollout_step, *tables, run, 0, goal)
        mcts.check_errors()  # a plain-Python game drops its random games' positions
        if mcts.root.visits < goal:
            if not mcts.forest.trees["full"][0] or mcts.root.visits == full_at:
                break
            full_at = mcts.root.visits
            mcts.drop_far()
        step = 2 * step if time.monotonic() - began < LOOK else max(step // 2, 1)


def _worth(edges: Sequence[dict[int, Edge]], action: int) -> float:
    """Return the mean value of a move over all searches, or its value if one has proven it, or 1 if none visited it."""
    found = [edge[action] for edge in edges if action in edge]
    proven = next((edge.proven for edge in found if edge.proven is not None), None)
    if proven is not None:
        return proven
    visits = sum(edge.stats["N"] for edge in found)
    return sum(edge.stats["W"] for edge in found) / visits if visits else 1.0


class RolloutPlayer(BatchPlayer):
    """Has a budget of simulations per move in one tree, or of seconds in one tree per core.

    The trees of a move are independent; their visits are added up (root parallelisation) and the most visited move is
    played, ties at random. A tree is kept from move to move, and its visits count towards the budget. A number of
    simulations gives the same games on every machine; seconds do not. Seconds are per move, so games of a match are
    then played one after the other.
    """

    def __init__(
        self, game: Game, *, sims: int | None = None, seconds: float | None = None, end_rule: bool = True
    ) -> None:
        """Make a player. `end_rule`: follow the game's rule for the end of a move, if it has one (`end_of_move`)."""
        if (sims is None) == (seconds is None):
            raise ValueError("expected either sims or seconds")
        name = f"rollout:{sims}" if sims is not None else f"rollout:{seconds:g}s"
        super().__init__(name, game)
        self._sims, self._seconds = sims, seconds
        self._lanes = 1 if isinstance(game, PlainGame) else cores()
        self._interrupted = False
        self._end_of_move = end_of_move(game) if end_rule else None
        self._games: dict[int, list[MCTS]] = {}
        self.at_once = 1 if sims is None else int(np.clip(trees_in(2 * TREES_BYTES, game, sims), 2, self.at_once))
        self.stopped: Callable[[], bool] = lambda: False
        """Called repeatedly; True ends the search early."""

    def budget(self) -> tuple[int, float]:
        """Return the simulations and the seconds of a move; `ENDLESS` and infinity: no limit."""
        return self._sims or ENDLESS, self._seconds or math.inf

    def trees(self, slot: int) -> list[MCTS]:
        """Return the independent searches of a game; they are made on demand."""
        if slot not in self._games:
            count = 1 if self._sims is not None else self._lanes
            self._games[slot] = [self._tree(self._sims or ENDLESS, lane) for lane in range(count)]
        return self._games[slot]

    def _tree(self, sims: int, seed: int) -> MCTS:
        most = room_for_trees() if self._seconds is None else TREES_BYTES // self._lanes
        mcts = MCTS(self.game, SEARCH, sims=sims, cache_size=0, seed=seed, most=most)
        mcts.puct = puct_of(SEARCH, ucb=True)
        return mcts

    def new_game(self, slot: int, seed: int) -> None:
        for i, mcts in enumerate(self.trees(slot)):
            mcts.reset(0, seed + i)

    def act_many(self, slots: Sequence[int], states: Sequence[GameState], taus: Sequence[float]) -> list[Decision]:
        jobs = [[(mcts, state) for mcts in self.trees(slot)] for slot, state in zip(slots, states, strict=True)]
        if self._sims is not None:  # one tree per game: the games share the cores
            jobs = [[job[0] for job in jobs]]
        for job in jobs:
            self._in_threads([job[lane :: self._lanes] for lane in range(self._lanes)])
        for slot in slots:
            for mcts in self.trees(slot):
                mcts.check_errors()
        return [self._decide(slot, state, tau) for slot, state, tau in zip(slots, states, taus, strict=True)]

    def _in_threads(self, work: Sequence[Sequence[tuple[MCTS, GameState]]]) -> None:
        errors: list[BaseException] = []

        def run(part: Sequence[tuple[MCTS, GameState]]) -> None:
            try:
                self._search(part)
            except BaseException as error:
                self._interrupted = True
                errors.append(error)

        threads = [threading.Thread(target=run, args=(part,), name="rollout_search") for part in work if part]
        self._interrupted = False
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        except BaseException:
            self._interrupted = True
            for thread in threads:
                if thread.ident is not None:  # a search still running would write into the next one's tree
                    thread.join()
            raise
        if errors:
            raise errors[0]

    def _search(self, work: Sequence[tuple[MCTS, GameState]]) -> None:
        for mcts, state in work:
            seconds = float("inf") if self._seconds is None else self._seconds
            end = min(time.monotonic() + seconds, self.deadline)
            mcts.set_root(state, sims=self._sims or 0)
            most = self._sims if self._sims is not None else 2**62

            def over(mcts: MCTS = mcts, end: float = end) -> bool:
                return self._interrupted or mcts.root.visits > 0 and (time.monotonic() > end or self.stopped())

            search(mcts, most, over)

    def think(self, state: GameState, sims: int | None = None, stop: Callable[[], bool] | None = None) -> Node:
        """Search one tree until its root has `sims` visits, kept visits included, or is proven; return the root.

        `stop` is called repeatedly; True ends the search early. The tree is a new one if the last has no room for that.
        """
        mcts = self.trees(0)[0]
        goal = sims or self._sims or ANYHOW
        if not mcts.fits(goal):
            larger = self._tree(goal, 0)
            larger.forest.trees["rng"] = mcts.forest.trees["rng"]
            mcts = self._games[0][0] = larger
        mcts.set_root(state, sims=goal)

        def over() -> bool:
            mcts.check_errors()
            return bool(stop and stop())

        search(mcts, goal, over)
        mcts.check_errors()
        return mcts.root

    def _decide(self, slot: int, state: GameState, tau: float) -> Decision:
        searches = self.trees(slot)
        visits = np.sum([mcts.visit_counts() for mcts in searches], axis=0)
        value = np.average([mcts.root_value() for mcts in searches], weights=[1 + m.root.visits for m in searches])
        known = next((mcts for mcts in searches if mcts.root._row["proven"]), searches[0])
        if known.root._row["proven"]:
            value = known.root_value()
        if len(searches) > 1 and tau == 0 and not known.root._row["proven"]:
            open_visits = visits.copy()
            for mcts in searches:  # a move that one tree has proven to lose is lost
                open_visits[[action for action, edge in mcts.root.edges if edge.proven == -1.0]] = 0
            most = open_visits if open_visits.any() else visits
            best = np.flatnonzero(most == most.max())
            rng = np.random.default_rng(int(searches[0].forest.trees[0]["rng"]))
            action = int(rng.choice(best))
        else:
            action = known.decide(0, tau).action
        if self._end_of_move is not None and known.root._row["proven"] != WIN:
            edges = [dict(mcts.root.edges) for mcts in searches]
            action = self._end_of_move(self.game, state, action, lambda move: _worth(edges, move))
        return Decision(action, visits, float(value))
