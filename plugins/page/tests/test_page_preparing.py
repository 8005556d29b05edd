"""A game's code is compiled by a process of its own that says how far it is; pages need none."""

import json
import subprocess
import sys

import pytest

from compiling import prepared
from plugins.page import preparing
from plugins.page.preparing import Preparations

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
    return tmp_path


def test_a_game_is_compiled_by_another_process_and_its_progress_is_shown(folder):
    preparations = Preparations("connect4")
    found = preparations.begin("tictactoe")
    assert found.process.pid > 0 and preparations.begin("tictactoe") is found
    while "3 of about 40 functions" not in str(found):
        found.done.wait(0.01)
    (folder / "end").touch()
    assert found.done.wait(60) and preparations.begin("tictactoe") is None, "once"
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
    preparations = Preparations("connect4")
    preparations.begin("tictactoe")  # None where the process has ended before this looks at it
    assert preparations._of["tictactoe"].done.wait(60) and preparations.begin("tictactoe") is None, "nor tried again"


@pytest.mark.parametrize("spec", ["connect4", "go", "othello(size=6)", "gomoku"])
def test_tiles_and_pages_are_made_without_compiling(spec):
    """In a process of its own: in this one the rules may have been loaded already."""
    code = f"""
import compiled, games, numba
def refuse(*_, **__): raise AssertionError("a function is compiled")
numba.core.compiler.compile_extra = refuse
from plugins.browser.player import page_parts
from plugins.page.home import tile
made = games.make({spec!r})
shown = tile(made)
print(len(shown["drawing"]["places"]) == len(shown["start"]["cells"]), len(page_parts("shipped", made).wasm) > 9)
print(len(compiled._CODE))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "True True\n0\n", done.stderr


def test_prepare_says_as_json_how_far_it_is(capsys):
    from interface.cli import run

    assert run(["prepare", "--game", "tictactoe", "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines[-1]["ready"] and all({"compiled", "expected", "seconds"} <= set(line) for line in lines)
    assert prepared.is_prepared("tictactoe")
