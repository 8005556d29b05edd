"""A device: what is measured of it; that plans keep it busy, by a slow simulation."""

import heapq
import threading
import time

import numpy as np
import pytest

import games
from network import device
from network.device import JOINED, SHARES, Plan, Speed, best_plan, measure, words

GAME = games.make("connect4")
SHAPE = GAME.input_shape


# ---- what is measured


def ideal(rate, latency, batch=1, devices=1, core=0.0):
    """Return the speed of a stand-in as it would be measured without any error; latency in ms."""
    sizes, rates = [], []
    for size in device.SIZES:
        sizes.append(size)
        rates.append(size / (-(-size // batch) * batch / rate))
        if len(rates) > 1 and rates[-1] < device.GROWTH * rates[-2]:
            break
    alone = tuple(size / r + latency / 1e3 for size, r in zip(sizes, rates, strict=True))
    return Speed(tuple(sizes), alone, tuple(rates), (core,) * len(sizes), devices)


def test_times_between_and_beyond_the_measured_sizes():
    speed = ideal(1000, 20.0)
    for size in (128, 300, 2048, 8192):
        assert speed.work(size) == pytest.approx(size / 1000) and speed.delay(size) == pytest.approx(0.02)
    assert speed.work(1) == speed.work(128) == pytest.approx(0.128), "a few positions take as long as many"
    assert ideal(1000, 20.0, devices=3).rate == pytest.approx(3000)


def test_larger_batches_are_measured_as_long_as_that_pays(monkeypatch):
    sizes = []

    def answer(planes):
        sizes.append(len(planes))
        time.sleep(0.002)
        return np.zeros(len(planes)), np.zeros((len(planes), 7))

    monkeypatch.setattr(device, "GROWTH", 0.0)
    found = measure(answer, SHAPE, (2, 4, 8))
    assert found.sizes == (2, 4, 8) and set(sizes) == {2, 4, 8} and found.devices == 1
    assert min(found.rates) > 0 and min(found.alone) > 0 and len(found.core) == 3
    assert sizes.count(2) >= 5 + 5 * device.IN_FLIGHT
    monkeypatch.setattr(device, "GROWTH", 1e9)
    assert measure(answer, SHAPE, (2, 4, 8)).sizes == (2, 4), "the rate does not grow"
    monkeypatch.setattr(device, "SLOW", 0.0)
    assert measure(answer, SHAPE, (2, 4, 8)).sizes == (2,), "a call takes long"


def test_the_rate_is_measured_with_calls_in_flight_at_once_and_an_error_comes_out():
    first, calls = threading.Barrier(device.IN_FLIGHT), []

    def answer(planes):
        calls.append(1)
        if len(calls) <= device.IN_FLIGHT:
            first.wait(60)  # passed only by as many threads at once

    assert device._rate(answer, np.zeros((2, *SHAPE), np.uint8), rounds=1, seconds=0.0) > 0
    assert len(calls) >= 2 * device.IN_FLIGHT

    def failing(planes):
        raise ZeroDivisionError("the device fails")

    with pytest.raises(ZeroDivisionError):
        device._rate(failing, np.zeros((2, *SHAPE), np.uint8))


# ---- the plan, against a simulation of threads, cores and device event by event


def simulated(plan, *, rate, latency, batch, cores, search, devices=1, cycles=300, seed=0):
    """Return positions per second of a plan: each thread searches on a free core, calls, and waits for its answers."""
    rng, now, events, order = np.random.default_rng(seed), 0.0, [], iter(range(10**9))
    free, ready, done, warm = cores, list(range(plan.threads)), 0, (0, 0.0)
    open_batch, in_flight, work_until = [[] for _ in range(devices)], [0] * devices, [0.0] * devices
    overhead = device.CYCLE + (device.JOINING if plan.joined > 1 else 0.0)

    def post(when, kind, what):
        heapq.heappush(events, (when, next(order), kind, what))

    def launch(d):
        while len(open_batch[d]) >= plan.joined or open_batch[d] and in_flight[d] == 0:
            members = [open_batch[d].pop(0) for _ in range(min(plan.joined, len(open_batch[d])))]
            work = -(-len(members) * plan.games // batch) * batch / rate
            work_until[d] = max(work_until[d], now) + work
            in_flight[d] += 1
            post(work_until[d] + latency, "answered", (d, members))

    while done < cycles * plan.threads:
        while free and ready:
            free -= 1
            post(now + (search * plan.games + overhead) * rng.uniform(0.8, 1.2), "searched", ready.pop(0))
        now, _, kind, what = heapq.heappop(events)
        if kind == "searched":
            free += 1
            open_batch[what % devices].append(what)
            launch(what % devices)
        else:
            d, members = what
            in_flight[d] -= 1
            ready += members
            done += len(members)
            launch(d)
            if not warm[0] and done > cycles * plan.threads // 4:
                warm = done, now
    return (done - warm[0]) * plan.games / (now - warm[1])


@pytest.mark.parametrize("cores", [2, 8, 32])
@pytest.mark.parametrize("batch", [1, 1024, 4096])
@pytest.mark.parametrize("rate", [100_000, 300_000, 1_000_000, 10_000_000])
def test_a_plan_keeps_device_or_cores_busy(cores, batch, rate):
    search = 1.25e-6
    for latency in (0.3, 1.0, 3.0, 30.0):
        plan = best_plan(ideal(rate, latency, batch), cores=cores, search=search, most=1 << 20)
        found = simulated(plan, rate=rate, latency=latency / 1e3, batch=batch, cores=cores, search=search)
        possible = min(rate, cores / (search + device._overhead(ideal(rate, latency), 8192, 1) / 8192))
        assert found >= 0.95 * min(possible, plan.rate), (latency, plan)
        assert plan.rate >= 0.85 * possible, (latency, plan)


def test_the_simulation_can_fail_a_plan():
    few = simulated(Plan(2, 128), rate=300_000, latency=1e-3, batch=1, cores=2, search=1.25e-6)
    assert few < 0.7 * 300_000


def test_several_devices_have_threads_each_and_twice_the_rate():
    one = best_plan(ideal(300_000, 1.0), cores=8, search=1.25e-6, most=1 << 20)
    two = best_plan(ideal(300_000, 1.0, devices=2), cores=8, search=1.25e-6, most=1 << 20)
    assert two.threads % 2 == 0 and two.rate == pytest.approx(2 * one.rate, rel=0.05)
    found = simulated(two, rate=300_000, latency=1e-3, batch=1, cores=8, search=1.25e-6, devices=2)
    assert found >= 0.95 * 600_000


def test_calls_are_put_together_where_that_pays():
    wide = best_plan(ideal(300_000, 1.0, 4096), cores=2, search=1.25e-6, most=1 << 20)
    assert wide.joined > 1 and wide.joined * wide.games >= 4096
    assert best_plan(ideal(300_000, 1.0), cores=2, search=1.25e-6, most=1 << 20).joined == 1


def test_a_plan_stays_within_its_limits():
    speed, options = ideal(1_000_000, 3.0), {"cores": 2, "search": 1.25e-6}
    free = best_plan(speed, most=1 << 20, **options)
    assert free.in_flight == free.wanted > 4096
    for most in (1, 31, 32, 700, 4096):
        plan = best_plan(speed, most=most, **options)
        assert 0 < plan.in_flight <= most and plan.wanted > plan.in_flight, most
    assert best_plan(speed, most=1 << 20, most_share=256, **options).games <= 256
    assert best_plan(speed, most=1 << 20, most_threads=1, **options).threads == 1
    for wished in (64, 2048, 16_384):
        plan = best_plan(speed, most=1 << 20, games=wished, **options)
        assert 0.9 * wished < plan.in_flight <= wished, plan
    assert best_plan(speed, most=1000, games=5000, **options).in_flight <= 1000


def test_plans_name_sizes_that_need_no_padding():
    from network.predictor import padded

    assert all(padded(share) == share for share in SHARES) and JOINED[0] == 1


def test_what_was_chosen_is_told():
    text = words(ideal(300_000, 1.0, devices=2), Plan(4, 1024, 2, rate=600_000.0))
    assert text == (
        "2 devices, each 300,000 evaluations/s, 1 ms of latency a call; 4 threads with 1,024 games each, "
        "up to 2 calls put together, 4,096 games in flight"
    )
