"""The command: real trials of tic-tac-toe; more trials later make only those."""

import json
import tomllib

import pytest

from plugins.experiment.plan import from_values
from support.command_line import output_of
from support.tiny_runs import IN_NUMPY

pytest.importorskip("optuna")
FILE = """
game = "tictactoe"
seeds = 1
self_play_games = 24
match_games = 4
sims = 8
opening_plies = 2
trials = {0}

[settings]
episodes = 24
min_memory = 50
memory_size = 150
batch_size = 32
hidden_cnn_layers = ["8x3", "8x3"]
precision = "float32"

[space]
mcts_sims = {{ low = 4, high = 16 }}
optimizer = ["muon", "adamw"]
"""


def test_more_trials_resume_a_sweep_and_its_best_becomes_a_plan(tmp_path, place, capsys, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", IN_NUMPY)
    file, folder = tmp_path / "space.toml", tmp_path / "s"
    file.write_text(FILE.format(1))
    code, out, err = output_of(capsys, "sweep", str(file), "-o", str(folder), "--json")
    assert code == 0, err
    [first] = json.loads(out)["trials"]
    assert 4 <= first["settings"]["mcts_sims"] <= 16 and first["settings"]["optimizer"] in ("muon", "adamw")
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("run.db")}
    assert len(before) == 2, "the base and a trial"
    file.write_text(FILE.format(2))
    code, out, err = output_of(capsys, "sweep", str(file), "-o", str(folder))
    assert code == 0, err
    after = {path: path.stat().st_mtime_ns for path in folder.rglob("run.db")}
    assert len(after) == 3 and all(after[path] == time for path, time in before.items()), "each run is made once"
    assert "| trial | mcts_sims | optimizer | Elo over the base | by seed |" in out
    values = tomllib.loads(out[out.index('game = "tictactoe"') :])
    plan = from_values(values, "next")
    assert (plan.match_games, plan.sims, plan.opening_plies) == (4, 8, 2)
    assert plan.first_seed == 1 and [v.name for v in plan.variants] == ["base", "best"]
