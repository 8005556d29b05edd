"""What a run is said to take before it starts."""

import re
from types import SimpleNamespace

import budget
import games
from tiny import tiny


def test_each_epoch_takes_its_time(monkeypatch):
    monkeypatch.setattr(budget, "measure_raw", lambda *_: 100.0)
    monkeypatch.setattr(budget, "clock", lambda seconds: f"{seconds:.3f} s")
    model = SimpleNamespace(model=SimpleNamespace(count_params=lambda: 1000))
    seconds = []
    for epochs in (1, 2, 3):
        session = SimpleNamespace(
            config=tiny(epochs=epochs, training_loops=10), best_version=0, current_version=0, iteration=1, model=model,
            game=games.make("tictactoe"), memory=SimpleNamespace(bytes_per_position=50), worked_seconds=0.0,
            predictor=lambda role, version: SimpleNamespace(name="numpy"),
        )  # fmt: skip
        seconds.append(float(re.search(r"positions, ([0-9.]+) s; ", budget.budget_text(session))[1]))
    once = 10 * 10.0 * tiny().batch_size / 100.0
    assert abs(seconds[1] - seconds[0] - once) < 0.01 and abs(seconds[2] - seconds[0] - 2 * once) < 0.01
