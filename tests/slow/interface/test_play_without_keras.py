"""Play, measuring and self-play workers load neither Keras nor anything else that only training or a plugin needs."""

import json
import os
import shutil
import sqlite3

import pytest

from interface.missing_packages import lacking
from network.stored_network import KEY
from storage.run_folders import SHIPPED
from storage.run_store import Store
from support.without_keras import COMMAND, WITHOUT, loaded, python

WORKER = """
import json
from collections import deque
from training.worker_player import make_network_player
player = make_network_player(json.loads(sys.argv[1]))
player.load(*json.loads(sys.argv[2]), 1)
assert len(list(player.play(deque([(0, 1)]), lambda: False, lambda: True))) == 1
"""
SMALL = ["--game", "tictactoe", "--hidden-cnn-layers", "8x3"]


@pytest.mark.parametrize(
    "argv, words",
    [
        (["play", "--game", "tictactoe", "--first", "machine", "--sims", "8"], "shipped:version"),
        (["match", "shipped", "net:shipped", "--game", "tictactoe", "--games", "2", "--sims", "8"], "shipped:version"),
        (["explain", "--game", "tictactoe", "--sims", "8"], "shipped:version"),
        (["evaluate", "--game", "tictactoe", "--positions", "10", "--sims", "4", "--ladder-games", "2",
          "--ladder-sims", "4", "--json"], "shipped:version"),
        (["levels", "--game", "tictactoe"], "level"),
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


def test_a_self_play_worker_loads_no_keras(tmp_path):
    folder = SHIPPED / "tictactoe" / "run0001"
    store = Store(folder / "run.db", read_only=True)
    newest = store.newest()
    store.close()
    settings = {"config": (folder / "config.json").read_text(), "rules": "", "folder": str(folder), "cores": [0]}
    weights = [str(folder / "models" / newest.file), newest.sha256]
    if hasattr(os, "sched_getaffinity"):
        settings["cores"] = sorted(os.sched_getaffinity(0))
    assert loaded(WORKER, json.dumps(settings), json.dumps(weights), cwd=tmp_path)[1] == []


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


@pytest.mark.parametrize("package", ["numpy", "numba", "llvmlite"])
def test_a_python_without_what_everything_needs_is_told_so_in_one_line(tmp_path, package):
    done = python(WITHOUT.replace("hidden = {", f"hidden = {{{package!r}, "), "levels", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    words = f"levels needs {package}, which is not installed here: `pip install -r requirements.txt`"
    assert done.stderr == f"error: {words}\n"


def test_a_missing_package_is_found_behind_another_error():
    error = ValueError("no")
    assert lacking(error) == lacking(None) == ""
    error.__cause__ = ModuleNotFoundError(name="keras.layers")
    assert lacking(error) == "keras"
    assert lacking(ModuleNotFoundError(name="mine")) == ""
