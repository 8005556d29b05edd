"""What a run is said to take before it starts."""

import re
from types import SimpleNamespace

import games
from config import with_overrides
from initialise import Session
from loggers import clock, read_metrics
from storage.run_folders import find_run, read_config
from support.tiny_runs import QUIET, tiny
from training import estimate


def test_each_epoch_takes_its_time(monkeypatch):
    monkeypatch.setattr(estimate, "measure_raw", lambda *_: 100.0)
    monkeypatch.setattr(estimate, "clock", lambda seconds: f"{seconds:.3f} s")
    model = SimpleNamespace(model=SimpleNamespace(count_params=lambda: 1000))
    seconds = []
    for epochs in (1, 2, 3):
        session = SimpleNamespace(
            config=tiny(epochs=epochs, training_loops=10), best_version=0, current_version=0, iteration=1, model=model,
            game=games.make("tictactoe"), memory=SimpleNamespace(bytes_per_position=50), worked_seconds=0.0,
            predictor=lambda role, version: SimpleNamespace(name="numpy"),
        )  # fmt: skip
        seconds.append(float(re.search(r"positions, ([0-9.]+) s; ", estimate.budget_text(session))[1]))
    once = 10 * 10.0 * tiny().batch_size / 100.0
    assert abs(seconds[1] - seconds[0] - once) < 0.01 and abs(seconds[2] - seconds[0] - 2 * once) < 0.01


def test_a_run_that_goes_on_tells_what_its_last_iterations_took(trained, root, quick):
    folder = find_run("tictactoe", root=root)
    taken = [line["seconds"] for line in read_metrics(folder / "metrics.jsonl")]
    assert len(taken) == 4
    with Session.open(folder, with_overrides(read_config(folder), iterations=6), console=QUIET) as session:
        text = estimate.budget_text(session)
    assert f", {clock(sum(taken) / 4)}; the rest of the run: about {clock(sum(taken) / 2)}" in text
