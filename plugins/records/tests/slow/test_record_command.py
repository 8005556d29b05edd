"""A claim is run, its runs are made once, and the answer is yes or no."""

import json

from support.command_line import output_of
from support.tiny_runs import IN_NUMPY

CLAIM = """
[small]
about = "some moves of tic-tac-toe"
game = "tictactoe"
measure = "kept"
goal = {0}
sims = {1}
positions = 60

[[small.records]]
minutes = 0.03
seeds = [1, 2147483647]

[small.records.settings]
episodes = 24
min_memory = 50
memory_size = 150
batch_size = 32
mcts_sims = 12
hidden_cnn_layers = ["8x3", "8x3"]
precision = "float32"
"""


def test_a_claim_is_trained_measured_and_holds_or_does_not(tmp_path, place, capsys, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", IN_NUMPY)
    file = tmp_path / "mine.toml"
    file.write_text(CLAIM.format(1, 8))
    words = "record", "--file", str(file), "--check", "small"
    code, out, err = output_of(capsys, *words)
    assert code == 0, err
    assert "the claim holds" in out and "[[small.records]]" in out and "seeds = [1, 2147483647]" in out
    made = {path: path.stat().st_mtime_ns for path in place.rglob("run.db")}
    assert len(made) == 2 and any("seed2147483647" in str(path) for path in made)
    file.write_text(CLAIM.format(100, 1))
    code, out, err = output_of(capsys, *words, "--json")
    values = json.loads(out)
    assert code == 1 and not values["holds"] and [run["seed"] for run in values["runs"]] == [1, 2**31 - 1]
    assert all(run["curve"] and run["percent"] < 100 for run in values["runs"])
    assert {path: path.stat().st_mtime_ns for path in place.rglob("run.db")} == made, "each run is made once"
