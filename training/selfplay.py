"""Self-play with many games in flight: each tree plays its own game, move after move, inside compiled code.

A game that finishes its search plays the move and continues. A finished game is handed over and its tree starts the
next. A game depends on its seed and the network alone, not on the games next to it.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np

from compiled import bind, call
from config import Config, UserError
from game import Game
from games.plain import PlainGame
from network.device import Plan
from network.predictor import STEADY, padded, side_by_side
from search.evaluation_cache import FOUND, LOOKED_UP, SIMULATIONS
from search.many_trees import Evaluator, ManyTrees
from search.pipeline import shared_run
from search.speed.bound_arguments import BoundArguments
from search.tables import TREE
from storage.game_exchange import fault as fault_by_rules
from storage.game_record import GameRecord
from training.selfplay_step import GamesInFlight, budgets, compiled_settings, draw_openings, selfplay_step

PAUSE = 0.2
"""Finished games are handed over this often, in seconds, because the receiving thread competes for the same cores."""
SPARE_BUFFERS = 16
"""Extra record buffers of a thread, or a quarter of its trees if that is more: for finished games not yet collected."""
WAIT = 0.005
"""Seconds after which a thread without games checks for new ones."""


def game_seed(run: str, iteration: int, index: int) -> int:
    """Return the random seed of a game, which identifies it."""
    digest = hashlib.sha256(f"{run}/{iteration}/{index}".encode()).digest()
    return int.from_bytes(digest[:8], "little")


def longest_first(config: Config, run: str, iteration: int, games: Sequence[int]) -> list[int]:
    """Return the indices of games in an order in which those with the longest openings come last.

    These end soonest, so batches stay fuller until the iteration's last game is over.
    """
    seeds = np.array([game_seed(run, iteration, i) for i in games], np.uint64)
    plies = np.zeros(len(seeds), np.int64)
    call(draw_openings, np.zeros(1, TREE), compiled_settings(config), seeds, plies)
    return [games[i] for i in np.argsort(plies, kind="stable").tolist()]


class SelfPlay:
    """The games in flight, divided among threads; made once and used for every iteration.

    Each thread searches its share of the games and calls the network itself, so with a predictor of as many streams no
    core waits for another. Compiled search and network run outside the interpreter's lock.
    """

    def __init__(self, game: Game, config: Config, *, threads: int = 1, plan: Plan | None = None) -> None:
        """Make room for the games in flight of the settings, divided among threads, or for those of a plan."""
        share, threads = (plan.games, plan.threads) if plan else side_by_side(game, config.selfplay, threads)
        self.workers = [_SearchThread(game, config, share, config.cache_size // threads) for _ in range(threads)]

    def play(
        self,
        predictor: Evaluator,
        games: Sequence[tuple[int, int]],
        *,
        stop: Callable[[], bool] = lambda: False,
        together: Callable[[], bool] = lambda: False,
    ) -> Iterator[GameRecord]:
        """Play the games given as (index, seed) and yield each when it ends, in no fixed order.

        `stop` is called once a batch; when it is true, games in flight are dropped. A deque is not copied: games added
        to it meanwhile are played too. `together` is called once a batch when no game is left to begin. True: games in
        flight end as close together as they can, which takes the least time for all (see `selfplay_step.request_size`).
        False: each ends as soon as it can.
        """
        todo = games if isinstance(games, deque) else deque(games)
        busy = _Busy(len(self.workers))
        done: SimpleQueue[list[GameRecord] | BaseException | None] = SimpleQueue()
        ended = threading.Event()
        arguments = predictor, todo, done.put, lambda: ended.is_set() or stop(), busy, together
        threads = [threading.Thread(target=w.run, args=arguments) for w in self.workers]
        try:
            for thread in threads:
                thread.start()
            yield from _handed_out(done, len(threads))
        finally:
            ended.set()
            for thread in threads:
                if thread.ident is not None:
                    thread.join()

    def set_iteration(self, iteration: int) -> None:
        """Search with the simulations of this iteration from now on."""
        for worker in self.workers:
            worker.set_budgets(*budgets(worker.config.selfplay, iteration))

    def clear_cache(self) -> None:
        """Forget all evaluations; call it when the weights have changed."""
        for worker in self.workers:
            worker.mcts.clear_cache()

    def counts(self) -> Counts:
        """Return the work done since the start."""
        caches = np.sum([w.mcts.cache.counts for w in self.workers], axis=0)
        return Counts(
            simulations=int(caches[SIMULATIONS]),
            looked_up=int(caches[LOOKED_UP]),
            found=int(caches[FOUND]),
            evaluations=sum(w.evaluations for w in self.workers),
            batches=sum(w.batches for w in self.workers),
            room=padded(max(self.workers[0].trees, STEADY)),
            search_seconds=sum(w.search_seconds for w in self.workers),
        )


def _handed_out(done: SimpleQueue[list[GameRecord] | BaseException | None], running: int) -> Iterator[GameRecord]:
    """Yield the games that threads hand over until each thread has put None; raise the first error."""
    while running:
        item = done.get()
        if item is None:
            running -= 1
        elif isinstance(item, BaseException):
            raise item
        else:
            yield from item


class Counts(NamedTuple):
    """Work done by self-play."""

    simulations: int
    looked_up: int
    found: int
    """Evaluations found in the cache."""
    evaluations: int
    batches: int
    room: int
    """Positions that fit into a batch."""
    search_seconds: float
    """Seconds inside compiled search, summed over threads."""


class _Busy:
    """The number of threads with games in flight. A thread without games waits: games may be added meanwhile."""

    def __init__(self, threads: int) -> None:
        self._threads, self._lock = threads, threading.Lock()

    def wait(self, todo: deque[tuple[int, int]], stop: Callable[[], bool]) -> bool:
        """Wait for a game to play; return False when no thread has games left."""
        self._count(-1)
        while self._threads and not stop():
            if todo:
                self._count(1)
                return True
            time.sleep(WAIT)
        return False

    def leave(self) -> None:
        """Count this thread out, after an error."""
        self._count(-1)

    def _count(self, change: int) -> None:
        with self._lock:
            self._threads += change


def _games_in_flight(game: Game, trees: int, buffers: int) -> GamesInFlight:
    """Return empty tables for a thread's games: a search for each tree, a record for each buffer."""
    length, actions = game.max_plies, game.action_size
    return GamesInFlight(
        walking=np.zeros(trees, np.int32),
        ply=np.zeros(trees, np.int32),
        full=np.zeros(trees, np.int32),
        buffer=np.zeros(trees, np.int32),
        moves=np.zeros((buffers, length), np.int16),
        visits=np.zeros((buffers, length, actions), np.uint16),
        values=np.zeros((buffers, length), np.float32),
        length=np.zeros(buffers, np.int32),
        result=np.zeros(buffers, np.float32),
        over=np.zeros(trees, np.int32),
        begin=np.zeros(trees, np.int32),
        seeds=np.zeros(trees, np.uint64),
        buffers=np.zeros(trees, np.int32),
    )


class _SearchThread:
    """One thread's games."""

    def __init__(self, game: Game, config: Config, trees: int, cache_size: int) -> None:
        self.game = game
        self.config = config
        self.trees = trees
        self._plain = isinstance(game, PlainGame)
        self._settings = compiled_settings(config)
        self.mcts = ManyTrees(game, config.search, trees=trees, sims=config.mcts_sims, cache_size=cache_size)
        self._spare_buffers = max(SPARE_BUFFERS, trees // 4)
        self._flight = _games_in_flight(game, trees, trees + self._spare_buffers)
        self._boards = np.zeros((trees, *game.input_shape), np.uint8)
        self._planes = self._boards.reshape(trees, -1)
        self._requested = np.zeros(trees, np.int32)
        self._values = np.zeros(trees, np.float32)
        self._logits = np.zeros((trees, game.action_size), np.float32)
        self.bind_arguments()
        self.reset()
        self.evaluations = 0
        self.batches = 0
        self.search_seconds = 0.0

    def reset(self) -> None:
        """Drop the games in flight."""
        buffers = len(self._flight.result)
        self._waiting = 0
        """Positions not yet evaluated."""
        self._free = list(range(self.trees))[::-1]
        """Trees without a game."""
        self._free_buffers = list(range(buffers))[::-1]
        """Buffers without a game."""
        self._done: list[int] = []
        """Buffers of finished games not yet collected."""
        self._buffer_of = [0] * self.trees
        self._index_of = [0] * buffers
        """Index of the game in a buffer."""

    def bind_arguments(self) -> None:
        """Bind the arguments of the compiled step."""
        m, start = self.mcts, self.game.start_row
        tables = m.forest, m.rules, m.puct, m.cache
        self._bound = BoundArguments(
            selfplay_step, *tables, shared_run(*tables), self._flight, self._settings, start, self._requested,
            self._values, self._logits, self._planes,
        )  # fmt: skip
        self._code = bind(selfplay_step, self._bound, 0, 0, 0, 0)

    def set_budgets(self, sims: int, fast_sims: int) -> None:
        self._settings = self._settings._replace(sims=sims, fast_sims=fast_sims)
        self.bind_arguments()

    def step(self, answers: int, starts: int = 0, piece: int = 0) -> tuple[int, int]:
        """Write evaluations into the trees, begin games, and play until each game needs its next evaluation.

        Returns the number of positions to evaluate and the number of games that ended; `piece`: see `request_size`.
        Each network call evicts Python's data from the CPU caches, so Python is slow just after it: this method does
        little, and finished games are collected many at a time.
        """
        began = time.perf_counter()
        requested, self._waiting, over, faults = self._code(self._bound, answers, self._waiting, starts, piece)
        self.search_seconds += time.perf_counter() - began
        if faults or self._plain:
            self.mcts.check_errors()
        if over:
            for tree in self._flight.over[:over].tolist():
                self._free.append(tree)
                self._done.append(self._buffer_of[tree])
        return requested, over

    def run(
        self,
        predictor: Evaluator,
        todo: deque[tuple[int, int]],
        put: Callable[[list[GameRecord] | BaseException | None], None],
        stop: Callable[[], bool],
        busy: _Busy,
        together: Callable[[], bool],
    ) -> None:
        """Play until `todo` is empty and the last game is over; put records, or the error raised, then None."""
        self.reset()
        fault: BaseException | None = None
        try:
            self._run(predictor, todo, put, stop, busy, together)
        except BaseException as error:
            busy.leave()
            fault = error
        try:
            put(self._collect())
        except BaseException as error:
            fault = fault or error
        if fault is not None:
            put(fault)
        put(None)

    def _run(
        self, predictor: Evaluator, todo: deque[tuple[int, int]], put: Any, stop: Any, busy: _Busy, together: Any
    ) -> None:
        n, handed, piece = 0, 0.0, int(getattr(predictor, "piece", 0))
        while not stop():
            starts = self._take_games(todo) if todo and self._free else 0
            n, over = self.step(n, starts, 0 if todo or not piece or not together() else piece)
            done = len(self._done)
            if done and (n == 0 or done > self._spare_buffers or time.perf_counter() - handed > PAUSE):
                put(self._collect())
                handed = time.perf_counter()
            if n == 0 and not (over and todo) and not busy.wait(todo, stop):
                return
            if n:
                self._values[:n], self._logits[:n] = predictor(self._boards[:n])
                self.evaluations += n
                self.batches += 1

    def _take_games(self, todo: deque[tuple[int, int]]) -> int:
        """Assign the next games to free trees, to be begun by the next step; return their number."""
        count, flight = 0, self._flight
        while self._free:
            try:
                index, seed = todo.popleft()
            except IndexError:
                break
            tree, buffer = self._free.pop(), self._free_buffers.pop()
            self._buffer_of[tree], self._index_of[buffer] = buffer, index
            flight.begin[count], flight.seeds[count], flight.buffers[count] = tree, seed, buffer
            count += 1
        return count

    def _collect(self) -> list[GameRecord]:
        """Return the finished games, and free their buffers; each of your own game is replayed by its rules first.

        The search takes positions of one id for one position. A game whose ids leave something out would be false.
        """
        flight, found = self._flight, []
        for buffer in self._done:
            length = int(flight.length[buffer])
            found.append(
                GameRecord(
                    self._index_of[buffer],
                    flight.moves[buffer, :length].copy(),
                    flight.visits[buffer, :length].copy(),
                    flight.values[buffer, :length].copy(),
                    float(flight.result[buffer]) + 0.0,  # a draw is 0.0: a database keeps no sign of -0.0
                )
            )
            if self.game.origin and (wrong := fault_by_rules(self.game, found[-1])):
                expected = "games that the rules confirm when they are played again (equal ids mean equal futures)"
                raise UserError(f"{self.game.spec}: expected {expected}, got one that {wrong}")
        self._free_buffers += self._done
        self._done = []
        return found
