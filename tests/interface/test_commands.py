"""The command line: what it does, at the board and in a process of its own."""

import io
import json
import re
import shutil
import sys
from pathlib import Path

import pytest

import games
from compiling.cache_folder import make_folder
from support.command_line import output_of
from support.corridor import Corridor
from system.shell import join

HERE = Path(__file__).parents[2]


# ---- what is done


def test_two_players_of_one_kind_can_play_each_other(place, capsys):
    code, out, _ = output_of(capsys, "match", "random", "random", "--game", "tictactoe", "--games", "4", "--json")
    found = json.loads(out)
    assert code == 0 and (found["player1"], found["player2"]) == ("random (1)", "random (2)")


def test_check_finds_a_good_game_good_and_a_bad_one_bad(place, capsys, monkeypatch):
    code, out, _ = output_of(capsys, "check", "tictactoe", "--games", "3")
    assert code == 0 and out.startswith("tictactoe: no fault in 3 random games\nwon by the player who began ")
    assert out.count("\n") == 7 and out.endswith("is that right?\n"), "the end of the last game is shown"
    code, out, _ = output_of(capsys, "check", "connect4(rows=4,columns=5)", "--games", "2", "--json")
    found = json.loads(out)
    assert code == 0 and found["first"] + found["drawn"] + found["second"] == 2 and found["plies"][1] <= 20
    assert (found["game"], found["games"], found["faults"]) == ("connect4(columns=5,rows=4)", 2, [])

    class Bad(Corridor):
        max_plies = property(lambda self: 3, lambda self, value: None)

    monkeypatch.setattr(games, "make", lambda spec: Bad())
    code, out, _ = output_of(capsys, "check", "corridor", "--games", "2", "--json")
    assert code == 4 and any("at most 3 plies" in fault for fault in json.loads(out)["faults"])


# ---- at the board

CELLS = "a3\nb3\nc3\na2\nb2\nc2\na1\nb1\nc1\n"


@pytest.mark.parametrize("first", ["human", "machine"])
def test_a_game_is_played_from_a_script_to_its_end(place, capsys, monkeypatch, first):
    """Every cell is tried once, so the board is full at the latest when the script ends."""
    monkeypatch.setattr(sys, "stdin", io.StringIO(CELLS))
    code, out, err = output_of(capsys, "play", "--game", "tictactoe", "--against", "random", "--first", first)
    assert (code, err) == (0, "")
    end, moves = re.search(r"(You win|A draw|You lose)\. Moves: (.*)", out).groups()
    state = games.make("tictactoe").start()
    for move in moves.split():
        state = state.takeAction(games.make("tictactoe").parse_move(move))[0]
    mine = state.value * state.playerTurn * (1 if first == "human" else -1)
    assert state.isEndGame and end == {1: "You win", 0: "A draw", -1: "You lose"}[mine]
    assert "random plays " in out


def test_resigning_loses(place, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("b2\nresign\n"))
    code, out, _ = output_of(capsys, "play", "--game", "tictactoe", "--against", "random")
    assert code == 0 and "You lose." in out


# ---- a process of its own


def test_compiled_code_is_thrown_away_when_its_sources_change_and_only_then(tmp_path):
    kept = str(tmp_path / "kept")
    folders = []
    for name in ("one", "two"):  # two checkouts keep their code in one place
        (tmp_path / name / "search").mkdir(parents=True)
        (tmp_path / name / "search" / "__init__.py").touch()
        (tmp_path / name / "search" / "simulate.py").write_text("@compiled\ndef f():\n    return 1\n")
        (tmp_path / name / "search" / "plain.py").write_text("# numba cannot write there\n")
        folders.append(make_folder(tmp_path / name, kept))
    assert len(set(folders)) == 2
    (tmp_path / "one" / "search" / "plain.py").write_text("# numba can\n")
    assert make_folder(tmp_path / "one", kept) == folders[0] and folders[0].exists()
    (tmp_path / "one" / "search" / "simulate.py").write_text("@compiled\ndef f():\n    return 2\n")
    assert make_folder(tmp_path / "one", kept) != folders[0]
    assert not folders[0].exists() and folders[1].exists()


PACKAGES = [path.parent for path in HERE.glob("*/__init__.py")]
ROOMS_WITH_COMPILED_CODE = sorted(
    {
        path.parent.relative_to(HERE).as_posix()
        for package in PACKAGES
        for path in package.glob("**/*.py")
        if "tests" not in path.relative_to(HERE).parts and "\n@compiled\n" in path.read_text()
    }
)


def test_the_rooms_with_compiled_code_are_found():
    assert {"games", "search", "training"} <= set(ROOMS_WITH_COMPILED_CODE)


@pytest.mark.parametrize("room", ROOMS_WITH_COMPILED_CODE)
def test_a_changed_line_in_any_room_is_compiled_again(tmp_path, room):
    kept = str(tmp_path / "kept")
    for path in (*HERE.glob("*.py"), *HERE.glob("*/**/*.py")):
        copy = tmp_path / "checkout" / path.relative_to(HERE)
        if path.parent == HERE or (HERE / path.relative_to(HERE).parts[0] / "__init__.py").exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
    here = tmp_path / "checkout"
    before = make_folder(here, kept)
    assert make_folder(here, kept) == before
    for path in sorted((here / room).glob("*.py")):
        text = path.read_text()
        is_game = room == "games" and not any(f"from games.{path.stem} " in p.read_text() for p in here.rglob("*.py"))
        if "\n@compiled\n" not in text or is_game:
            continue
        path.write_text(text + "\n# a change\n")
        changed = make_folder(here, kept)
        assert changed != before, path
        before = changed


@pytest.mark.usefixtures("place")
def test_where_no_network_plays_a_game_rollouts_do_and_the_command_that_trains_one_is_named(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("quit\n"))
    code, out, err = output_of(capsys, "play", "--game", "hex(size=3)")
    assert (code, err) == (0, "")
    said, begun = out.splitlines()[:2]
    command = join(["python", "main.py", "--game", "hex(size=3)"])
    assert said == f"There is no network for hex(size=3) yet: rollout:1s plays. `{command}` trains one."
    assert begun == "hex: you are X, against rollout:1s"
    code, out, err = output_of(capsys, "play", "--game", "hex(size=3)", "--against", "best")
    assert (code, out) == (2, "") and "expected a trained run of hex(size=3), there is none" in err
