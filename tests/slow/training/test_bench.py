"""`bench` reports every figure it promises, and its counts agree with each other."""

import threading
import time

import numpy as np
import pytest

from support.tiny_runs import tiny
from training.bench import Gate, bench

PROMISED = {
    "backend", "raw_evals_per_s", "selfplay_evals_per_s", "selfplay_sims_per_s", "share", "mean_batch_fill",
    "tree_us_per_sim", "games_per_s", "cache_hit_rate", "predict_sims_per_s", "search", "network_us_per_eval",
    "other_us_per_eval",
}  # fmt: skip


def test_bench_reports_what_it_promises_and_the_figures_agree():
    found = bench(tiny(), seconds=0.2)
    assert found.keys() >= PROMISED
    assert found["share"] == pytest.approx(found["selfplay_evals_per_s"] / found["raw_evals_per_s"])
    asked, other = found["network_us_per_eval"], found["other_us_per_eval"]
    assert (asked + other) * found["selfplay_evals_per_s"] == pytest.approx(1e6 * found["threads"])
    assert asked / (asked + other) == pytest.approx(found["share"])
    assert 0 < found["mean_batch_fill"] <= 1 and 0 <= found["cache_hit_rate"] < 1
    assert found["selfplay_sims_per_s"] > found["selfplay_evals_per_s"] > 0 and found["games_per_s"] >= 0
    assert found["times_naive"] == pytest.approx(found["selfplay_sims_per_s"] / found["predict_sims_per_s"])
    assert [line["actions"] for line in found["search"]] == [7, 64, 225]
    sizes = [line["bytes_per_node"] for line in found["search"]]
    assert sizes == sorted(sizes) and all(line["us_per_sim"] > 0 for line in found["search"])


def test_a_window_ends_when_each_thread_has_its_answers():
    gate, counts = Gate(), [0, 0]

    def play(i, seconds):
        while not gate():
            time.sleep(seconds)
            counts[i] += 1

    threads = [threading.Thread(target=play, args=job) for job in ((0, 0.03), (1, 0.05))]
    for thread in threads:
        thread.start()
    try:
        gate.close(2, threads[0])
        before, began = list(counts), gate.open()
        time.sleep(0.2)
        spent = gate.close(2, threads[0]) - began
        done = [now - then for now, then in zip(counts, before, strict=True)]
        time.sleep(0.1)
        assert [now - then for now, then in zip(counts, before, strict=True)] == done, "all stand at the gate"
        assert (0.03 * done[0] + 0.05 * done[1]) / 2 <= spent, "no batch counts that was not waited for"
    finally:
        gate.open(ended=True)
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()


def test_an_error_in_the_midst_of_a_window_is_told_and_nobody_waits_for_ever(monkeypatch):
    window = []

    def failing(model, **options):
        def predictor(planes):
            if window:
                raise ZeroDivisionError("the network fails")
            return np.zeros(len(planes), np.float32), np.zeros((len(planes), 9), np.float32)

        predictor.name = "failing"
        return predictor

    monkeypatch.setattr("training.bench.make_predictor", failing)
    monkeypatch.setattr("training.bench.measure_raw", lambda *_: window.append(1) or 1.0)
    with pytest.raises(ZeroDivisionError):
        bench(tiny(cache_size=0), seconds=0.2)
