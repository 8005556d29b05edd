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
        self.evaluated = threading.Event()
        self.clear()

    def clear(self) -> None:
        """Make it empty."""
        self.count = self.copied = self.left = 0
        """Positions that have a place, those written into it, and threads that have not taken their answers."""
        self.closed = False
        self.written = threading.Event()
        """Set when all positions of a closed batch are written."""
        self.evaluated.clear()
        self.answer: Any = None
        self.error: BaseException | None = None


class JoinedCalls:
    """Puts calls together while `depth` calls are in flight: the first thread of a batch calls for all of it.

    A call that finds the device free is made at once. Where a call of few positions takes as long as one of many, this
    keeps the device's rate with fewer games in flight.
    """

    on_device = True

    def __init__(self, predictor: Predictor, *, most: int, depth: int = 2) -> None:
        """`most`: positions of a call at most; one that has more is made alone."""
        self.name = predictor.name
        self._predictor, self._most = predictor, most
        self._lock, self._slots = threading.Lock(), threading.Semaphore(depth)
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
            if batch is None or batch.count + count > self._most:
                batch = self._open = self._spare.pop() if self._spare else _Batch(self._most, planes.shape[1:])
            at, leads = batch.count, batch.count == 0
            batch.count += count
            batch.left += 1
        batch.planes[at : at + count] = planes
        with self._lock:
            batch.copied += count
            if batch.closed and batch.copied == batch.count:
                batch.written.set()
        if leads:
            self._call(batch)
        else:
            batch.evaluated.wait()
        return self._taken(batch, at, count)

    def _call(self, batch: _Batch) -> None:
        """Evaluate a batch when the device has room for another call; it takes positions until then."""
        with self._slots:
            with self._lock:
                if self._open is batch:
                    self._open = None
                batch.closed = True
                complete = batch.copied == batch.count
            if not complete:
                batch.written.wait()
            try:
                batch.answer = self._predictor(batch.planes[: batch.count])
            except BaseException as error:
                batch.error = error
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


def pipeline(predictor: Predictor, *, joined: int, games: int, depth: int) -> Predictor:
    """Return a predictor whose calls are put together as a plan says, on each of its devices."""
    if joined < 2:
        return predictor
    devices = devices_of(predictor)
    together = [JoinedCalls(device, most=joined * games, depth=depth) for device in devices]
    return SeveralDevices(together) if len(together) > 1 else together[0]
