"""Fast answers of a trained network: `make_predictor` picks compiled Keras or OpenVINO.

A predictor maps planes [B, rows, columns, planes] uint8 to (value [B], logits [B, action_size]) for any B; inside
it works with a few fixed batch sizes, so nothing is compiled twice. `load` swaps weights.
"""

from __future__ import annotations

import os
import threading
import time
from functools import cache
from typing import Protocol

import numpy as np

from config import SelfPlaySettings
from game import Game
from games.plain import PlainGame

BATCHES = (1, 8, 32, 64, 128, 256, 512, 1024)
"""Batch sizes compiled when first needed; questions are padded to the next one, or put together from some of them."""
STEADY = 32
"""From this batch size on an answer is the same to the last bit in every batch; in smaller ones other kernels add up
in another order. Games that are to follow from their seed alone ask in batches of at least this size (on a CPU: a GPU
may add up differently from one batch size to the next)."""
TOLERANCE = {"float32": (1e-4, 1e-3), "bfloat16": (0.05, 0.15)}
"""Largest difference from Keras in float32 that tests allow: (value, logit after centring)."""


class Predictor(Protocol):
    """Answers questions for one set of weights."""

    name: str
    """Shown to people, e.g. "openvino bfloat16"."""

    def load(self, weights: list[np.ndarray]) -> None:
        """Answer with these weights from now on; no question is in the air."""

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Answer; the arrays are valid until the same thread asks again."""
        ...


def cores() -> int:
    """Processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def padded(count: int) -> int:
    """Return the compiled batch size that holds `count` questions."""
    return next((b for b in BATCHES if b >= count), -(-count // BATCHES[-1]) * BATCHES[-1])


@cache
def pieces(count: int) -> tuple[int, ...]:
    """Return the compiled batch sizes, largest first, that together hold `count` questions.

    For one core, which an answer costs the same in all batches from STEADY on. More than STEADY questions have the
    least padding that such sizes allow; twice STEADY is left out, because to compile a size for every version takes as
    long as a thousand answers.

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


def measure_raw(
    predictor: Predictor, shape: tuple[int, ...], batch: int, threads: int, seconds: float = 0.4
) -> float:
    """Return evaluations a second of the network alone, asked by as many threads as self-play has.

    Whole batches over the time that each thread took for them, `seconds` or a little more: a batch can take a tenth of
    a second. Raises what the predictor raised first.
    """
    planes = np.random.default_rng(0).integers(0, 2, (batch, *shape)).astype(np.uint8)
    rates = [0.0] * threads
    errors: list[BaseException] = []

    def ask(i: int) -> None:
        try:
            predictor(planes)
            ready.wait()
            began, asked = time.perf_counter(), 0
            while (spent := time.perf_counter() - began) < seconds:
                predictor(planes)
                asked += batch
            rates[i] = asked / spent
        except BaseException as error:
            errors.append(error)  # before the others are let go: theirs, of the barrier, come after it
            ready.abort()

    ready = threading.Barrier(threads)
    workers = [threading.Thread(target=ask, args=(i,)) for i in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if errors:
        raise errors[0]
    return sum(rates)


def side_by_side(game: Game, play: SelfPlaySettings, threads: int | None = None) -> tuple[int, int]:
    """Return (games a thread, threads): one thread a core unless told, one for a game in plain Python.

    A thread's games are as many as a compiled batch holds, which so has no padding; where there are less than half as
    many as the smallest holds, their number was chosen to be small.
    """
    threads = cores() if threads is None else threads
    threads = 1 if isinstance(game, PlainGame) else max(1, min(threads, play.games_in_flight))
    share = -(-play.games_in_flight // threads)
    return share if 2 * share < STEADY else padded(max(share, STEADY)), threads
