"""A turn of Little-Go from file to file: what is read, what is played when nobody answers, what is written."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from config import UserError
from game import PLY
from interface.cli import run
from plugins.littlego import thinker as littlego_thinker
from plugins.littlego.process import ThinkerProcess
from plugins.littlego.thinker import load, think
from plugins.littlego.turn import _write, check_player, find_ply, read_clock, read_given, take_turn, time_for
from support.littlego_host import GAME, Host, random_games
from support.systems import needs_posix

HERE = Path(__file__).parents[3]


class InThisProcess:
    """A thinker that needs no second process."""

    def ask(self, task):
        self.task = json.loads(json.dumps(task))

    def answers(self, last):
        said = []
        think(self.task, said.append)
        yield from said

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr("plugins.littlego.process.ThinkerProcess", InThisProcess)
    monkeypatch.setattr("plugins.littlego.turn.process_age", lambda: 0.0)  # what ran here before does not count
    monkeypatch.setattr(littlego_thinker, "FIRST", 4)


# ---- the number of moves played

EMPTY = "00000\n" * 5
ONE = EMPTY[:14] + "1" + EMPTY[15:]
LEFT = ONE.replace("\n", "")


def given(tmp_path, colour, before, board):
    (tmp_path / "given.txt").write_text(f"{colour}\n{before}{board}")
    return read_given(tmp_path / "given.txt")


def test_the_ply_is_known_from_the_step_file_and_guessed_from_the_boards_without_it(tmp_path):
    fewest = {True: 0, False: 0}
    for host, state, action in random_games(40, 3, passing=0.1):
        if action is None:
            continue
        (tmp_path / "given.txt").write_text(host.text())
        found, ply = read_given(tmp_path / "given.txt"), int(state.row[PLY])
        step = f"{ply - 1} {''.join(str(stone) for line in host.before for stone in line)}\n"
        assert find_ply(found, step) == ply
        guess = find_ply(found, "")
        assert guess <= ply and (ply - guess) % 2 == 0, "fewer moves than stones cannot be"
        fewest[guess == ply] += 1
    assert fewest[True] > fewest[False]


@pytest.mark.parametrize("colour, board, ply", [(1, EMPTY, 0), (2, ONE, 1), (2, EMPTY, 1)])
@pytest.mark.parametrize("step", ["", "17 " + "0" * 25, "22 " + "0" * 25 + "\n", "rubbish"])
def test_a_new_game_starts_the_count_again(tmp_path, colour, board, ply, step):
    assert find_ply(given(tmp_path, colour, EMPTY, board), step) == ply


@pytest.mark.parametrize("step", ["", "99", "-5 x", "3 " + "0" * 25, "24 " + LEFT, "2 " + LEFT, "4 " + "1" * 25])
def test_a_step_file_that_does_not_fit_the_boards_is_left_aside(tmp_path, step):
    assert find_ply(given(tmp_path, 1, ONE, "2" + ONE[1:]), step) == 2


# ---- turns as files


def turn(folder, *argv):
    """Run the command in this process with the files of a folder."""
    files = ["--input", "input.txt", "--output", "output.txt", "--step-file", "steps"]
    paths = [word if word.startswith("--") else str(folder / word) for word in files]
    return run(["littlego", *paths, *argv])


def test_two_programs_play_whole_games_through_files_and_never_lose_by_a_wrong_move(tmp_path, capsys):
    """Random players; each has a folder, and one process of its own is enough to see that it can."""
    for number in range(3):
        host, state = Host(), GAME.start()
        while not host.over:
            folder = tmp_path / str(host.colour)
            folder.mkdir(exist_ok=True)
            (folder / "input.txt").write_text(host.text())
            (folder / "output.txt").unlink(missing_ok=True)
            if number == 0 and host.moves in (0, 7):
                command = [sys.executable, str(HERE / "main.py"), "littlego", "--player", "random", "--seconds", "3600"]
                out = "another process still compiles"  # of another test, perhaps
                while "another process still compiles" in out:
                    found = subprocess.run([*command, "--step-file", "steps"], cwd=folder, capture_output=True,
                                           text=True, timeout=900, check=False)  # fmt: skip
                    code, out, err = found.returncode, found.stdout, found.stderr
            else:
                code = turn(folder, "--player", "random", "--seed", str(100 * number + host.moves), "--seconds", "3600")
                out, err = capsys.readouterr()
            move = (folder / "output.txt").read_text()
            assert (code, err, out) == (0, "", f"move {host.moves + 1}: {move} (random)\n")
            assert host.allows(move), (move, host.text())
            action = 25 if move == "PASS" else int(move[0]) * 5 + int(move[2])
            state = state.takeAction(action)[0]
            host.play(move)
        assert state.isEndGame and state.value * state.playerTurn == np.sign(host.lead())
        assert sorted(p.name for p in (tmp_path / "1").iterdir()) == ["input.txt", "output.txt", "steps"]


BROKEN = [
    (None, "expected a position, there is no file "),
    ("", "expected 11 lines, the colour and two boards of 5, got 0"),
    ("1\n" + EMPTY, "expected 11 lines, the colour and two boards of 5, got 6"),
    ("1\n" + EMPTY * 3, "expected 11 lines"),
    ("3\n" + EMPTY * 2, "expected 1 or 2 in line 1, got '3'"),
    ("1\n" + EMPTY + EMPTY.replace("0", "3", 1), "expected 5 digits out of 0, 1, 2 in line 7, got '30000'"),
    ("1\n" + EMPTY + EMPTY.replace("00000", "0000", 1), "in line 7, got '0000'"),
    ("1\n" + EMPTY + "1" * 5 + EMPTY[5:].replace("0", "2"), "every chain has a liberty"),
    ("１\n" + EMPTY * 2, "got no text"),
    ("1\n" + "0" * 20_000, "expected 11 lines"),
]


@pytest.mark.parametrize("text, words", BROKEN)
def test_a_position_that_cannot_be_read_is_told_in_one_line_and_nothing_is_written(tmp_path, capsys, text, words):
    if text is not None:
        (tmp_path / "input.txt").write_text(text, encoding="utf-8")
    assert turn(tmp_path, "--player", "random") == 2
    out, err = capsys.readouterr()
    assert out == "" and re.fullmatch(r"error: [^\n]+\n", err) and words in err
    assert [p.name for p in tmp_path.iterdir()] == ["input.txt"] * (text is not None)


@pytest.mark.parametrize(
    "argv, words",
    [
        (["--player", "rondom"], "did you mean 'random'"),
        (["--player", "uct:5"], "for the player uct, got littlego"),
        (["--player", "best"], "expected a trained run of littlego, there is none"),
        (["--seconds", "0"], "seconds: expected a number from 0.1 to 3,600, or several such as 1 7:9.5 21:3, got '0'"),
        (["--seconds", "nan"], "seconds: expected"),
        (["--seconds", "3601"], "seconds: expected a number from 0.1 to 3,600"),
        (["--seconds", "2:3"], "seconds: expected times for the first move and for later ones in turn"),
        (["--seconds", "1", "7:3", "7:4"], "in turn, such as 1 7:9.5 21:3, got '1 7:3 7:4'"),
        (["--player", "net:best:2s"], "expected a clock for a network that searches, without net:"),
        (["--player", "best:0s"], "expected more than 0 seconds, got 'best:0s'"),
        (["--sims", "0"], "sims: expected a whole number from 1"),
        (["--seed", "-1"], "seed: expected a whole number from 0"),
        (["--stepfile", "x"], "did you mean 'step_file'"),
    ],
)
def test_options_that_make_no_sense_are_refused_and_nothing_is_written(tmp_path, capsys, monkeypatch, argv, words):
    monkeypatch.setattr("storage.run_folders.RUNS", tmp_path / "none")
    monkeypatch.setattr("storage.run_folders.SHIPPED", tmp_path / "none")
    (tmp_path / "input.txt").write_text("1\n" + EMPTY * 2)
    assert turn(tmp_path, *argv) == 2
    out, err = capsys.readouterr()
    assert out == "" and re.fullmatch(r"error: [^\n]+\n", err) and words in err, err
    assert [p.name for p in tmp_path.iterdir()] == ["input.txt"]


def test_without_a_network_another_player_steps_in_and_says_why(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("storage.run_folders.RUNS", tmp_path / "none")
    monkeypatch.setattr("storage.run_folders.SHIPPED", tmp_path / "none")
    (tmp_path / "input.txt").write_text("2\r\n" + (EMPTY + ONE).replace("\n", "\r\n") + "\n\n")
    make = littlego_thinker.make_player

    def quick(name, *rest, **options):
        return make("rollout:50" if name.startswith("rollout:3") else name, *rest, **options)

    monkeypatch.setattr(littlego_thinker, "make_player", quick)
    assert turn(tmp_path, "--seconds", "3600") == 0
    out, err = capsys.readouterr()
    assert re.fullmatch(r"move 2: \S+ \(rollout:50 \(expected a trained run of littlego, there is none; .*\)\)\n", out)
    assert err == "" and re.fullmatch(r"[0-4],[0-4]|PASS", (tmp_path / "output.txt").read_text())


def test_the_first_player_there_is_plays_by_default(monkeypatch):
    asked = []

    def make_player(name, game, **options):
        asked.append(name)
        if name in ("best", "shipped"):
            raise UserError(f"no network {name}\nat all")
        return SimpleNamespace(name=name)

    monkeypatch.setattr(littlego_thinker, "make_player", make_player)
    assert load("", sims=1, seconds=3.6)[1] == "rollout:4s (no network best)"
    assert asked == ["best", "shipped", "rollout:4s"]
    for refused in ("gtp:gnugo --mode gtp", "human+book", "human", " GTP:gnugo", "Human", "-1"):
        with pytest.raises(UserError, match="expected one that plays a single position"):
            check_player(refused)


def test_the_time_of_a_move_goes_by_its_number():
    clock = read_clock(["1", "7:9.5", "21:3"])
    assert [time_for(clock, move) for move in (1, 6, 7, 20, 21, 24)] == [1.0, 1.0, 9.5, 9.5, 3.0, 3.0]
    assert read_clock(["0.1"]) == [(1, 0.1)]
    for words in ([], ["0:3"], ["-1"], ["1:2", "1:3"], ["8s"], ["1e3"], ["0.05"], ["2:3"]):
        with pytest.raises(UserError, match="seconds: expected"):
            read_clock(words)


# ---- whose move is played


class Says:
    """A thinker that gives the answers that it is made with, and is then silent."""

    def __init__(self, *answers, silent=False):
        self._answers, self._silent = answers, silent

    def ask(self, task):
        self.task = task

    def answers(self, last):
        yield from self._answers
        if self._silent:
            time.sleep(max(last - time.monotonic(), 0.0))


def answer(action, by="me", final=True):
    return {"action": action, "by": by, "final": final}


@pytest.mark.parametrize(
    "thinker, move, by",
    [
        (Says(answer(3)), "0,3", "me"),
        (Says(answer(4, "first", False), answer(3)), "0,3", "me"),
        (Says(answer(4, "first", False), silent=True), "0,4", "first"),
        (Says(answer(4, "first", False), answer(None, "Error: no", True)), "0,4", "first: Error: no"),
        (Says(answer(12, "a cheat")), "1,2", "move of need: a cheat"),
        (Says(answer(None, "Error: no")), "1,2", "move of need: Error: no"),
        (Says(), "1,2", r"move of need: no answer within 0\.\d s"),
        (Says(silent=True), "1,2", r"move of need: no answer within 0\.\d s"),
    ],
)
def test_the_last_legal_answer_in_time_is_played_else_the_move_of_need(tmp_path, thinker, move, by):
    (tmp_path / "input.txt").write_text(f"2\n{EMPTY}{ONE}")
    files = [tmp_path / name for name in ("input.txt", "output.txt", "steps")]
    found = take_turn(*files, thinker, lambda number: {2: 0.5}[number])
    assert (tmp_path / "output.txt").read_text() == move and re.fullmatch(by, found.by), found
    board = [0] * 12 + [1] + [0] * 12
    board[int(move[0]) * 5 + int(move[2])] = 2
    assert (tmp_path / "steps").read_text() == f"2 {''.join(map(str, board))}\n"


def test_an_error_of_the_user_is_raised_and_nothing_written(tmp_path):
    (tmp_path / "input.txt").write_text(f"2\n{EMPTY}{ONE}")
    files = [tmp_path / name for name in ("input.txt", "output.txt", "steps")]
    with pytest.raises(UserError, match="no such player"):
        take_turn(*files, Says(answer(4, "first", False), {"error": "no such player"}), lambda number: 0.5)
    assert [p.name for p in tmp_path.iterdir()] == ["input.txt"]


def test_a_turn_with_no_time_left_is_played_at_once(tmp_path):
    (tmp_path / "input.txt").write_text(f"2\n{EMPTY}{ONE}")
    files = [tmp_path / name for name in ("input.txt", "output.txt", "steps")]
    assert "no answer within 0.0 s" in take_turn(*files, ThinkerProcess(), lambda number: -1.0).by
    assert (tmp_path / "output.txt").read_text() == "1,2"


def test_a_step_file_that_cannot_be_written_costs_no_game(tmp_path):
    (tmp_path / "input.txt").write_text("1\n" + EMPTY * 2)
    (tmp_path / "steps").mkdir()
    files = [tmp_path / name for name in ("input.txt", "output.txt", "steps")]
    found = take_turn(*files, Says(answer(3)), lambda move: 3600.0)
    assert (tmp_path / "output.txt").read_text() == "0,3" and "was not written: Is a directory" in found.by


@pytest.mark.parametrize("name", ["", "/"])
def test_a_step_file_without_a_name_costs_no_game(tmp_path, name):
    (tmp_path / "input.txt").write_text("1\n" + EMPTY * 2)
    found = take_turn(tmp_path / "input.txt", tmp_path / "output.txt", Path(name), Says(answer(3)), lambda move: 3600.0)
    assert (tmp_path / "output.txt").read_text() == "0,3" and "was not written: no such name" in found.by


@needs_posix
def test_a_planted_link_in_the_place_of_the_temporary_file_is_not_followed(tmp_path, monkeypatch):
    other, target = tmp_path / "other", tmp_path / "output.txt"
    other.write_text("mine")
    (tmp_path / f".output.txt.{os.getpid()}.tmp").symlink_to(other)
    _write(target, "PASS")
    assert (target.read_text(), other.read_text()) == ("PASS", "mine")
    monkeypatch.setattr("secrets.token_hex", lambda count: "0" * 2 * count)
    (tmp_path / ".output.txt.00000000.tmp").symlink_to(other)
    with pytest.raises(FileExistsError):
        _write(target, "1,1")
    assert (target.read_text(), other.read_text()) == ("PASS", "mine")
