"""Play, measuring and self-play workers load neither Keras nor anything else that only training or the page needs."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from interface.missing_packages import lacking
from network.stored_network import KEY
from storage.run_folders import SHIPPED
from storage.run_store import Store

HERE = Path(__file__).parents[2]
HEAVY = ["keras", "tensorflow", "jax", "torch", "matplotlib", "nicegui", "notebook", "IPython"]
COMMAND = "from interface.cli import run\nassert run(sys.argv[1:]) == 0"
LITTLEGO = """
import json
from plugins.littlego.thinker import think
said = []
think(json.loads(sys.argv[1]), said.append)
assert [answer["by"].partition(":")[0] for answer in said if answer["final"]] == ["shipped"], said
"""
WORKER = """
import json
from collections import deque
from training.worker_player import make_network_player
player = make_network_player(json.loads(sys.argv[1]))
player.load(*json.loads(sys.argv[2]), 1)
assert len(list(player.play(deque([(0, 1)]), lambda: False, lambda: True))) == 1
"""
PAGE = """
import games
from plugins.page.web_players import SHIPS, Roster, choose, look, runs_by_name
game, roster = games.make("tictactoe"), Roster()
name = next(f"{run}:best" for run in runs_by_name(game.spec) if run.startswith(SHIPS))
assert look(roster.analyst(name, game), game.start(), 8)
assert choose(roster.make(name, game, "25"), "25", game.start(), [], lambda: False)
"""
WITHOUT = """
from importlib import metadata
from importlib.machinery import PathFinder
find, version = PathFinder.find_spec, metadata.version
hidden = {"keras", "tensorflow", "matplotlib", "nicegui", "packaging", "notebook", "ipykernel"}
PathFinder.find_spec = lambda name, *rest: None if name.split(".")[0] in hidden else find(name, *rest)
metadata.version = lambda name: version("nothing of this name" if name in hidden else name)
from interface.cli import run
sys.exit(run(sys.argv[1:]))
"""
"""Runs a command line as where only the packages of requirements-play.txt are installed."""
SMALL = ["--game", "tictactoe", "--hidden-cnn-layers", "8x3"]


def python(code, *argv, cwd):
    """Run code in a new process, in which a run's folder `cwd`/runs is the user's."""
    return subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}", *argv], cwd=cwd, input="", capture_output=True, text=True,
        timeout=1100, env={**os.environ, "PYTHONPATH": str(HERE), "ALPHAZERO_RUNS": str(cwd / "runs")}, check=False,
    )  # fmt: skip


def loaded(code, *argv, cwd):
    """Return (the output, the modules out of HEAVY that are loaded after `code`) of a new process."""
    done = python(f"{code}\nprint('\\nloaded:', *(sys.modules.keys() & set({HEAVY!r})))", *argv, cwd=cwd)
    assert done.returncode == 0, done.stderr
    out, _, names = done.stdout.rpartition("loaded:")
    return out, names.split()


@pytest.mark.parametrize(
    "argv, words",
    [
        (["play", "--game", "tictactoe", "--first", "machine", "--sims", "8"], "shipped:version"),
        (["match", "shipped", "net:shipped", "--game", "tictactoe", "--games", "2", "--sims", "8"], "shipped:version"),
        (["explain", "--game", "tictactoe", "--sims", "8"], "shipped:version"),
        (["evaluate", "--game", "tictactoe", "--positions", "10", "--sims", "4", "--ladder-games", "2",
          "--ladder-sims", "4", "--json"], "shipped:version"),
        (["levels", "--game", "tictactoe"], "level"),
        (["gtp"], ""), (["gomocup"], ""), (["analysis"], ""),
        (["milestones", "--game", "tictactoe"], "version 60 already wins at once when it can"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)  # fmt: skip
def test_a_command_loads_no_keras(tmp_path, argv, words):
    out, names = loaded(COMMAND, *argv, cwd=tmp_path)
    assert words in out and names == []


def test_a_review_by_a_network_loads_no_keras(tmp_path):
    (tmp_path / "game.txt").write_text("c2")
    out, names = loaded(COMMAND, "review", "game.txt", "--game", "othello(size=6)", "--sims", "8", cwd=tmp_path)
    assert "shipped:version" in out and names == []


def test_a_turn_of_littlego_loads_no_keras(tmp_path):
    task = {"player_to_move": 1, "before": [0] * 25, "board": [0] * 25, "ply": 0, "end": 1e9, "player": "shipped",
            "sims": 8, "seed": 1}  # fmt: skip
    assert loaded(LITTLEGO, json.dumps(task), cwd=tmp_path)[1] == []


def test_a_self_play_worker_loads_no_keras(tmp_path):
    folder = SHIPPED / "tictactoe" / "run0001"
    store = Store(folder / "run.db", read_only=True)
    newest = store.newest()
    store.close()
    settings = {"config": (folder / "config.json").read_text(), "folder": str(folder), "cores": [0]}
    weights = [str(folder / "models" / newest.file), newest.sha256]
    if hasattr(os, "sched_getaffinity"):
        settings["cores"] = sorted(os.sched_getaffinity(0))
    assert loaded(WORKER, json.dumps(settings), json.dumps(weights), cwd=tmp_path)[1] == []


def test_the_page_plays_without_keras(tmp_path):
    out, names = loaded(PAGE, cwd=tmp_path)
    assert names == [], out


def test_a_run_that_does_not_say_how_it_is_evaluated_goes_by_way_of_keras(tmp_path):
    """A run of before, with the answers of today's."""
    explain, folder = ["explain", "--game", "tictactoe", "--sims", "8", "--player"], tmp_path / "runs" / "tictactoe"
    shutil.copytree(SHIPPED / "tictactoe", folder)
    with sqlite3.connect(folder / "run0001" / "run.db") as database:
        assert database.execute("DELETE FROM meta WHERE key = ?", (KEY,)).rowcount == 1
    database.close()
    today, old = (loaded(COMMAND, *explain, player, cwd=tmp_path) for player in ("shipped", "run0001:best"))
    assert (today[1], "keras" in old[1]) == ([], True)
    moves = [[line.split()[:2] for line in out.splitlines() if line.strip()[:2].isalnum()] for out, _ in (today, old)]
    assert len(moves[0]) > 4 and moves[0][1:] == moves[1][1:]


@pytest.mark.parametrize(
    "argv, package, file",
    [
        (["--new", *SMALL], "train needs keras", "requirements.txt"),
        (["bench", *SMALL], "bench needs keras", "requirements.txt"),
        (["curves", "--game", "tictactoe"], "curves needs matplotlib", "requirements.txt"),
        (["serve", "--no-open"], "serve: nicegui is not installed", "requirements-web.txt"),
    ],
)
def test_a_command_that_needs_more_names_it_in_one_line(tmp_path, argv, package, file):
    shutil.copytree(SHIPPED / "tictactoe", tmp_path / "other" / "tictactoe")
    if argv[0] == "curves":
        shutil.move(tmp_path / "other", tmp_path / "runs")
    done = python(WITHOUT, *argv, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    line, end = done.stderr.split("\n")
    assert line.startswith(f"error: {package}") and f"`pip install -r {file}`" in line and end == ""
    assert not any((tmp_path / "runs").glob("*/run0002"))


@pytest.mark.parametrize("package", ["numpy", "numba", "llvmlite", "tyro"])
def test_a_python_without_what_everything_needs_is_told_so_in_one_line(tmp_path, package):
    done = python(WITHOUT.replace("hidden = {", f"hidden = {{{package!r}, "), "doctor", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    words = f"doctor needs {package}, which is not installed here: `pip install -r requirements.txt`"
    assert done.stderr == f"error: {words}\n"


def test_the_doctor_finds_an_environment_for_play_in_order(tmp_path):
    done = python(WITHOUT, "doctor", "--game", "tictactoe", "--json", cwd=tmp_path)
    found = {each["name"]: each for each in json.loads(done.stdout)["findings"]}
    assert "requirements-play.txt" in found["libraries"]["measured"]
    assert "not checked without keras; `pip install -r requirements.txt`" in found["overfitting"]["measured"]
    assert found["libraries"]["good"] and found["overfitting"]["good"]


def test_a_missing_package_is_found_behind_another_error():
    error = ValueError("no")
    assert lacking(error) == lacking(None) == ""
    error.__cause__ = ModuleNotFoundError(name="keras.layers")
    assert lacking(error) == "keras"
    assert lacking(ModuleNotFoundError(name="mine")) == ""
