"""Calls of many threads, put together for one device and shared out to several.

Both take and give what a predictor does. A device answers each call with arrays of its own, which stay as they are.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from network.predictor import Predictor


class SeveralDevices:
    """Equal devices with a pipeline each: every calling thread keeps to one of them, in turn."""

    on_device = True

    def __init__(self, devices: Sequence[Predictor]) -> None:
        self.devices = tuple(devices)
        self.name = f"{len(self.devices)} x {devices[0].name}"
        self._mine = threading.local()
        self._lock, self._threads = threading.Lock(), 0

    def load(self, weights: list[np.ndarray]) -> None:
        """Use these weights from now on, on every device."""
        for device in self.devices:
            device.load(weights)

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate positions on the calling thread's device."""
        mine: Any = self._mine.__dict__
        if "device" not in mine:
            with self._lock:
                mine["device"] = self.devices[self._threads % len(self.devices)]
                self._threads += 1
        answer: tuple[np.ndarray, np.ndarray] = mine["device"](planes)
        return answer


class _Batch:
    """Positions of several threads that are evaluated together."""

    def __init__(self, most: int, shape: tuple[int, ...]) -> None:
        self.planes = np.empty((most, *shape), np.uint8)
        self.complete, self.evaluated = threading.Event(), threading.Event()
        """Set when no position is missing any more; set when the answers are there."""
        self.clear()

    def clear(self) -> None:
        """Make it empty."""
        self.count = self.written = self.left = 0
        """Positions that have a place, those that are there, and threads that have not taken their answers."""
        self.closed = False
        """Whether it takes no more positions."""
        self.complete.clear()
        self.evaluated.clear()
        self.answer: Any = None
        self.error: BaseException | None = None


class JoinedCalls:
    """Puts calls together: a full batch is evaluated at once, another one when the device has nothing else to do.

    The first thread of a batch calls for all of it. Where a call of few positions takes as long as one of many, this
    keeps the device's rate with fewer games in flight.
    """

    on_device = True

    def __init__(self, predictor: Predictor, *, most: int) -> None:
        """`most`: positions of a batch; a call that has more is made alone."""
        self.name = predictor.name
        self._predictor, self._most = predictor, most
        self._lock, self._in_flight = threading.Lock(), 0
        self._open: _Batch | None = None
        self._spare: list[_Batch] = []

    def load(self, weights: list[np.ndarray]) -> None:
        """Use these weights from now on."""
        self._predictor.load(weights)

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate positions, together with those of other threads."""
        count = len(planes)
        if count > self._most:
            return self._predictor(planes)
        with self._lock:
            batch = self._open
            if batch is not None and batch.count + count > self._most:
                self._close(batch)
                batch = None
            if batch is None:
                batch = self._open = self._spare.pop() if self._spare else _Batch(self._most, planes.shape[1:])
            at = batch.count
            batch.count += count
            batch.left += 1
            if batch.count == self._most or self._in_flight == 0:
                self._close(batch)
        batch.planes[at : at + count] = planes
        with self._lock:
            batch.written += count
            if batch.closed and batch.written == batch.count:
                batch.complete.set()
        if at == 0:
            self._evaluate(batch)
        else:
            batch.evaluated.wait()
        return self._taken(batch, at, count)

    def _close(self, batch: _Batch) -> None:
        """Let a batch be evaluated as soon as its positions are there; call it with the lock."""
        self._open = None
        self._in_flight += 1
        batch.closed = True
        if batch.written == batch.count:
            batch.complete.set()

    def _evaluate(self, batch: _Batch) -> None:
        """Evaluate a batch when it is complete."""
        batch.complete.wait()
        try:
            batch.answer = self._predictor(batch.planes[: batch.count])
        except BaseException as error:
            batch.error = error
        with self._lock:
            self._in_flight -= 1
            if self._in_flight == 0 and self._open is not None:
                self._close(self._open)
        batch.evaluated.set()

    def _taken(self, batch: _Batch, at: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Return a thread's part of the answers; the last thread makes the batch free for others."""
        answer, error = batch.answer, batch.error
        with self._lock:
            batch.left -= 1
            if batch.left == 0:
                batch.clear()
                self._spare.append(batch)
        if error is not None:
            raise error
        values, logits = answer
        return values[at : at + count], logits[at : at + count]


def devices_of(predictor: Predictor) -> tuple[Predictor, ...]:
    """Return the devices of a predictor, itself if it is only one."""
    devices: tuple[Predictor, ...] = getattr(predictor, "devices", (predictor,))
    return devices


def pipeline(predictor: Predictor, *, joined: int, games: int) -> Predictor:
    """Return a predictor whose calls are put together as a plan says, on each of its devices."""
    if joined < 2:
        return predictor
    devices = devices_of(predictor)
    together = [JoinedCalls(device, most=joined * games) for device in devices]
    return SeveralDevices(together) if len(together) > 1 else together[0]
