"""Speeds as ratios within one process: the network alone, self-play, the search, one `model.predict` a simulation."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from typing import Any

import numpy as np

import games
from config import Config
from game import Game
from MCTS import MCTS
from network.choose_predictor import make_predictor
from network.predictor import STEADY, cores, measure_raw, on_device, side_by_side
from search.tables import forest_bytes
from system.machine import worked_seconds
from training.device_bench import bench_device
from training.selfplay import Counts, SelfPlay, game_seed

TURN = 1.0
"""Seconds for which self-play and the network alone run in turn: a processor's speed changes within seconds."""


class Others:
    """What other programs take of the cores from now on."""

    def __init__(self) -> None:
        self._began = self._now()

    def share(self) -> float | None:
        """Return their share of the cores' time so far; None where the system does not report it."""
        worked, own, wall = (now - then for now, then in zip(self._now(), self._began, strict=True))
        return None if math.isnan(worked) else min(max((worked - own) / (cores() * wall), 0.0), 1.0)

    def _now(self) -> tuple[float, float, float]:
        worked = worked_seconds()
        return math.nan if worked is None else worked, time.process_time(), time.monotonic()


class Gate:
    """A gate that holds the threads of self-play between two batches while the network alone is measured."""

    def __init__(self) -> None:
        self._open = threading.Event()
        self._open.set()
        self._came: list[float] = []
        self._ended = False

    def __call__(self) -> bool:
        if not self._open.is_set():
            self._came.append(time.perf_counter())
            self._open.wait()
        return self._ended

    def open(self, *, ended: bool = False) -> float:
        """Let all threads continue, or end with `ended`; return the time of it."""
        self._ended, self._came = ended, []
        now = time.perf_counter()
        self._open.set()
        return now

    def close(self, threads: int, playing: threading.Thread) -> float:
        """Wait until all threads stand at the gate, their evaluations done; return the mean time of their arrival."""
        self._open.clear()
        while len(self._came) < threads and playing.is_alive():
            time.sleep(0.001)
        return float(np.mean(self._came)) if self._came else time.perf_counter()


def bench(config: Config, *, seconds: float = 20.0) -> dict[str, Any]:
    """Measure self-play and the network alone for `seconds` each, in turn, with an untrained network.

    Untrained weights do not change the speed of an evaluation. They do change, a little, the cache's hit rate and how
    soon games are proven. The cache is emptied as often as in training: after an iteration's games. Both sides are
    measured in complete batches, over the time that each thread took for them.

    share: evaluations of self-play over those of the network alone (same predictor, threads and batch).
    network_us_per_eval, other_us_per_eval: a thread's time for one evaluation of self-play, split into what the network
    alone takes and all else (search, planes, Python). A faster network lowers the share at the same `other`.
    games_per_s: by a fixed set of games, the first `games_in_flight`, so that versions are compared on the same games:
    the games that have ended when the last of these has, over the seconds of self-play until then; None if `seconds`
    are too few for that. others_share: what other programs took of the cores; None where that is not reported.
    share_without_cache: the share with no evaluation cache: every position not proven and not finished is evaluated.
    """
    from model import make_network

    game = games.make(config.game)
    model = make_network(config, game)
    threads = side_by_side(game, config.selfplay)[1]
    predictor = make_predictor(
        model, backend=config.backend, streams=threads, smallest=STEADY, in_8_bits=config.precision == "int8"
    )
    if on_device(predictor):
        found = bench_device(game, config, predictor, seconds=seconds)
        naive = _naive(model, game)
        more = {"predict_sims_per_s": naive, "times_naive": found["selfplay_sims_per_s"] / naive}
        return {**found, "parameters": int(model.model.count_params()), **more, "search": _searches()}
    plain, others = Config(**{**vars(config), "cache_size": 0}), Others()
    found = _share(game, config, predictor, seconds)
    without = _share(game, plain, predictor, seconds)
    naive = _naive(model, game)
    return {
        "game": game.spec, "backend": predictor.name, "threads": threads, "games_in_flight": config.games_in_flight,
        "mcts_sims": config.mcts_sims, "parameters": int(model.model.count_params()), **found,
        "others_share": others.share(),
        "share_without_cache": without["share"], "tree_us_per_sim_without_cache": without["tree_us_per_sim"],
        "predict_sims_per_s": naive, "times_naive": found["selfplay_sims_per_s"] / naive,
        "search": _searches(),
    }  # fmt: skip


def _searches() -> list[dict[str, Any]]:
    """Return the cost of a search without a network for 7, 64 and 225 actions."""
    lines = "connect4(rows=1,columns=64,n=5)", "connect4(rows=1,columns=225,n=5)"
    return [search_cost(spec) for spec in ("connect4", *lines)]


class _Games:
    """Self-play in a thread of its own, which waits at a gate while the network alone is measured."""

    def __init__(self, game: Game, config: Config, predictor: Any) -> None:
        self.play = SelfPlay(game, config, threads=cores())
        self.trees, self.threads = self.play.workers[0].trees, len(self.play.workers)
        self.errors: list[BaseException] = []
        self._gate, self._predictor = Gate(), predictor
        self._done = self._cleared_at = 0
        self._set = self._left = config.games_in_flight
        """Games of the fixed set, and those of them that have not ended."""
        self._spent, self._opened_at = 0.0, math.nan
        """Seconds of self-play before the gate was last opened, and when that was; NaN while it is closed."""
        self.games_per_s: float | None = None
        """See `bench`."""
        begun = max(self._set, self.trees * self.threads)  # threads fill their batches
        self._todo = deque(map(self._job, range(2 * begun + 1)))
        self._episodes = config.episodes
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> _Games:
        self._opened_at = time.perf_counter()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._gate.open(ended=True)
        self._thread.join()

    def _job(self, index: int) -> tuple[int, int]:
        return index, game_seed("bench", 0, index)

    def _run(self) -> None:
        try:
            for record in self.play.play(self._evaluate, self._todo, stop=self._gate):
                self._done += 1
                self._todo.append(self._job(2 * self._set + self._done))  # there are always more games to begin
                self._left -= record.index < self._set
                if not self._left and self.games_per_s is None:
                    going = time.perf_counter() - self._opened_at
                    self.games_per_s = self._done / (self._spent + (0.0 if math.isnan(going) else going))
        except BaseException as error:
            self.errors.append(error)

    def _evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        try:
            return self._predictor(planes)
        except BaseException:
            self._gate.open(ended=True)  # or the other threads would wait for this one
            raise

    def pause(self) -> float:
        """Wait until all threads stand at the gate; return the seconds of self-play since it was opened."""
        arrived = self._gate.close(self.threads, self._thread)
        if math.isnan(self._opened_at):  # it was closed
            return 0.0
        spent = arrived - self._opened_at
        self._spent, self._opened_at = self._spent + spent, math.nan
        return spent

    def clear_cache(self) -> None:
        """Empty the evaluation cache if an iteration's games have ended since it was last emptied."""
        if self._done >= self._cleared_at + self._episodes:
            self.play.clear_cache()
            self._cleared_at = self._done

    def measure(self, seconds: float) -> list[float]:
        """Play for some seconds; return the growth of each of `Counts`, and the seconds."""
        before, self._opened_at = self.play.counts(), self._gate.open()
        time.sleep(seconds)
        spent = self.pause()
        return [*(now - then for now, then in zip(self.play.counts(), before, strict=True)), spent]


def _share(game: Game, config: Config, predictor: Any, seconds: float) -> dict[str, Any]:
    """Measure self-play and the network alone in turn; return the rates of both and their ratio."""
    turn = min(TURN, seconds)
    raw, rates = [], []
    with _Games(game, config, predictor) as games:
        time.sleep(seconds / 4)  # warm up: games in flight drift apart
        for _ in range(round(seconds / turn)):
            if games.errors:
                break
            games.pause()
            games.clear_cache()
            raw.append(measure_raw(predictor, game.input_shape, games.trees, games.threads, turn))
            rates.append(games.measure(turn))
    if games.errors:
        raise games.errors[0]
    total = dict(zip([*Counts._fields, "spent"], np.sum(rates, axis=0), strict=True))
    found = _rates(total, float(np.mean(raw)), games.threads, games.play.counts().room)
    return {**found, "games_per_s": games.games_per_s}


def _rates(total: dict[str, float], raw: float, threads: int, room: int) -> dict[str, float]:
    """Return what a bench reports about self-play; `raw`: evaluations per second of the network alone."""
    evaluations = total["evaluations"] / total["spent"]
    return {
        "raw_evals_per_s": raw,
        "selfplay_evals_per_s": evaluations,
        "selfplay_sims_per_s": total["simulations"] / total["spent"],
        "share": evaluations / raw,
        "network_us_per_eval": 1e6 * threads / raw,
        "other_us_per_eval": 1e6 * threads * (1 / evaluations - 1 / raw),
        "sims_per_raw_eval": total["simulations"] / total["spent"] / raw,
        "mean_batch_fill": total["evaluations"] / max(total["batches"] * room, 1),
        "tree_us_per_sim": 1e6 * total["search_seconds"] / max(total["simulations"], 1),
        "cache_hit_rate": total["found"] / max(total["looked_up"], 1),
    }


def _naive(model: Any, game: Game, calls: int = 30) -> float:
    """Return simulations per second when each calls `model.predict` for one position, as the article does."""
    planes = game.start().planes()[None]
    model.plain.predict(planes, verbose=0)
    began = time.perf_counter()
    for _ in range(calls):
        model.plain.predict(planes, verbose=0)
    return calls / (time.perf_counter() - began)


def search_cost(spec: str, sims: int = 800, trees: int = 16) -> dict[str, Any]:
    """Return time and memory of a search without a network, on the game named."""
    game = games.make(spec)
    rng = np.random.default_rng(0)
    mcts = MCTS(game, trees=trees, sims=sims, cache_size=0)
    answers: dict[int, Any] = {}

    def predictor(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n = len(planes)
        if n not in answers:
            logits = rng.normal(size=(n, game.action_size)).astype(np.float32)
            answers[n] = rng.uniform(-0.1, 0.1, n).astype(np.float32), logits
        return answers[n]

    which = list(range(trees))
    for budget in (sims // 10, sims):
        for tree in which:
            mcts.plant(game.start(), tree=tree)
        began = time.perf_counter()
        mcts.search(predictor, budget, which)
        seconds = time.perf_counter() - began
    nodes = int(mcts.forest.trees["nodes"].sum())
    return {
        "actions": game.action_size,
        "us_per_sim": 1e6 * seconds / (sims * trees),
        "bytes_per_node": forest_bytes(game, 1, 1, 1000) / 1000,
        "mib_per_tree_of_800": forest_bytes(game, 1, 1, mcts.capacity) / 2**20,
        "nodes": nodes,
    }
