"""Self-play on a device that is not a core: how busy it is kept, what that costs the cores, and where they limit."""

from __future__ import annotations

import itertools
import threading
import time
from collections import deque
from typing import Any

import numpy as np

from config import Config
from game import Game
from network.device import Speed, best_plan
from network.pipelines import devices_of
from network.predictor import Predictor, cores
from training.device_plan import MeasuredPlan, measured_plan
from training.selfplay import SelfPlay, game_seed

CORES = 2, 8, 16, 32
"""Numbers of cores for which the rate is computed from the costs measured."""
CALLS = 8
"""Calls that a measurement has at least."""

def bench_device(game: Game, config: Config, predictor: Predictor, *, seconds: float) -> dict[str, Any]:
    """Measure self-play on a device for some seconds, with the threads and games that its measured speed needs.

    share: evaluations over the device's own rate, which is the highest that was measured of it alone. cores_busy: core
    seconds of this process for each second. core_us_per_eval, core_us_per_sim: of all that the process does.
    """
    found = measured_plan(game, config, predictor, endless=True)
    if found.speed is None:
        raise TypeError(f"expected a predictor on a device, got a {type(predictor).__name__}")
    work = _played(game, config, predictor, found, seconds)
    evaluations = work["evaluations"] / work["spent"]
    core = work["core"] / max(work["evaluations"], 1)
    own = sum(getattr(device, "rate", max(found.speed.rates)) for device in devices_of(predictor))
    return {
        "game": game.spec, "backend": predictor.name, "plan": found.words(), "threads": found.plan.threads,
        "games_in_flight": found.plan.in_flight, "calls_joined": found.plan.joined, "mcts_sims": config.mcts_sims,
        "endgame": found.settings(config).endgame,
        "device_evals_per_s": own,
        "selfplay_evals_per_s": evaluations,
        "share": evaluations / own,
        **({"device_busy": work["busy"] / work["spent"]} if "busy" in work else {}),
        "selfplay_sims_per_s": work["simulations"] / work["spent"],
        "games_per_s": work["games"] / work["spent"],
        "mean_call": work["evaluations"] / max(work["batches"], 1),
        "cache_hit_rate": work["found"] / max(work["looked_up"], 1),
        "cores": cores(),
        "cores_busy": work["core"] / work["spent"],
        "core_us_per_eval": 1e6 * core,
        "core_us_per_sim": 1e6 * work["core"] / max(work["simulations"], 1),
        "by_cores": by_cores(found.speed, core, work["simulations"] / max(work["evaluations"], 1)),
    }  # fmt: skip


def by_cores(speed: Speed, core: float, sims_per_eval: float) -> list[dict[str, Any]]:
    """Return what other numbers of cores would reach with this device, by the measured core seconds an evaluation.

    evals_per_s: with the device; cores_alone: what the cores could search for a device without limits.
    """
    lines = []
    for n in CORES:
        plan = best_plan(speed, cores=n, search=core, most=1 << 20)
        alone = n / core
        lines.append({
            "cores": n, "threads": plan.threads, "games_in_flight": plan.in_flight, "evals_per_s": round(plan.rate),
            "sims_per_s": round(plan.rate * sims_per_eval), "cores_alone": round(alone),
            "limit": "cores" if plan.rate < 0.97 * speed.rate else "device",
        })  # fmt: skip
    return lines


def _played(game: Game, config: Config, predictor: Predictor, found: MeasuredPlan, seconds: float) -> dict[str, float]:
    """Play for some seconds; return the work that was counted in them."""
    play, ended, games = SelfPlay(game, found.settings(config), plan=found.plan), threading.Event(), [0]
    errors: list[BaseException] = []
    numbers, todo = itertools.count(), deque[tuple[int, int]]()
    timed: Any = [device for device in devices_of(predictor) if hasattr(device, "busy")]

    def job() -> tuple[int, int]:
        index = next(numbers)
        return index, game_seed("bench", 0, index)

    def run() -> None:
        try:
            for _ in play.play(found.predictor(predictor), todo, stop=ended.is_set):
                games[0] += 1
                todo.append(job())  # there are always more games to begin
        except BaseException as error:
            errors.append(error)

    def state() -> dict[str, float]:
        counted: dict[str, float] = dict(play.counts()._asdict())
        busy = {"busy": float(np.mean([d.busy for d in timed]))} if timed else {}
        times = {"spent": time.perf_counter(), "core": time.process_time()}
        return counted | busy | times | {"games": float(games[0])}

    todo.extend(job() for _ in range(2 * found.plan.in_flight))
    player = threading.Thread(target=run)
    player.start()
    try:
        _warm_up(player, games, found.plan.in_flight, seconds)
        before = state()
        player.join(seconds)
        while player.is_alive() and play.counts().batches < before["batches"] + CALLS:
            player.join(0.05)
        after = state()
    finally:
        ended.set()
        player.join()
    if errors:
        raise errors[0]
    return {name: after[name] - before[name] for name in after}


def _warm_up(player: threading.Thread, games: list[int], in_flight: int, seconds: float) -> None:
    """Wait until games in flight have drifted apart: half of them have ended, or twice the measurement's time is over.

    At first all games are near their beginnings, where the cache knows most positions.
    """
    began = time.perf_counter()
    while player.is_alive() and (spent := time.perf_counter() - began) < 2 * seconds:
        if spent > seconds / 4 and games[0] >= in_flight // 2:
            return
        player.join(0.05)
