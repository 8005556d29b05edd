"""Compare a training step with Keras' own and with a plain loop: the same network, optimizer and batch, in turns.

    python benchmarks/training_steps.py --games connect4 "gomoku(size=9)" --cores 1

Each back end is a process of its own, in which the program, the same network with the step that Keras takes by
itself, and the plain loop of benchmarks/plain_loops.py take steps in turns: PyTorch's next to TensorFlow and Torch,
JAX's next to JAX. The least time of a step counts; with one core it is processor time, which other work on the machine
changes little. On a GPU a turn has many steps, as they run while the next ones are begun, and its mean counts.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from game import Game
from memory import Batch

STEPS, GPU_STEPS = 4, 64
"""Steps of a turn, on cores and on a GPU."""


def random_batch(game: Game, size: int) -> Batch:
    """Return a batch of random positions and targets."""
    rng = np.random.default_rng(0)
    return Batch(
        rng.integers(0, 2, (size, *game.input_shape)).astype(np.uint8),
        rng.uniform(-1, 1, size).astype(np.float32),
        rng.dirichlet(np.ones(game.action_size), size).astype(np.float32),
        rng.integers(-1, 2, (size, *game.grid_shape)).astype(np.int8),
    )


def compared(game_name: str, precision: str, batch_size: int, turns: int, *, one_core: bool) -> dict[str, float]:
    """Return milliseconds of a step of the program and of the plain loop, on this process's back end."""
    from plain_loops import jax_step, torch_step

    import games
    from model import Residual_CNN
    from network.choose_predictor import gpus
    from network.keras_import import BACKEND
    from network.training_step import keras_step
    from training.presets import preset

    game = games.make(game_name)
    config = preset("laptop", game=game_name, batch_size=batch_size, precision=precision)
    model, other = Residual_CNN(config, game), Residual_CNN(config, game)
    other.model.make_train_function(force=True)
    other._step = keras_step(other.model)
    batch = random_batch(game, batch_size)
    step = (jax_step if BACKEND == "jax" else torch_step)(model.architecture(), model.get_weights(), model.precision)
    on_gpu = bool(gpus())
    clock = time.process_time if one_core and not on_gpu else time.perf_counter
    count = GPU_STEPS if on_gpu else STEPS

    def fitted(network: Residual_CNN, tick: Callable[[], None]) -> None:
        network.fit(lambda _: batch, count, report=lambda _: tick())

    def plain(tick: Callable[[], None]) -> None:
        for _ in range(count):
            step(batch)
            tick()

    ways: dict[str, Callable[[Callable[[], None]], None]] = {
        "program": lambda tick: fitted(model, tick),
        "keras": lambda tick: fitted(other, tick),
        "plain": plain,
    }
    least: dict[str, float] = {}
    for turn in range(turns + 1):
        for name, steps in ways.items():
            ticks: list[float] = []
            began = clock()
            steps(lambda ticks=ticks: ticks.append(clock()))  # type: ignore[misc]
            if turn:  # the first compiles
                times = [(clock() - began) / count] if on_gpu else np.diff(ticks)
                least[name] = min(least.get(name, np.inf), *times)
    return {name: 1000 * seconds for name, seconds in least.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--back-ends", nargs="+", default=["tensorflow", "jax", "torch"])
    parser.add_argument("--games", nargs="+", default=["connect4", "gomoku(size=9)"])
    parser.add_argument("--precisions", nargs="+", default=["float32", "bfloat16"])
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--turns", type=int, default=6)
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        for game in args.games:
            for precision in args.precisions:
                found: Any = compared(game, precision, args.batch_size, args.turns, one_core=args.cores == 1)
                print(json.dumps({"game": game, "precision": precision, **found}), flush=True)
        return
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: args.cores])
    for name in args.back_ends:
        command = [sys.executable, __file__, "--one", *sys.argv[1:]]
        environment = {**os.environ, "KERAS_BACKEND": name}
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as child:
            for line in child.stdout or ():
                row = json.loads(line)
                times = ", ".join(f"{way} {row[way]:.1f} ms" for way in ("program", "keras", "plain"))
                ratios = ", ".join(f"{row[way] / row['program']:.2f} of {way}" for way in ("keras", "plain"))
                print(f"{name:<12}{row['game']:<18}{row['precision']:<10}{times}; {ratios}", flush=True)
        if child.returncode:
            sys.exit(child.returncode)


if __name__ == "__main__":
    main()
