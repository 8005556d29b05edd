"""A stand-in for a GPU, to measure self-play's pipeline on any machine: it answers late and takes no core for it.

A call of n positions takes `latency` + n / `rate` seconds. The latency of calls overlaps (transfers, launches); their
work does not: calls in flight queue, as on one device. n is rounded up to a multiple of `batch`, because a GPU takes as
long for a few positions as for many.
"""

from __future__ import annotations

import threading
import time

import numpy as np

from config import UserError
from game import Game

MOST_RATE, MOST_LATENCY, MOST_BATCH = 1e9, 10_000.0, 65_536


class SimulatedDevice:
    """Answers every position with the value 0 and equal logits.

    rate: positions per second; latency: milliseconds; batch: calls are rounded up to a multiple of this many positions.
    """

    on_device = True

    def __init__(self, game: Game, rate: float, latency: float, batch: int = 1) -> None:
        if not (1 <= rate <= MOST_RATE and 0 <= latency <= MOST_LATENCY and 1 <= batch <= MOST_BATCH):
            expected = (
                f"RATE from 1 to {MOST_RATE:,.0f} evaluations/s, LATENCY from 0 to {MOST_LATENCY:,.0f} ms, "
                f"BATCH from 1 to {MOST_BATCH:,} positions"
            )
            raise UserError(f"simulated-device: expected {expected}, got {rate:g} {latency:g} {batch}")
        self.rate, self.latency, self.batch = float(rate), latency / 1e3, batch
        self.name = f"simulated device, {rate:,.0f} evaluations/s, {latency:g} ms, batches of {batch:,}"
        self.busy = 0.0
        """Seconds of work done."""
        self._free = 0.0
        """When the work of all calls so far is done."""
        self._lock = threading.Lock()
        self._values, self._logits = np.zeros(0, np.float32), np.zeros((0, game.action_size), np.float32)

    def load(self, weights: list[np.ndarray]) -> None:
        """Take any weights: the answers do not depend on them."""

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Answer planes [B, rows, columns, planes] after the time that the device takes: values [B], logits [B, A]."""
        count = len(planes)
        work = -(-count // self.batch) * self.batch / self.rate
        with self._lock:
            now = time.perf_counter()
            self._free = max(self._free, now) + work
            ready = self._free + self.latency
            self.busy += work
            if count > len(self._values):
                self._values = np.zeros(count, np.float32)
                self._logits = np.zeros((count, self._logits.shape[1]), np.float32)
            values, logits = self._values[:count], self._logits[:count]
        time.sleep(max(ready - time.perf_counter(), 0.0))
        return values, logits
