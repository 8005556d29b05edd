"""A game's code is compiled by a process of its own; the page shows a board and how far it is meanwhile."""

import asyncio
import json
import subprocess
import sys

import pytest

from compiling import prepared
from config import UserError
from plugins.page import preparing
from plugins.page.preparing import Preparations, first_board, ticking

SLOW = """
import sys, json
print("noise"); print(json.dumps({"compiled": 3, "expected": 40, "seconds": 1.5}), flush=True)
import time, pathlib
while not pathlib.Path(FILE).exists():
    time.sleep(0.01)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the folder of compiled code, which is empty; a process that compiles ends when `end` is in it."""
    monkeypatch.setattr(prepared, "FOLDER", tmp_path)
    script = f"FILE = {str(tmp_path / 'end')!r}\n{SLOW}"
    monkeypatch.setattr(preparing, "COMMAND", [sys.executable, "-c", script])
    monkeypatch.setattr(preparing, "EVERY", 0.02)
    return tmp_path


def test_a_game_is_compiled_by_another_process_and_its_progress_is_shown(folder):
    preparations, shown = Preparations("connect4"), []

    def show(text):
        shown.append(text)
        if "3 of about 40 functions" in text:
            (folder / "end").touch()

    assert preparations.begin("tictactoe").process.pid > 0
    asyncio.run(preparations.wait("tictactoe", show))
    assert any("3 of about 40 functions" in text for text in shown)
    assert preparations.begin("tictactoe") is None, "once"
    preparations.close()


def test_nothing_is_started_for_a_game_that_is_compiled_or_for_a_file_that_nobody_named(folder, tmp_path):
    preparations = Preparations("mine.py:Mine")
    prepared.mark_prepared("gomoku")
    assert preparations.begin("gomoku") is None and preparations.begin("other.py:Other") is None
    assert preparations.begin("mine.py:Mine") is not None and preparations.begin("go") is not None
    assert preparations.begin("othello") is None, "two at once"
    running = [each.process for each in preparations._of.values()]
    preparations.close()
    assert len(running) == 2 and all(process.wait(60) != 0 for process in running)


def test_a_file_of_rules_that_changes_is_compiled_again(folder):
    rules = folder / "mine.py"
    rules.write_text("1")
    prepared.mark_prepared(f"{rules}:Mine")
    assert prepared.is_prepared(f"{rules}:Mine")
    import os

    os.utime(rules, ns=(1, 1))
    assert not prepared.is_prepared(f"{rules}:Mine")


def test_a_process_that_fails_is_not_waited_for(folder, monkeypatch):
    monkeypatch.setattr(preparing, "COMMAND", [sys.executable, "-c", "import sys; sys.exit(2)"])
    asyncio.run(Preparations("connect4").wait("tictactoe", lambda text: None))


@pytest.mark.parametrize("spec", ["connect4", "go", "othello(size=6)", "gomoku"])
def test_the_first_board_is_drawn_without_compiling(spec):
    """In a process of its own: in this one the rules may have been loaded already."""
    code = f"""
import compiled, game
def refuse(*_): raise AssertionError("compiled code is run")
compiled.bind = compiled.call = game.call = refuse
from plugins.page.preparing import first_board
print(first_board({spec!r})[1].count("<svg"))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "1\n", done.stderr


def test_the_first_board_of_a_file_is_for_who_may_run_it(tmp_path):
    with pytest.raises(UserError, match="expected the game to be named with --game"):
        first_board(f"{tmp_path}/mine.py:Mine")
    assert first_board("connect4(columns=7)")[0] == "connect4"


def test_work_of_seconds_is_shown_as_it_goes_on(monkeypatch):
    monkeypatch.setattr(preparing, "EVERY", 0.01)
    shown = []

    async def work():
        while len(shown) < 3:
            await asyncio.sleep(0.001)
        return 7

    async def fails():
        raise UserError("no")

    assert asyncio.run(ticking(work(), shown.append)) == 7 and "0 s" in shown[0]
    with pytest.raises(UserError, match="no"):
        asyncio.run(ticking(fails(), shown.append))


def test_prepare_says_as_json_how_far_it_is(capsys):
    from interface.cli import run

    assert run(["prepare", "--game", "tictactoe", "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines[-1]["ready"] and all({"compiled", "expected", "seconds"} <= set(line) for line in lines)
    assert prepared.is_prepared("tictactoe")
