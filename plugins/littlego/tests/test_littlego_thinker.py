"""The process that thinks about a turn of Little-Go: its answers, its time, its end."""

import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing, suppress
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from agent import Player
from config import UserError
from plugins.littlego import compiling as littlego_compiling
from plugins.littlego import thinker as littlego_thinker
from plugins.littlego.process import ThinkerProcess
from plugins.littlego.thinker import think
from search.evaluation_cache import NotFinite
from support.littlego_host import GAME

HERE = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(littlego_thinker, "FIRST", 4)


def task(player="", end=3600.0, **changes):
    board = [0] * 12 + [1] + [0] * 12
    return {"player_to_move": -1, "before": [0] * 25, "board": board, "ply": 1, "end": time.monotonic() + end,
            "player": player, "sims": 8, "seed": 1, **changes}  # fmt: skip


class Fails(Player):
    """Plays one move whatever the position, or fails."""

    def __init__(self, action):
        super().__init__("a cheat", GAME)
        self.action = action

    def act(self, state, tau):
        if self.action < 0:
            raise ZeroDivisionError("by zero") if self.action == -1 else NotFinite("NaN")
        return self.action, np.zeros(26), 0.0, 0.0


@pytest.mark.parametrize(
    "action, words",
    [(-1, "ZeroDivisionError: by zero"), (-2, "NotFinite: NaN"), (12, "ValueError: the illegal move 12")],
)
def test_rollouts_think_where_a_player_fails(monkeypatch, action, words):
    said = []
    monkeypatch.setattr(littlego_thinker, "load", lambda name, **options: (Fails(action), "a cheat"))
    think(task(end=0.5), said.append)
    (last,) = [found for found in said if found["final"]]
    assert last["by"] == f"rollouts: the player failed: {words}"
    assert last["action"] in GAME.start().takeAction(12)[0].allowedActions


def test_rollouts_answer_first_while_the_player_is_loaded(monkeypatch):
    said, first = [], threading.Event()

    def say(found):
        said.append(found)
        first.set()

    def slow(name, **options):
        assert first.wait(600)
        return Fails(3), "a slow one"

    monkeypatch.setattr(littlego_thinker, "load", slow)
    think(task(), say)
    assert [(found["final"], found["by"]) for found in said] == [
        (False, "rollout:4, as the player had no answer yet"), (True, "a slow one")]  # fmt: skip


@pytest.mark.parametrize("name", ["rollout:3600s", "rollout:1000000", "alphabeta:3600s", "rollout:3600s+book"])
def test_a_search_is_cut_short_in_time_and_what_it_found_is_played(monkeypatch, name):
    """A clock, simulations or plies that would take longer than a move has; for the search the time is over soon."""
    player = littlego_thinker.make_player(name, GAME)
    for module in ("rollout", "alphabeta"):
        monkeypatch.setattr(f"players.{module}.time", SimpleNamespace(monotonic=lambda: time.monotonic() + 3600.0))
    monkeypatch.setattr(littlego_thinker, "load", lambda name, **options: (player, player.name))
    said = []
    think(task(end=3600.0), said.append)
    assert [found["by"] for found in said if found["final"]] == [player.name]


# ---- the processes


def test_the_age_of_a_process_counts_from_its_start():
    code = ("import time; began = time.monotonic(); time.sleep(0.3); from plugins.littlego.turn import process_age; "
            "print(process_age(), time.monotonic() - began)")  # fmt: skip
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], cwd=HERE, capture_output=True, text=True, timeout=600,
                          check=True)  # fmt: skip
    age, inside = map(float, done.stdout.split())
    assert age < time.monotonic() - began + 0.1
    assert age > inside - 0.1 or not Path("/proc/self/stat").exists()


def test_a_process_that_thinks_answers_and_ends():
    by, end = "another process still compiles what turns need", time.monotonic() + 900.0
    while by.startswith("another process") and time.monotonic() < end:  # of another test, perhaps
        with ThinkerProcess() as thinker:
            thinker.ask(task("random"))
            by = next((answer["by"] for answer in thinker.answers(end) if answer["final"]), "none came")
    assert by == "random"


def test_a_process_that_cannot_load_the_rules_says_why(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "cache"))
    with ThinkerProcess() as thinker:
        thinker.ask(task("random"))
        (answer,) = thinker.answers(time.monotonic() + 600.0)
    assert answer["action"] is None and answer["by"].startswith("UserError: NUMBA_CACHE_DIR: ")


def test_a_process_whose_user_fails_is_ended():
    with pytest.raises(UserError), ThinkerProcess() as thinker:
        raise UserError("no")
    assert thinker._process.wait(600) < 0


def test_a_process_that_cannot_be_started_costs_no_game(monkeypatch):
    def fails(*_, **__):
        raise OSError("no memory")

    monkeypatch.setattr("plugins.littlego.process.subprocess.Popen", fails)
    with ThinkerProcess() as thinker:
        thinker.ask(task())
        assert list(thinker.answers(time.monotonic() + 600.0)) == []


def test_the_first_turn_ever_is_in_time(tmp_path):
    """Nothing is compiled; the process that compiles is left behind, as it should be, and is ended here."""
    (tmp_path / "input.txt").write_text("1\n" + "00000\n" * 10)
    cache = tmp_path / "cold"
    cache.mkdir(mode=0o700)
    done = subprocess.run(
        [sys.executable, str(HERE / "main.py"), "littlego", "--seconds", "0.1"], cwd=tmp_path, capture_output=True,
        text=True, env={**os.environ, "NUMBA_CACHE_DIR": str(cache)}, timeout=600, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "") and "move 1: 2,2 (move of need: no answer within" in done.stdout
    assert (tmp_path / "output.txt").read_text() == "2,2"
    for place in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if str(cache).encode() in place.read_bytes():
                os.kill(int(place.parent.name), signal.SIGKILL)


def test_only_one_process_compiles_what_turns_need(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(littlego_compiling, "_DONE", tmp_path / "done")
    monkeypatch.setattr(littlego_compiling, "_LOCK", tmp_path / "lock")
    with closing(sqlite3.connect(tmp_path / "lock", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        littlego_compiling.main()
        assert "another process still compiles" in capfd.readouterr().out
    assert littlego_compiling._lock()
    littlego_compiling._held.pop().close()


def test_where_no_lock_can_be_kept_turns_are_thought_about_nevertheless(tmp_path, monkeypatch):
    monkeypatch.setattr(littlego_compiling, "_LOCK", tmp_path)
    assert littlego_compiling._lock()


@pytest.mark.parametrize("player, done", [("rondom", False), ("random", True)])
def test_only_a_turn_that_was_thought_about_to_its_end_has_compiled_what_turns_need(
    tmp_path, monkeypatch, capfd, player, done
):  # fmt: skip
    monkeypatch.setattr(littlego_compiling, "_DONE", tmp_path / "done")
    monkeypatch.setattr(littlego_compiling, "_LOCK", tmp_path / "lock")
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(task(player)) + "\n"))
    littlego_compiling.main()
    littlego_compiling._held.pop().close()
    assert ("error" in capfd.readouterr().out) == (not done) and (tmp_path / "done").exists() == done
