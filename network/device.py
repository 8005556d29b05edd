"""A device that is not a core (a GPU): measures how fast it answers, and plans self-play's threads and games for it.

A call of b positions occupies the device for `work(b)` seconds; `delay(b)` seconds more pass until its answers are
there, during which the device can work on other calls. A thread searches its games on a core, calls, and waits, so
cores and device are both busy when enough threads and games are in flight (Little's law):

    games in flight = rate x (time of search + work + delay of a thread's positions)
"""

from __future__ import annotations

import threading
import time
from typing import Any, NamedTuple

import numpy as np

from compiled import up_to
from network.pipelines import devices_of
from network.predictor import Predictor

SIZES = 128, 512, 1024, 2048, 4096, 8192
"""Batch sizes that are measured, as long as the rate grows with them; a GPU compiles each, which takes seconds."""
GROWTH = 1.1
"""Growth of the rate from one size to the next below which larger ones are not measured."""
SHARES = 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192
"""Games that a thread may have, and so positions of its calls: batch sizes that need no padding."""
JOINED = 1, 2, 4, 8
"""Calls of threads that may be put together into one."""
IN_FLIGHT = 8
"""Calls in flight while the rate is measured."""
SLOW = 0.25
"""Seconds of a call from which on larger batches are not measured."""
CYCLE, JOINING = 10e-6, 30e-6
"""Core seconds of Python between two calls of a thread (measured: 4 us), and more where calls are joined (21 us)."""
SPARE = 1.5
"""Threads over the fewest that keep everything busy if each cycle took its mean time."""
NEAR, OVERHEAD = 0.98, 0.15
"""Of plans whose rate is this near to the best the one with the fewest games is taken, out of those whose calls cost
the cores at most this fraction of the search."""


class Speed(NamedTuple):
    """What was measured of a device, for S batch sizes."""

    sizes: tuple[int, ...]
    alone: tuple[float, ...]
    """Seconds of a call with no other in flight."""
    rates: tuple[float, ...]
    """Positions per second with several calls in flight."""
    core: tuple[float, ...]
    """Seconds of a core that a call takes."""
    devices: int = 1
    """Number of such devices."""

    def work(self, size: int) -> float:
        """Return the seconds for which a call occupies the device."""
        return self._at(size, [n / rate for n, rate in zip(self.sizes, self.rates, strict=True)], 1 / max(self.rates))

    def delay(self, size: int) -> float:
        """Return the seconds of a call in which the device could work on others."""
        return max(self._at(size, list(self.alone), 1 / max(self.rates)) - self.work(size), 0.0)

    def core_seconds(self, size: int) -> float:
        """Return the seconds of a core that a call takes."""
        return self._at(size, list(self.core), self.core[-1] / self.sizes[-1])

    @property
    def rate(self) -> float:
        """The highest rate measured, of all devices, in positions per second."""
        return self.devices * max(self.rates)

    def _at(self, size: int, seconds: list[float], more: float) -> float:
        """Return a time for any size: interpolated, constant below the measured sizes, `more` a position above."""
        return float(np.interp(size, self.sizes, seconds)) + max(size - self.sizes[-1], 0) * more


class Plan(NamedTuple):
    """How self-play uses a device."""

    threads: int
    games: int
    """Games of a thread: the positions of a call."""
    joined: int = 1
    """Calls of threads that are put together, at most."""
    rate: float = 0.0
    """Positions per second that are expected."""
    wanted: int = 0
    """Games in flight that would keep everything busy; more than `in_flight` where these are limited."""

    @property
    def in_flight(self) -> int:
        """Games in flight."""
        return self.threads * self.games


def measure(predictor: Predictor, shape: tuple[int, ...], sizes: tuple[int, ...] = SIZES) -> Speed:
    """Measure a device in a second or so; the first call of a size compiles it. Of several equal ones, the first."""
    devices = devices_of(predictor)
    found: list[tuple[int, float, float, float]] = []
    for size in sizes:
        planes = np.random.default_rng(0).integers(0, 2, (size, *shape)).astype(np.uint8)
        devices[0](planes)
        spent: list[float] = []
        core = time.thread_time()
        while len(spent) < 5 or sum(spent) < 0.03:
            began = time.perf_counter()
            devices[0](planes)
            spent.append(time.perf_counter() - began)
        core, alone = (time.thread_time() - core) / len(spent), min(spent)  # other work on the machine only adds
        found.append((size, alone, _rate(devices[0], planes), core))
        if alone > SLOW or len(found) > 1 and found[-1][2] < GROWTH * found[-2][2]:
            break
    columns: Any = tuple(zip(*found, strict=True))
    return Speed(*columns)._replace(devices=len(devices))


def _rate(predictor: Predictor, planes: np.ndarray, rounds: int = 4, seconds: float = 0.1) -> float:
    """Return positions per second with IN_FLIGHT calls in flight, counted from each thread's first answer on."""
    ends: list[float] = []
    errors: list[BaseException] = []
    until = time.perf_counter() + seconds

    def call() -> None:
        try:
            done = 0
            while done <= rounds or time.perf_counter() < until:
                predictor(planes)
                ends.append(time.perf_counter())
                done += 1
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=call) for _ in range(IN_FLIGHT)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    ends.sort()
    return len(planes) * (len(ends) - IN_FLIGHT) / max(ends[-1] - ends[IN_FLIGHT - 1], 1e-9)


def best_plan(
    speed: Speed, *, cores: int, search: float, most: int, most_share: int = SHARES[-1], most_threads: int = 0,
    games: int = 0,
) -> Plan:  # fmt: skip
    """Return the plan with the fewest games in flight that keeps cores or devices busy.

    search: core seconds of the search for one evaluation; most: games that may be in flight; most_share: the same of a
    thread; most_threads: 0 = some a core; games: how many shall be in flight, 0 = chosen.
    """
    most_threads = most_threads or max(16, 8 * cores)
    plans = [
        plan for share in SHARES if share <= most_share for joined in JOINED
        if (plan := _plan(speed, share, joined, cores, search, min(games or most, most), most_threads, bool(games)))
    ]  # fmt: skip
    if games:
        plans = [plan for plan in plans if plan.in_flight > 0.9 * max(plan.in_flight for plan in plans)]
    if not plans:
        return Plan(1, max(min(games or most, most, most_share), 1), wanted=SHARES[0])
    light = [p for p in plans if _overhead(speed, p.games, p.joined) <= OVERHEAD * search * p.games]
    best = max(plan.rate for plan in light or plans)
    near = [plan for plan in light or plans if plan.rate >= NEAR * best]
    return min(near, key=lambda plan: (plan.in_flight * (1.0 if plan.joined == 1 else 1.25), plan.joined, plan.threads))


def _overhead(speed: Speed, share: int, joined: int) -> float:
    """Return the core seconds of a thread's call."""
    return CYCLE + speed.core_seconds(share * joined) / joined + (JOINING if joined > 1 else 0.0)


def _plan(
    speed: Speed, share: int, joined: int, cores: int, search: float, most: int, most_threads: int, fixed: bool
) -> Plan | None:
    """Return the plan for a thread's share of games, None where it is impossible; `fixed`: with `most` games."""
    size = share * joined
    core = search + _overhead(speed, share, joined) / share
    python = share / _overhead(speed, share, joined)  # positions/s at which Python's lock is never free
    bound = min(cores / core, speed.devices * size / speed.work(size), python)
    cycle = core * share + speed.work(size) + speed.delay(size)
    needed = bound * cycle / share
    wanted = up_to(speed.devices, int(np.ceil(max(SPARE * needed, 2 * joined * speed.devices, 2))))
    threads = most // share if fixed else min(wanted, most // share)
    threads = min(threads, most_threads) // speed.devices * speed.devices
    if threads < max(joined * speed.devices, 1):
        return None
    return Plan(threads, share, joined, bound * min(threads / wanted, 1.0), wanted * share)


def words(speed: Speed, plan: Plan) -> str:
    """Return what was measured and chosen, in words."""
    many = f"{speed.devices} devices, each " if speed.devices > 1 else ""
    best = speed.sizes[int(np.argmax(speed.rates))]
    joined = f", up to {plan.joined} calls put together" if plan.joined > 1 else ""
    return (
        f"{many}{max(speed.rates):,.0f} evaluations/s, {1e3 * speed.delay(best):.2g} ms of latency a call; "
        f"{plan.threads} threads with {plan.games:,} games each{joined}, {plan.in_flight:,} games in flight"
    )
