"""What tests of learning share: a run of seconds, games to play, weights that look trained, the memory in use."""

import os
from pathlib import Path

import numpy as np
import pytest

from loggers import Console
from training.presets import preset
from training.selfplay import game_seed

QUIET = Console(quiet=True)
IN_NUMPY = str(Path(__file__).with_name("numpy_training"))
"""On PYTHONPATH, a process trains residual networks in NumPy, without Keras: where the rest of a training is tested."""


def tiny(**changes):
    """Return settings of a run of seconds; float32, so that nothing depends on the processor's abilities."""
    settings = {
        "hidden_cnn_layers": ("8x3", "8x3"), "value_units": 8, "value_filters": 4, "policy_filters": 8,
        "iterations": 4, "episodes": 24, "mcts_sims": 12, "fast_sims": 6, "games_in_flight": 16, "min_memory": 50,
        "memory_size": 150, "batch_size": 32, "eval_episodes": 8, "eval_sims": 8, "eval_every": 2,
        "warmup_steps": 3, "cache_size": 1 << 10, "precision": "float32", "random_opening_share": 0.0,
        "score_positions": 50, "score_sims": 8, "score_games": 4,
    }  # fmt: skip
    return preset("tiny", **{**settings, **changes})


def jobs(count, run="run"):
    """Return games of self-play as (index, seed)."""
    return [(i, game_seed(run, 1, i)) for i in range(count)]


def trained_looking(model, seed=0):
    """Return weights of a size that training leads to, the paths that start at zero included."""
    rng, weights = np.random.default_rng(seed), []
    for variable in model.model.weights:
        shape, last = variable.shape, variable.path.split("/")[-1]
        if last in ("moving_variance", "gamma"):
            weights.append(rng.uniform(0.5, 1.5, shape))
        elif last == "kernel":  # without a mean, so that no ReLU is shut for every board
            kernel = rng.normal(0, 1.6 / np.sqrt(np.prod(shape[:-1])), shape)
            weights.append(kernel - kernel.mean(axis=tuple(range(len(shape) - 1))))
        else:
            weights.append(rng.normal(0, 0.1, shape))
    return [w.astype(np.float32) for w in weights]


def boards(game, count, seed=0):
    """Return planes [count, ...] of positions from random games."""
    rng, found, state = np.random.default_rng(seed), [], game.start()
    while len(found) < count:
        found.append(state.planes())
        state = state.takeAction(int(rng.choice(state.allowedActions)))[0]
        if state.isEndGame:
            state = game.start()
    return np.stack(found)


def used_memory():
    """Return the bytes of memory this process holds now."""
    statm = Path("/proc/self/statm")
    if not statm.exists():
        pytest.skip("the system does not tell what memory a process holds")
    return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def left_behind(work, limit):
    """Return the memory that is held after some work and was not before, in bytes.

    Work that changes more than the limit is done again, three times at most: what an allocator keeps for later or gives
    back comes once, a leak comes each time.
    """
    for _ in range(4):
        before = used_memory()
        work()
        found = used_memory() - before
        if abs(found) < limit:
            break
    return found


def tree_of(folder):
    """Return {path: bytes} of all files of a folder but those that SQLite makes for readers."""
    files = [
        p for p in sorted(Path(folder).rglob("*")) if p.is_file() and not p.name.endswith(("-shm", "-wal"))
    ]
    return {str(p.relative_to(folder)): p.read_bytes() for p in files}
