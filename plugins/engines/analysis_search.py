"""Positions of several queries searched side by side: one tree each, and the evaluations of all in one batch.

Positions share a group of trees if one network evaluates them and their rows have one form; komi is in the row.
"""

from __future__ import annotations

import heapq
import itertools
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator

import numpy as np

from agent import Agent
from config import UserError
from game import CompiledState, Game, GameState
from MCTS import MCTS
from plugins.engines.analysis_query import Query, Turn
from plugins.engines.root_moves import search_only
from plugins.engines.serving import KEPT, PlayerSource
from plugins.engines.snapshot import Snapshot, snapshot_of
from plugins.engines.territory import Territory
from search.solving.proofs import UNPROVEN
from search.tables import ENDLESS

ROOM = 2**31
"""Memory limit of a group's trees in bytes; full ones drop what is far from their main lines."""
LEAVES = 8
"""Leaves of a tree that wait for the network at once."""
LEAST = 0.05
"""Seconds of a search between two reports, however long these take."""
SLICE = 0.05
"""Seconds that a group of trees searches while another one waits."""


class Task:
    """One position of a query."""

    def __init__(self, query: Query, turn: Turn, group: Group, number: int) -> None:
        self.query, self.turn, self.group, self.number = query, turn, group, number
        self.cancelled = False
        self.found: Snapshot | None = None
        """The latest result; None before any."""
        self.next_report = self.end = float("inf")

    def begin(self) -> None:
        now = time.monotonic()
        self.next_report, self.end = now + self.query.every, now + self.query.seconds

    def __lt__(self, other: Task) -> bool:
        return (-self.turn.priority, self.number) < (-other.turn.priority, other.number)


class Group:
    """Trees for positions that one network evaluates."""

    def __init__(self, agent: Agent, count: int) -> None:
        self.agent = agent
        self.trees = MCTS(
            agent.game, agent.search, trees=count, leaves=LEAVES, sims=ENDLESS, cache_size=1 << 16, most=ROOM
        )
        self.running: dict[int, Task] = {}
        """{tree: its position}"""
        self._territories: OrderedDict[float | None, Territory] = OrderedDict()
        """{komi: what counts}, those used last at the end"""

    @property
    def full(self) -> bool:
        return len(self.running) == len(self.trees.forest.trees)

    def add(self, task: Task) -> None:
        """Begin to search a position."""
        tree = next(t for t in range(len(self.trees.forest.trees)) if t not in self.running)
        self.trees.plant(self._own(task.turn.state), tree=tree)
        if task.turn.allowed is not None:
            search_only(self.trees, tree, task.turn.allowed)
        self.running[tree] = task
        task.begin()

    def _own(self, state: GameState) -> GameState:
        """Return a state as one of this group's game: komi is in its row."""
        if not isinstance(state, CompiledState):
            raise UserError("expected a game with compiled rules")
        return self.agent.game.state_of(state.row)

    def search(self, stop: Callable[[], bool]) -> None:
        """Search until `stop`, or until a position is done or due for a report."""
        trees = np.array(sorted(self.running), np.int32)
        began = time.monotonic()
        targets = np.array([min(self.running[t].query.visits, ENDLESS) for t in trees])

        def over() -> bool:
            now = time.monotonic()
            roots = self.trees.forest.trees["root"][trees]
            done = (self.trees.forest.nodes["total"][roots] >= targets).any()
            due = any(now >= min(task.next_report, task.end) for task in self.running.values())
            return bool(done) or (due and now - began >= LEAST) or stop()

        self.trees.search(self.agent.predictor, targets, trees.tolist(), over)  # type: ignore[arg-type]

    def look(self) -> Iterator[tuple[Task, bool]]:
        """Yield (position, whether it is done) for those to be reported; trees of those that are done become free."""
        now, f = time.monotonic(), self.trees.forest
        for tree, task in list(self.running.items()):
            node = f.nodes[f.trees["root"][tree]]
            most = min(task.query.visits, ENDLESS)
            late = now >= task.end and node["total"] > 0  # a network's first batch may take longer
            done = task.cancelled or node["total"] >= most or node["proven"] != UNPROVEN or late
            if not done and now < task.next_report:
                continue
            task.found = snapshot_of(self.trees, tree)
            if done:
                del self.running[tree]
                self.trees.reset(tree, task.number)
            yield task, done
            task.next_report = max(task.next_report + task.query.every, now)

    def territory(self, game: Game) -> Territory:
        if game.komi not in self._territories:
            known = next(iter(self._territories.values()), None)
            self._territories[game.komi] = known.of_game(game) if known else Territory(self.agent, game)
        self._territories.move_to_end(game.komi)
        if len(self._territories) > KEPT:
            self._territories.popitem(last=False)
        return self._territories[game.komi]


class Pool:
    """All positions that wait or are searched."""

    def __init__(self, source: PlayerSource, count: int) -> None:
        """Make a pool. count: positions that are searched side by side."""
        self._source, self._count = source, count
        self._waiting: list[Task] = []
        self._groups: OrderedDict[tuple[int, int], Group] = OrderedDict()
        """Those used last at the end."""
        self._numbers = itertools.count()
        self._turn = 0

    def add(self, query: Query) -> str:
        """Take a query in; return a note for its user, perhaps empty. Raise `UserError` if nobody plays its game."""
        group = self._group(query.game)
        for turn in query.turns:
            heapq.heappush(self._waiting, Task(query, turn, group, next(self._numbers)))
        return self._source.note

    def _group(self, game: Game) -> Group:
        """Return the trees for a game; raise `UserError` if no network plays it."""
        agent = self._source.player(game)
        if not isinstance(agent, Agent):
            raise UserError(f"expected a network that analyses, got {agent.name}")
        key = id(agent.predictor), len(game.row_of(game.start()))
        if key not in self._groups:
            self._groups[key] = Group(agent, self._count)
        self._groups.move_to_end(key)
        self._drop_idle(self._groups[key])
        return self._groups[key]

    def _drop_idle(self, wanted: Group) -> None:
        """Drop the trees that were not used for longest and have nothing to search, down to `KEPT` of them."""
        busy = {id(task.group) for task in self.tasks()} | {id(wanted)}
        idle = [key for key, group in self._groups.items() if id(group) not in busy]
        for key in idle[: max(len(self._groups) - KEPT, 0)]:
            del self._groups[key]

    def warm(self, game: Game) -> None:
        """Compile and load what a first search of a game needs."""
        group = self._group(game)
        trees = range(len(group.trees.forest.trees))
        for tree in trees:
            group.trees.plant(game.start(), tree=tree)
        group.trees.search(group.agent.predictor, LEAVES, list(trees))
        for tree in trees:
            group.trees.reset(tree, tree)

    @property
    def idle(self) -> bool:
        return not self._waiting and not any(group.running for group in self._groups.values())

    def tasks(self) -> list[Task]:
        """Return all positions that are not done."""
        return [*self._waiting, *(task for group in self._groups.values() for task in group.running.values())]

    def drop_cancelled(self) -> list[Task]:
        """Take the positions that were not begun and are no longer wanted out; return them."""
        dropped = [task for task in self._waiting if task.cancelled]
        self._waiting = [task for task in self._waiting if not task.cancelled]
        heapq.heapify(self._waiting)
        return dropped

    def clear_cache(self) -> None:
        for group in self._groups.values():
            group.trees.clear_cache()

    def step(self, stop: Callable[[], bool]) -> Iterator[tuple[Task, bool]]:
        """Search for a while; yield (position, whether it is done) for those to be reported."""
        left = []
        while self._waiting:
            task = heapq.heappop(self._waiting)
            if task.group.full:
                left.append(task)
            else:
                task.group.add(task)
        self._waiting = left
        heapq.heapify(self._waiting)
        busy = [group for group in self._groups.values() if group.running]
        if not busy:
            return
        self._turn += 1
        group = busy[self._turn % len(busy)]
        end = time.monotonic() + (SLICE if len(busy) > 1 else float("inf"))
        group.search(lambda: stop() or time.monotonic() > end or any(t.cancelled for t in group.running.values()))
        yield from group.look()
