"""The command: real runs of tic-tac-toe, killed twice and resumed; a variant with code of its own; the report."""

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import time

import pytest

from loggers import METRICS, read_metrics
from plugins.experiment import measure
from plugins.experiment.folder import read_experiment
from plugins.experiment.runs import jobs
from storage.run_folders import read_config, runs_of
from storage.run_store import Store
from support.command_line import output_of
from support.tiny_runs import IN_NUMPY
from system.place import HERE, START

SETTINGS = [
    "episodes=24",
    "fast_sims=6",
    "games_in_flight=16",
    "memory_size=150",
    "min_memory=50",
    "batch_size=32",
    "hidden_cnn_layers=8x3,8x3",
    "value_units=8",
    "warmup_steps=3",
    "cache_size=1024",
    "precision=float32",
]
COMMAND = [
    "experiment",
    "--game",
    "tictactoe",
    "--vary",
    "mcts_sims=12,1",
    "--set",
    *SETTINGS,
    "--self-play-games",
    "48",
    "--match-games",
    "12",
    "--sims",
    "8",
    "--opening-plies",
    "2",
    "--positions",
    "40",
]


def started(folder, seeds):
    command = [*START, *COMMAND, "--seeds", str(seeds), "-o", str(folder)]
    environment = {**os.environ, "PYTHONPATH": IN_NUMPY}
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)


def state_of(job):
    """Return a digest of all that a run holds but times."""
    store = Store(job.folder / "run.db", read_only=True)
    try:
        return store.state_digest()
    finally:
        store.close()


def results_of(folder, seed):
    plan, _ = read_experiment(folder)
    kept = [{k: v for k, v in r.items() if k != "curve"} for r in measure.read_results(folder) if r["seed"] == seed]
    assert len(kept) == 3, "a match, and the solved positions of two variants"
    return kept, {j.number: state_of(j) for j in jobs(plan, folder) if j.seed == seed}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("experiment") / "undisturbed"
    process = started(folder, 2)
    assert (process.communicate()[1], process.returncode) == (b"", 0)
    return folder


def until(true, process):
    while not true():
        assert process.poll() is None, process.stderr.read().decode()
        time.sleep(0.02)


def test_killed_twice_and_resumed_the_result_is_the_same(undisturbed, tmp_path):
    """It is that of the same seed in an experiment of two seeds, which nobody disturbed."""
    folder = tmp_path / "killed"
    process = started(folder, 1)
    until(lambda: list(folder.glob("runs/*/*/tictactoe/run0001/run.mark")), process)  # in its first run
    process.kill()
    process.communicate()
    process = started(folder, 1)
    until(lambda: measure.read_results(folder), process)  # after its first match
    process.kill()
    process.communicate()
    (folder / measure.RESULTS).write_bytes((folder / measure.RESULTS).read_bytes() + b'{"kind": "ma')
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("run.db")}
    process = started(folder, 1)
    assert (process.communicate()[1], process.returncode) == (b"", 0)
    assert results_of(folder, 0) == results_of(undisturbed, 0)
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("run.db")} == before, "each run is made once"
    roots = list(folder.glob("runs/*/*"))  # a folder of a start that was killed half-way is no run
    assert len(roots) == 2 and all(len(runs_of("tictactoe", root)) == 1 for root in roots)


def test_the_same_command_says_the_result_again_without_a_run(undisturbed, place, capsys):
    before = (undisturbed / measure.RESULTS).read_bytes()
    code, out, err = output_of(capsys, *COMMAND, "--seeds", "2", "-o", str(undisturbed), "--json")
    values = json.loads(out)
    assert code == 0 and out.count("\n") == 1
    assert [row["name"] for row in values["rows"]] == ["mcts_sims=12", "mcts_sims=1"]
    assert all(row["seeds"] == 2 and row["games"] == 48 for row in values["rows"])
    assert all(0 <= row["shares"]["searched"] <= 100 for row in values["rows"])
    assert "2 seeds" in err and "to see 30 Elo" in err and "run 1 of" not in err
    assert (undisturbed / measure.RESULTS).read_bytes() == before
    code, out, err = output_of(capsys, *COMMAND, "--seeds", "3", "-o", str(undisturbed))
    assert code == 2 and "-o names another folder" in err


def test_a_run_that_fails_is_named_with_its_log(place, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", IN_NUMPY)
    plan = tmp_path / "plan.toml"
    (tmp_path / "net.py").write_text("nonsense = 1\n")
    plan.write_text(
        'game = "tictactoe"\nseeds = 1\nself_play_games = 24\n[settings]\nepisodes = 24\n[variants.base]\n'
        f'[variants.mine]\nnetwork = "{tmp_path}/net.py:Net"\n'
    )
    code, _, err = output_of(capsys, "experiment", str(plan), "-o", str(tmp_path / "e"))
    assert code == 2 and re.search(r"seed 0, mine: exit code 2: .*net\.py.*output\.log", err), err
    assert err.count("\n") == 1


NETWORK = """
import os, keras
from model import Gen_Model

class Dense(Gen_Model):
    def _build(self, dtype):
        open(__file__ + ".used", "a").write(str(os.getpid()) + " ")
        board = keras.Input(self.game.input_shape, dtype="uint8", name="planes")
        x = keras.layers.Flatten(dtype=dtype)(keras.layers.Rescaling(1.0, dtype=dtype)(board))
        value = keras.layers.Dense(1, activation="tanh", dtype="float32", name="value_head")(x)
        policy = keras.layers.Dense(self.game.action_size, dtype="float32", name="policy_head")(x)
        return keras.Model(board, [value, policy])
"""
GAME = """
import os
from games import tictactoe

open(__file__ + ".used", "a").write(str(os.getpid()) + " ")

class Own(tictactoe.TicTacToe):
    pass
"""
OF_FILES = """
game = "tictactoe"
seeds = 1
evaluations = 2000
match_games = 4
sims = 8
positions = 10
opening_plies = 2

[settings]
episodes = 24
min_memory = 50
memory_size = 150
batch_size = 32
hidden_cnn_layers = ["8x3", "8x3"]
precision = "float32"
mcts_sims = 12

[variants.base]

[variants.theirs]
checkout = "{0}/checkout"
game = "{0}/rules.py:Own"

[variants."my network"]
network = "{0}/net.py:Dense"

[variants.grows]
hidden_cnn_layers = ["8x3", "8x3"]
first = {{ share = 0.5, hidden_cnn_layers = ["4x3", "4x3"] }}
"""


def test_another_checkout_a_network_and_a_game_each_train_and_play_by_their_own_code(
    tmp_path, place, capsys, monkeypatch
):
    """One experiment, whose budget is a number of evaluations; one variant begins with a smaller network."""
    monkeypatch.setenv("PYTHONPATH", IN_NUMPY)
    other = tmp_path / "checkout"
    left_out = "run_archive", ".*", "docs", "benchmarks", "run", "__pycache__", "tests"
    shutil.copytree(HERE, other, ignore=shutil.ignore_patterns(*left_out))
    subprocess.run([sys.executable, HERE / ".ci" / "copy_compiled.py", HERE, other], check=True)
    code = other / "players" / "by_name.py"
    code.write_text(code.read_text() + '\n\nopen(__file__ + ".used", "a").write("by\\n")\n')
    (tmp_path / "net.py").write_text(NETWORK)
    (tmp_path / "rules.py").write_text(GAME)
    (tmp_path / "plan.toml").write_text(OF_FILES.format(tmp_path))
    code, out, err = output_of(capsys, "experiment", str(tmp_path / "plan.toml"), "-o", str(tmp_path / "e"), "--json")
    assert code == 0, err
    assert (other / "players" / "by_name.py.used").exists(), "its own code played"
    here = str(os.getpid())
    for name in ("net.py.used", "rules.py.used"):
        assert {*(tmp_path / name).read_text().split()} - {here}, f"{name}: a process of its own"
    plan, _ = read_experiment(tmp_path / "e")
    found = {job.variant.name: job for job in jobs(plan, tmp_path / "e")}
    configs = {name: read_config(job.folder) for name, job in found.items()}
    assert configs["my network"].network == f"{tmp_path}/net.py:Dense"
    assert configs["theirs"].game == f"{tmp_path}/rules.py:Own"
    assert [configs[name].network for name in ("base", "theirs")] == [None] * 2
    for name, job in found.items():
        for folder in job.folders:
            lines = read_metrics(folder / METRICS)
            assert not any(line["tournament_played"] for line in lines), "nothing is spent on looking, nor at the end"
            counts = [line["self_play_evaluations"] for line in lines]
            limit = 2000 / len(job.folders)
            assert sum(counts) >= limit > sum(counts[:-1]) > 0, f"{name} ends with the iteration that reaches it"
    small, grown = found["grows"].folders
    assert read_config(small).hidden_cnn_layers == ("4x3", "4x3") and configs["grows"].hidden_cnn_layers[0] == "8x3"
    lines = found["grows"].metrics()
    assert len(lines) == sum(len(read_metrics(folder / METRICS)) for folder in (small, grown))
    assert all(b["total_seconds"] > a["total_seconds"] for a, b in itertools.pairwise(lines))
    first = read_metrics(grown / METRICS)[0]
    assert first["self_play_memory"] > first["self_play_new_positions"], "it has the games of the small network"
    results = measure.read_results(tmp_path / "e")
    played = {tuple(r["variants"]): r["scores"] for r in results if r["kind"] == "match"}
    assert len(played) == 6 and all(len(scores) == 4 for scores in played.values())
    kept = [r["searched"] for r in results if r["kind"] == "kept"]
    assert kept[0] == kept[1], "the same settings, seed and rules but for what changes nothing"
    values = json.loads(out)
    assert [row["name"] for row in values["rows"]] == [*found]
    assert all(row["evaluations"] >= 2000 for row in values["rows"]) and "1 seed" in err + out


def test_reports_hold_all_in_one_file(undisturbed, trained_place, tmp_path, capsys):
    for words in (("1", "--game", "tictactoe"), (str(undisturbed),)):
        file = tmp_path / "report.html"
        code, out, err = output_of(capsys, "report", *words, "-o", str(file))
        assert (code, err) == (0, "") and f"{file}" in out
        text = file.read_text()
        assert "default-src 'none'" in text
        assert not re.search(r"(src|href)\s*=|@import|https?://(?!www\.w3\.org)|url\((?!#)", text)
        data = json.loads(re.search(r'id="data">(.*?)</script>', text)[1])
        assert data["games"] and all(len(g["boards"]) == len(g["moves"]) + 1 for g in data["games"])
        assert all(part < len(data["parts"]) for drawn in data["drawn"] for part in drawn)
        assert "<h2>Do it again</h2>" in text and "<svg" in text and "<h2>Curves</h2>" in text
    assert re.search(r"\[[+-]?\d+, [+-]?\d+\]", text.split("<h2>Answer</h2>")[1].split("<h2>")[0])
    file.write_text("mine")
    assert output_of(capsys, "report", str(undisturbed), "-o", str(file))[0] == 2 and file.read_text() == "mine"
    assert output_of(capsys, "report", "nothing")[0] == output_of(capsys, "report", "-o", "x.pdf")[0] == 2


def test_an_experiment_at_work_has_a_report_without_an_answer(undisturbed, tmp_path, capsys, place):
    folder = tmp_path / "half"
    shutil.copytree(undisturbed, folder)
    shutil.rmtree(folder / "runs" / "seed1" / "variant0")
    (folder / measure.RESULTS).unlink()
    code, _, _ = output_of(capsys, "report", str(folder), "-o", str(tmp_path / "half.html"))
    text = (tmp_path / "half.html").read_text()
    assert code == 0 and "3 of 4 runs are finished: the answer comes at the end" in text and "certain" not in text
