"""`bench` reports every figure it promises, and its counts agree with each other."""

import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from interface.commands.bench import Bench
from interface.commands.bench import run as bench_command
from support.tiny_runs import tiny
from training.bench import Gate, Others, _Games, bench
from training.selfplay import Counts

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
    assert found["selfplay_sims_per_s"] > found["selfplay_evals_per_s"] > 0
    assert found["others_share"] is None or 0 <= found["others_share"] <= 1
    assert found["times_naive"] == pytest.approx(found["selfplay_sims_per_s"] / found["predict_sims_per_s"])
    assert [line["actions"] for line in found["search"]] == [7, 64, 225]
    sizes = [line["bytes_per_node"] for line in found["search"]]
    assert sizes == sorted(sizes) and all(line["us_per_sim"] > 0 for line in found["search"])


class Ended:
    """Self-play whose games end in a given order, each at a given second of play."""

    def __init__(self, ends):
        self.workers, self._ends = [SimpleNamespace(trees=1)], ends

    def play(self, evaluate, jobs, *, stop):
        clock = 0.0
        for index, second in self._ends:
            while clock < second:
                stop()  # waits at the gate
                time.sleep(0.005)
                clock += 0.005
            yield SimpleNamespace(index=index)
        while not stop():
            time.sleep(0.005)

    def counts(self):
        return Counts(*(0 for _ in Counts._fields))


@pytest.mark.parametrize("pause", [0.0, 0.3])
def test_games_a_second_are_those_of_a_fixed_set_whatever_the_pauses(monkeypatch, pause):
    """Games 0 to 2 are the set; game 3 has ended too when the last of them does, game 4 has not."""
    ends = [(0, 0.05), (3, 0.1), (2, 0.15), (1, 0.2), (4, 0.3)]
    monkeypatch.setattr("training.bench.SelfPlay", lambda *_, **__: Ended(ends))
    with _Games(None, tiny(games_in_flight=3), None) as played:
        for _ in range(4):
            played.pause()
            time.sleep(pause)
            assert len(played.measure(0.1)) == len(Counts._fields) + 1
        assert played.games_per_s is not None
    assert 4 / 0.9 < played.games_per_s <= 4 / 0.2, "the pauses, 1.2 s in all, are no self-play"


def test_without_the_end_of_the_set_there_are_no_games_a_second(capsys, monkeypatch):
    found = {"games_per_s": None, "others_share": 0.43}
    monkeypatch.setattr(Bench, "measured", lambda *_: found)
    assert bench_command(["--seconds", "1", "--games-in-flight", "64"]) == 0
    out = capsys.readouterr().out
    assert "busy machine: other programs took 43 % of the cores' time" in out and "the first 64 games have ended" in out
    found.update(games_per_s=2.5, others_share=0.02)
    assert bench_command(["--seconds", "1"]) == 0
    out = capsys.readouterr().out
    assert "quiet machine: other programs took 2 %" in out and "have ended" not in out


def test_what_others_take_of_the_cores_is_seen():
    others = Others()
    if others.share() is None:
        pytest.skip("only Linux says how long its cores were busy, and for whom")
    loop = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        began = time.monotonic()
        while others.share() < 0.05 and time.monotonic() - began < 60:
            time.sleep(0.1)
        assert others.share() >= 0.05
    finally:
        loop.kill()
        loop.wait()


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
