"""How many threads and games self-play has: on a CPU as the settings say, on a device as its measured speed needs.

The memory of the trees is bounded in both cases: games in flight are reduced where it is short. On a device that
answers faster than the cores search, endings are solved less far: the cores spend their time on what the device
answers.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from config import Config, with_overrides
from game import Game
from games.endings import endings_of
from games.plain import PlainGame
from network.device import Plan, Speed, best_plan, measure, words
from network.pipelines import pipeline
from network.predictor import Predictor, cores, on_device, side_by_side
from search.tables import MAX_EDGES, capacity_for, forest_bytes
from system.machine import free_memory
from training.selfplay import SelfPlay, game_seed

MEMORY = 0.6
"""Fraction of the free memory that games in flight may take at most."""
WARM, MEASURED = 0.2, 0.4
"""Seconds of search before its cost is measured, and for which it is."""
LESS, LEAST = 4, 8
"""Plies by which endings are solved less far where the cores are the limit, and how far they are solved at least."""
MARGIN = 1.25
"""Rate of the cores' search over that of the device from which on the device is taken for the limit: the search was
measured by itself."""


class MeasuredPlan(NamedTuple):
    """A plan for self-play and what it came from."""

    plan: Plan
    speed: Speed | None = None
    """Of the device; None on a CPU."""
    search: float = 0.0
    """Core seconds of the search for one evaluation."""
    limit: str = ""
    """What limits the games in flight, in words, "" if nothing does."""
    endgame: int | None = None
    """How far endings are solved, as the setting of that name; None = as that says."""

    def settings(self, config: Config) -> Config:
        """Return the settings with which self-play plays."""
        return config if self.endgame is None else with_overrides(config, endgame=self.endgame)

    def predictor(self, predictor: Predictor) -> Predictor:
        """Return the predictor that self-play's threads call: with a plan that joins calls, one that does."""
        return pipeline(predictor, joined=self.plan.joined, games=self.plan.games)

    def words(self) -> str:
        """Return what was measured and chosen on a device, "" on a CPU."""
        less = "" if self.endgame is None else f"; the cores limit it, so endgame is {self.endgame} in self-play"
        return f"{words(self.speed, self.plan)}{less}{self.limit}" if self.speed else ""


def bytes_per_game(game: Game, config: Config) -> int:
    """Return the memory of a game in flight, in bytes: its tree, with all its nodes used, and its records."""
    tree = forest_bytes(game, 1, 1, capacity_for(config.mcts_sims, 1))
    return int(tree + 1.25 * game.max_plies * (2 * game.action_size + 6) + int(np.prod(game.input_shape)))


def games_in_memory(game: Game, config: Config) -> int:
    """Return how many games in flight fit into memory."""
    free = free_memory()
    room = MEMORY * free / max(config.workers, 1) if free is not None else float("inf")
    return int(min(room / bytes_per_game(game, config), 1 << 20))


def measured_plan(game: Game, config: Config, predictor: Predictor, *, endless: bool = False) -> MeasuredPlan:
    """Return how self-play uses a predictor; a device is measured first, which takes a few seconds.

    endless: there are always games to begin; else more games in flight than an iteration has would be of no use.
    """
    in_memory = games_in_memory(game, config)
    if not on_device(predictor):
        return _on_cores(game, config, in_memory)
    speed = measure(predictor, game.input_shape)
    episodes = in_memory if endless else config.episodes
    share = MAX_EDGES // (capacity_for(config.mcts_sims, 1) * (game.action_size + 8))
    threads = 1 if isinstance(game, PlainGame) else 0
    found: list[tuple[float, int]] = []
    for endgame in _depths(game, config):
        found.append((search_seconds(game, with_overrides(config, endgame=endgame)), endgame))
        if cores() >= MARGIN * speed.rate * found[-1][0]:
            break
    search, endgame = min(found)
    plan = best_plan(speed, cores=cores(), search=search, most=min(in_memory, episodes), most_share=share,
               most_threads=threads, games=config.games_on_gpu)  # fmt: skip
    limit = ""
    if not config.games_on_gpu and plan.wanted > plan.in_flight:
        why = "the memory for their trees" if in_memory < episodes else f"{episodes:,} games an iteration (--episodes)"
        limit = f"; {plan.wanted:,} would keep it busy, limited by {why}"
    elif config.games_on_gpu > in_memory:
        limit = f"; reduced from {config.games_on_gpu:,}, limited by the memory for their trees"
    return MeasuredPlan(plan, speed, search, limit, None if endgame == config.endgame else endgame)


def _depths(game: Game, config: Config) -> list[int]:
    """Return how far endings may be solved: as the settings say, then less and less."""
    if not config.proofs or endings_of(game) is None:
        return [config.endgame]
    return [config.endgame, *range(config.endgame - LESS, LEAST - 1, -LESS)]


def _on_cores(game: Game, config: Config, in_memory: int) -> MeasuredPlan:
    """Return the plan of the settings, with fewer games where their trees would not fit into memory."""
    share, threads = side_by_side(game, config.selfplay)
    if share * threads <= in_memory or config.workers:
        return MeasuredPlan(Plan(threads, share))
    fewer = max(in_memory // threads, 1)
    fewer = fewer // 32 * 32 or fewer
    limit = f"{share * threads:,} games in flight reduced to {fewer * threads:,}, limited by the memory for their trees"
    return MeasuredPlan(Plan(threads, fewer), limit=limit)


def search_seconds(game: Game, config: Config) -> float:
    """Return the core seconds that the search takes for one evaluation, measured by playing without a network."""
    less = with_overrides(config, games_in_flight=256, cache_size=min(config.cache_size, 1 << 16))
    play = SelfPlay(game, less, threads=1)
    marks: list[tuple[float, float, int]] = []

    def stop() -> bool:
        now = time.perf_counter()
        if not marks or len(marks) == 1 and now > marks[0][0] + WARM:
            marks.append((now, time.process_time(), play.counts().evaluations))
        return len(marks) > 1 and now > marks[1][0] + MEASURED

    def evaluate(planes: np.ndarray) -> Any:
        return values[: len(planes)], logits[: len(planes)]

    trees = play.workers[0].trees
    values, logits = np.zeros(trees, np.float32), np.zeros((trees, game.action_size), np.float32)
    jobs = [(i, game_seed("measure", 0, i)) for i in range(100_000)]
    for _ in play.play(evaluate, jobs, stop=stop):
        pass
    spent = time.process_time() - marks[-1][1]
    return spent / max(play.counts().evaluations - marks[-1][2], 1)
