"""Self-play and training on a GPU: evaluations and simulations a second, positions learned a second.

    KERAS_BACKEND=jax python benchmarks/gpu.py [--seconds 15] [--precision bfloat16]

The networks: for Connect 4 with 5 blocks of 64 filters and 10 of 128, for gomoku 15x15 with 5 of 64. On a machine
without a GPU it says so and measures nothing, unless --anyway.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np

import games
from config import Config
from game import Game
from memory import Batch
from model import Residual_CNN
from network.backend import chosen_backend
from network.choose_predictor import gpus, make_predictor
from network.device import measure
from network.predictor import STEADY, cores
from training.device_bench import bench_device
from training.presets import preset

NETWORKS = ("connect4", 64, 5), ("connect4", 128, 10), ("gomoku(size=15)", 64, 5)
"""Game, filters, residual blocks."""
BATCH = 1024


def learning(model: Residual_CNN, game: Game, seconds: float) -> float:
    """Return positions learned per second."""
    rng = np.random.default_rng(0)
    planes = rng.integers(0, 2, (BATCH, *game.input_shape)).astype(np.uint8)
    policy = np.full((BATCH, game.action_size), 1 / game.action_size, np.float32)
    batch = Batch(planes, np.zeros(BATCH, np.float32), policy, np.zeros((BATCH, *game.grid_shape), np.int8))
    steps, spent = 4, 0.0
    model.fit(lambda step: batch, steps)
    while spent < seconds:
        steps *= 2
        began = time.perf_counter()
        model.fit(lambda step: batch, steps)
        spent = time.perf_counter() - began
    return steps * BATCH / spent


def measured(config: Config, game: Game, name: str, seconds: float) -> None:
    """Measure one network."""
    model = Residual_CNN(config, game)
    predictor = make_predictor(model, backend="keras", streams=cores(), smallest=STEADY)
    predictor.on_device = True  # type: ignore[attr-defined]
    began = time.perf_counter()
    speed = measure(predictor, game.input_shape)
    print(f"{name}, {predictor.name}; measured, with compiling, in {time.perf_counter() - began:.0f} s")
    for size, alone, rate, core in zip(speed.sizes, speed.alone, speed.rates, speed.core, strict=True):
        print(f"  batch {size:>5}: {rate:>11,.0f} evaluations/s, {1e3 * alone:7.2f} ms a call, "
              f"{1e6 * core:7.0f} us of a core", flush=True)  # fmt: skip
    found = bench_device(game, config, predictor, seconds=seconds)
    print(f"  {found['plan']}")
    print(f"  self-play: {found['selfplay_evals_per_s']:,.0f} evaluations/s ({100 * found['share']:.1f} %), "
          f"{found['selfplay_sims_per_s']:,.0f} simulations/s, {found['games_per_s']:,.0f} games/s; "
          f"{found['cores_busy']:.1f} of {cores()} cores, {found['core_us_per_sim']:.2f} us of a core a simulation")
    print(f"  training:  {learning(model, game, seconds / 3):,.0f} positions/s in batches of {BATCH:,}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--precision", default="bfloat16", choices=("bfloat16", "float32"))
    parser.add_argument("--anyway", action="store_true", help="measure without a GPU, as if there were one")
    options = parser.parse_args()
    if not gpus() and not options.anyway:
        sys.exit(f"no GPU is used by Keras on {chosen_backend()}: nothing measured (see docs/gpu.md)")
    print(f"Keras on {chosen_backend()}: {', '.join(gpus()) or 'no GPU'}; {cores()} cores")
    for spec, filters, blocks in NETWORKS:
        game, layers = games.make(spec), (f"{filters}x3",) * (blocks + 1)
        config = preset("gpu", game=spec, hidden_cnn_layers=layers, precision=options.precision)
        measured(config, game, f"{game.spec}, {blocks} blocks of {filters} filters", options.seconds)


if __name__ == "__main__":
    main()
