"""Fast evaluation of positions by a trained network; network/choose_predictor.py picks compiled Keras or OpenVINO.

A predictor maps planes [B, rows, columns, planes] uint8 to (value [B], logits [B, action_size]) for any B. Inside it
uses a few fixed batch sizes, so nothing is compiled twice. `load` replaces the weights.
"""

from __future__ import annotations

import threading
import time
from functools import cache
from typing import Protocol

import numpy as np

from config import SelfPlaySettings
from game import Game
from games.plain import PlainGame
from system import processes
from system.machine import processor_quota

BATCHES = (1, 8, 32, 64, 128, 256, 512, 1024)
"""Batch sizes, each compiled when first needed; a request is padded to the next size, or split into several of them."""
STEADY = 32
"""From this batch size on an evaluation is the same to the last bit in every batch; in smaller ones other kernels add
up in another order. Games that must follow from their seed alone request batches of at least this size (on a CPU: a GPU
may add up differently from one batch size to the next)."""
TOLERANCE = {"float32": (1e-4, 1e-3), "bfloat16": (0.05, 0.15)}
"""Largest difference from Keras in float32 that tests allow: (value, logit after centring)."""


class Predictor(Protocol):
    """Evaluates positions with one set of weights."""

    name: str
    """Shown to people, e.g. "openvino bfloat16"."""

    def load(self, weights: list[np.ndarray]) -> None:
        """Use these weights from now on; call it while no evaluation is running."""

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate positions; the arrays are valid until the same thread calls again."""
        ...


def on_device(predictor: object) -> bool:
    """Return whether a predictor computes on a device of its own, such as a GPU, and leaves the cores free."""
    return bool(getattr(predictor, "on_device", False))


def cores() -> int:
    """Return the number of processors that this process may use at once."""
    here = len(processes.processors())
    return min(here, processor_quota() or here)


def padded(count: int) -> int:
    """Return the compiled batch size that holds `count` positions."""
    return next((b for b in BATCHES if b >= count), -(-count // BATCHES[-1]) * BATCHES[-1])


@cache
def pieces(count: int) -> tuple[int, ...]:
    """Return the compiled batch sizes, largest first, that together hold `count` positions.

    For one core, on which an evaluation costs the same in all batches from STEADY on. More than STEADY positions get
    the least padding that such sizes allow. Twice STEADY is left out, because compiling a size for every version takes
    as long as a thousand evaluations.

    >>> pieces(170), pieces(20)
    ((128, 32, 32), (32,))
    """
    if count <= STEADY:
        return (padded(count),)
    sizes: list[int] = []
    while (left := count - sum(sizes)) > 0:
        room = -(-left // STEADY) * STEADY
        sizes.append(max(b for b in BATCHES if STEADY <= b <= room and b != 2 * STEADY))
    return tuple(sizes)


def random_positions(game: Game, count: int, seed: int = 0) -> np.ndarray:
    """Return planes [count, rows, columns, planes] of positions from random games."""
    found: list[np.ndarray] = []
    rng, state = np.random.default_rng(seed), game.start()
    while len(found) < count:
        found.append(state.planes())
        state = state.takeAction(int(rng.choice(state.allowedActions)))[0]
        if state.isEndGame:
            state = game.start()
    return np.stack(found)


def measure_raw(
    predictor: Predictor, shape: tuple[int, ...], batch: int, threads: int, seconds: float = 0.4
) -> float:
    """Return evaluations per second of the network alone, called by as many threads as self-play has.

    Counts complete batches over the time that each thread took for them, `seconds` or a little more: a batch can take a
    tenth of a second. Raises the predictor's first error.
    """
    planes = np.random.default_rng(0).integers(0, 2, (batch, *shape)).astype(np.uint8)
    rates = [0.0] * threads
    errors: list[BaseException] = []

    def measure(i: int) -> None:
        try:
            predictor(planes)
            ready.wait()
            began, evaluated = time.perf_counter(), 0
            while (spent := time.perf_counter() - began) < seconds:
                predictor(planes)
                evaluated += batch
            rates[i] = evaluated / spent
        except BaseException as error:
            errors.append(error)  # before the others are released: their errors, of the barrier, come after it
            ready.abort()

    ready = threading.Barrier(threads)
    workers = [threading.Thread(target=measure, args=(i,)) for i in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if errors:
        raise errors[0]
    return sum(rates)


def side_by_side(game: Game, play: SelfPlaySettings, threads: int | None = None) -> tuple[int, int]:
    """Return (games a thread, threads): by default one thread a core; one thread for a game in plain Python.

    A thread gets as many games as a compiled batch holds, so that it needs no padding: a batch of few games costs as
    much as a full one.
    """
    threads = cores() if threads is None else threads
    threads = 1 if isinstance(game, PlainGame) else threads
    return padded(max(-(-play.games_in_flight // threads), STEADY)), threads
