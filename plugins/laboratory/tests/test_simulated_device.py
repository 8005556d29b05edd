"""A stand-in for a device: what a call of it takes, and what self-play on it measures."""

import time

import numpy as np
import pytest

import games
from config import UserError
from network.device import Speed
from network.pipelines import SeveralDevices
from plugins.laboratory import simulated_device
from plugins.laboratory.simulated_device import SimulatedDevice
from support.search_cases import Projection
from support.tiny_runs import tiny
from training import device_plan
from training.device_bench import bench_device

GAME = games.make("connect4")


class Clock:
    """A clock that only sleeping moves."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(simulated_device, "time", clock)
    return clock


def planes(count):
    return np.zeros((count, *GAME.input_shape), np.uint8)


@pytest.mark.parametrize("batch, count, seconds", [(1, 1000, 0.011), (1, 1, 0.001_01), (512, 1, 0.006_12),
                                                   (512, 513, 0.011_24)])  # fmt: skip
def test_a_call_takes_latency_and_its_positions_in_whole_batches(clock, batch, count, seconds):
    stand_in = SimulatedDevice(GAME, 100_000, 1.0, batch)
    values, logits = stand_in(planes(count))
    assert clock.now == pytest.approx(seconds)
    assert stand_in.busy == pytest.approx(seconds - 0.001)
    assert values.shape == (count,) and logits.shape == (count, 7) and not values.any() and not logits.any()


def test_calls_in_flight_queue_and_their_latency_overlaps(clock, monkeypatch):
    stand_in, ends = SimulatedDevice(GAME, 1000, 50.0), []
    monkeypatch.setattr(clock, "sleep", ends.append)  # time stands still: all calls come at once
    for count in (100, 100, 10):
        stand_in(planes(count))
    assert ends == pytest.approx([0.15, 0.25, 0.26])
    clock.now = 10.0  # long after, the device is free again
    stand_in(planes(100))
    assert ends[-1] == pytest.approx(0.15) and stand_in.busy == pytest.approx(0.31)


@pytest.mark.parametrize("wrong", [(0, 1, 1), (1e10, 1, 1), (1000, -1, 1), (1000, float("nan"), 1), (1000, 1, 0)])
def test_an_impossible_stand_in_is_refused_in_one_line(wrong):
    with pytest.raises(UserError, match="^simulated-device: expected RATE from 1 to .* got [^\n]*$"):
        SimulatedDevice(GAME, *wrong)


# ---- self-play on it


@pytest.fixture
def at_once(monkeypatch):
    """The speeds of device and search are not measured."""
    few = Speed((128, 512), (0.002, 0.005), (1e5, 2e5), (1e-5, 2e-5))
    monkeypatch.setattr(device_plan, "measure", lambda *_: few)
    monkeypatch.setattr(device_plan, "search_seconds", lambda *_: 1e-6)


def test_the_figures_of_a_device_agree(at_once):
    device = SimulatedDevice(GAME, 50_000, 1.0)
    found = bench_device(GAME, tiny(), device, seconds=0.3)
    assert found["share"] == pytest.approx(found["selfplay_evals_per_s"] / 50_000)
    assert found["device_evals_per_s"] == 50_000 and 0 < found["mean_call"] <= found["games_in_flight"]
    assert found["core_us_per_eval"] * found["selfplay_evals_per_s"] == pytest.approx(1e6 * found["cores_busy"])
    assert found["core_us_per_sim"] * found["selfplay_sims_per_s"] == pytest.approx(1e6 * found["cores_busy"])
    assert found["device_busy"] >= 0.5 * found["share"] > 0
    assert [line["cores"] for line in found["by_cores"]] == [2, 8, 16, 32]
    both = SeveralDevices([SimulatedDevice(GAME, 50_000, 1.0) for _ in range(2)])
    assert bench_device(GAME, tiny(), both, seconds=0.2)["device_evals_per_s"] == 100_000
    with pytest.raises(TypeError, match="expected a predictor on a device"):
        bench_device(GAME, tiny(), Projection(GAME), seconds=0.2)


def test_an_error_of_a_device_ends_the_measurement(at_once, monkeypatch):
    device, began = SimulatedDevice(GAME, 50_000, 1.0), time.perf_counter()
    monkeypatch.setattr(SimulatedDevice, "__call__", lambda *_: (_ for _ in ()).throw(UserError("it fails")))
    with pytest.raises(UserError, match="it fails"):
        bench_device(GAME, tiny(), device, seconds=600.0)
    assert time.perf_counter() - began < 600
