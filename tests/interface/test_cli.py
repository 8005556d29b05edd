"""The command line: what it refuses in one line, and that a refusal changes nothing."""

import os
import re
import runpy
import subprocess
import sys
from types import SimpleNamespace

import pytest

from config import UserError
from storage.run_folders import new_folder
from support.command_line import output_of
from support.systems import needs_posix
from support.tiny_runs import tree_of
from system.place import HERE

# ---- what is refused

REFUSED = [
    (["trian"], "did you mean 'train'"),
    (["nonsense"], "expected a command out of"),
    (["--game", "conect4"], "did you mean 'connect4'"),
    (["--game", "connect4(rows=x)"], "connect4"),
    (["--game", "../../etc/passwd"], "game"),
    (["--game", "connect4(rowz=5)"], "did you mean 'rows'"),
    (["--game"], "expected a value after --game"),
    (["play", "--game", "--moves", "44"], "expected a value after --game"),
    (["help", "nonsense"], "expected a command out of"),
    (["--preset", "clasic"], "did you mean 'classic'"),
    (["--mcts-sim", "5"], "mcts"),
    (["--cpukt", "5"], "did you mean 'cpuct'"),
    (["play", "tictactoe"], "did you mean --game tictactoe?"),
    (["evaluate", "--player", "random"], "expected player without --player, got '--player'"),
    (["prepare", "--game", ""], "game: expected a value, got"),
    (["ship", "--cards", "--game", "nonsense"], "expected --cards alone"),
    (["Othello(size=6)"], "did you mean --game 'Othello(size=6)'?"),
    (["play", "-game", "tictactoe"], "expected two dashes, --game, got '-game'"),
    (["--cpuct", "nan"], "cpuct: expected a number from 0.01 to 100, got"),
    (["--cpuct", "inf"], "cpuct: expected"),
    (["--episodes", "0"], "episodes: expected a whole number from 1 to 1,000,000, got 0"),
    (["--episodes", "many"], "episodes: expected a whole number"),
    (["--episodes", "9" * 5000], "episodes: expected a whole number"),
    (["--episodes", "1.5"], "episodes: expected a whole number"),
    (["--optimizer", "adam"], "optimizer: expected one of sgd, adamw, muon"),
    (["--hidden-cnn-layers", "64x3", "32x3"], "the same number of filters"),
    (["--hidden-cnn-layers", "big"], "layers such as 64x3"),
    (["--min-memory", "9", "--memory-size", "8"], "memory_size"),
    (["--run", "7"], "expected run0007 of connect4"),
    (["--run", "-1"], "run"),
    (["--run", "²"], "run"),
    (["--run", "9" * 5000], "run"),
    (["--initial-run-number", "3"], "expected run0003"),
    (["--initial-model-version", "3", "--new"], "expected --initial-run-number together with"),
    (["--initial-memory-version", "3"], "expected --initial-run-number together with"),
    (["--initial-game", "gomoku"], "expected --initial-run-number together with"),
    (["--initial-game", "gomuko", "--initial-run-number", "1"], "did you mean 'gomoku'"),
    (["--initial-game", "gomoku", "--initial-run-number", "0"], "expected a player of gomoku"),
    (["--run", "5", "--new"], "expected --run, which resumes a run, or --new"),
    (["--run", "5", "--initial-run-number", "2"], "expected --run, which resumes a run, or --new"),
    (["--run", "0"], "expected the number of one of your runs, got 0"),
    (["recover", "--run", "0"], "expected the number of one of your runs, got 0"),
    (["ship", "--run", "0"], "expected the number of one of your runs, got 0"),
    (["train", "surplus"], "surplus"),
    (["check"], "expected game;"),
    (["check", "--game", "connect4"], "expected game without --game"),
    (["check", "tictactoe", "--games", "0"], "games: expected a whole number from 1"),
    (["check", "tictactoes"], "did you mean 'tictactoe'"),
    (["match", "random"], "expected player1 and player2;"),
    (["match", "random", "rondom"], "did you mean 'random'"),
    (["match", "random", "uct:0"], "expected from 1 to 9,999,999 simulations"),
    (["match", "random", "human", "--games", "-3"], "games"),
    (["match", "best", "random"], "expected a trained run of connect4, there is none"),
    (["match", "random", "random", "--save", ""], "save: expected a value, got ''"),
    (["explain", "--load="], "load: expected a value, got ''"),
    (["match", "run0004:best", "random"], "expected run0004"),
    (["play", "--against", "nobody"], "expected a player such as"),
    (["play", "--sims", "0", "--against", "random"], "sims: expected a whole number from 1"),
    (["play", "--game", "tictactoe", "--against", "level:2", "--sims", "5"], "expected no --sims with a level"),
    (["play", "--game", "go(komi=-7.5,size=2)"], "expected a komi from -4.5 to 4.5 for size 2, got -7.5"),
    (["play", "--game", "bad\udcff.py:MyGame"], "expected a file with a game, got"),
    (["play", "--sims", "abc"], "sims: expected a whole number, got 'abc'"),
    (["play", "--sims"], "expected a whole number after --sims"),
    (["play", "--first", "me"], "first: expected one of human, machine, got 'me'"),
    (["evaluate", "--ladder-games", "1"], "ladder_games: expected 0 or pairs of games, got 1"),
    (["ship", "--level-games", "3"], "level_games: expected pairs of games, an even number, got 3"),
    (["ship", "--seed", "-1"], "seed: expected a whole number from 0"),
    (["evaluate", "--sims", "9", "x"], "sims: expected whole numbers, got '9 x'"),
    (["match", "random", "random", "--sprt", "--sprt-score", "0.5"], "expected two numbers after --sprt-score"),
    (["match", "random", "random", "--sprt-score"], "expected two numbers after --sprt-score"),
    (["import-games", "nix.npz"], "expected a file of games, there is no file nix.npz"),
    (["explain", "--moves", "9"], "expected a move such as '1', got '9'"),
    (["explain", "--player", "random"], "expected a network to explain"),
    (["explain", "--sims", "many"], "sims: expected a whole number, got 'many'"),
    (["bench", "--seconds", "0"], "seconds"),
    (["curves", "--run", "-1"], "run: expected a whole number from 0"),
    (["recover", "--run", "-1"], "run: expected a whole number from 0"),
    (["replay", "x.keras"], "ends in .json, .txt, .sgf, .psq, .ggf, .wtb, .obf or .jsonl"),
    (["explain", "--ply", "3"], "expected --load together with --ply"),
    (["play", "--game-number", "3"], "expected --load together with --game-number"),
]


@pytest.mark.parametrize(
    "argv, words", REFUSED, ids=lambda x: "-".join(x)[:30] if isinstance(x, list) else ""
)
def test_a_command_that_makes_no_sense_is_refused_in_one_line_and_changes_nothing(place, capsys, argv, words):
    code, out, err = output_of(capsys, *argv)
    assert code == 2 and out == ""
    assert re.fullmatch(r"error: [^\n]+\n", err) and words in err and len(err) < 420, err
    assert tree_of(place) == {} and list(place.iterdir()) == []


def test_several_impossible_settings_are_told_at_once(place, capsys):
    code, _, err = output_of(capsys, "--cpuct", "0", "--epsilon", "2")
    assert code == 2 and "cpuct: expected" in err and "epsilon: expected" in err and "Traceback" not in err


@pytest.mark.parametrize(
    "argv", [["explain", "--moves", "4444444"], ["play", "--moves", "1 1 1 1 1 1 1", "--against", "random"]]
)
def test_an_illegal_move_is_refused_with_the_board(place, capsys, argv):
    code, out, err = output_of(capsys, *argv)
    first, *board = err.rstrip().splitlines()
    column = 3 if argv[0] == "explain" else 0
    assert code == 2 and first.startswith(f"error: move 7: illegal move {column + 1} (legal: ") and len(board) >= 6
    marks = [line.split() for line in board[:6]]
    assert sum(("X" in line) for line in map("".join, marks)) == 3
    assert out == "" and list(place.iterdir()) == []


def test_a_finished_position_is_refused_with_the_board(place, capsys):
    code, _, err = output_of(capsys, "explain", "--moves", "1 2 1 2 1 2 1")
    assert code == 2 and err.startswith("error: expected a position to play in, the game is over\n")
    assert err.count("X") >= 4


# ---- runs that are not what they should be


@pytest.mark.parametrize("argv, goes_on", [
    ([], True), (["--new"], False), (["train"], True), (["--initial-run-number", "1"], False),
    (["book", "-o", "x.json"], True), (["play"], False),
    (["evaluate"], False),
])  # fmt: skip
def test_ctrl_c_tells_to_go_on_only_where_the_same_command_does(capsys, monkeypatch, argv, goes_on):
    def run(argv):
        raise KeyboardInterrupt

    monkeypatch.setattr("interface.cli.module", lambda name: SimpleNamespace(run=run))
    assert output_of(capsys, *argv) == (130, "", "\nstopped; the same command resumes\n" if goes_on else "\nstopped\n")


@pytest.mark.parametrize("error", [
    MemoryError(), ImportError("libx.so: failed to map segment from shared object"), RuntimeError("std::bad_alloc"),
    RuntimeError("can't start new thread"), ValueError("[Errno 12] Cannot allocate memory"),
], ids=str)  # fmt: skip
@pytest.mark.parametrize("argv, hint", [(["match"], "fewer simulations"), (["--new"], "--games-in-flight")])
def test_too_little_memory_is_one_line_in_the_words_of_any_library(capsys, monkeypatch, error, argv, hint):
    def run(argv):
        raise error

    monkeypatch.setattr("interface.cli.module", lambda name: SimpleNamespace(run=run))
    code, out, err = output_of(capsys, *argv)
    assert (code, out) == (2, "") and err.startswith(f"error: not enough memory ({str(error) or 'MemoryError'}); ")
    assert hint in err and err.count("\n") == 1


# ---- what is printed


@pytest.mark.parametrize("argv", [
    ["play", "--game", "{}.py:X"], ["replay", "{}.sgf"], ["import-games", "{}"], ["check", "{}.py"], ["{}"],
])
def test_what_is_refused_commands_no_terminal(capsys, argv):
    code, out, err = output_of(capsys, *(word.format("\x1b[31mX\x9b2J\u202e") for word in argv))
    assert code == 2 and err.startswith("error: ") and not re.search("[\x1b\x9b\u202e]", out + err)


def test_the_words_of_a_worker_command_no_terminal(capsys, monkeypatch, tmp_path):
    from loggers import Console, close_log, open_log
    from training.worker_pool import WorkersFailed

    words = "worker 1: \x1b]0;title\x07\x1b[2Jfailed\nin line 2\r"
    monkeypatch.setattr("interface.commands.verify.run", lambda argv: (_ for _ in ()).throw(WorkersFailed(words)))
    code, _, err = output_of(capsys, "verify")
    assert (code, err) == (4, "error: worker 1: ?]0;title??[2Jfailed\nin line 2\n")
    for quiet in (False, True):
        Console(quiet=quiet).warn(words)
        out, err = capsys.readouterr()
        assert out + err == "worker 1: ?]0;title??[2Jfailed\nin line 2?\n"
    log = open_log(tmp_path / "a.log")
    log.warning("%s", words)
    close_log(log)
    assert (tmp_path / "a.log").read_text().split(" ", 2)[2] == "worker 1: ?]0;title??[2Jfailed\nin line 2?\n"


def test_an_older_python_is_named_before_anything_is_loaded(monkeypatch, capsys):
    monkeypatch.setattr(sys, "version_info", (3, 10, 13, "final", 0))
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(HERE / "main.py"), run_name="__main__")
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("error: expected Python 3.11 or later, got 3.10.13; ")


@needs_posix  # Windows deletes no folder that a program works in, so the case cannot arise there
@pytest.mark.parametrize("argv", [["new-game", "foo"], ["check", "my.py:X"]])
def test_a_working_folder_that_is_gone_is_named(tmp_path, monkeypatch, capsys, argv):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    code, _, err = output_of(capsys, *argv)
    assert code == 2 and re.fullmatch(r"error: expected [^\n]*the working folder is gone\n", err), err


def test_a_file_in_the_place_of_the_folder_of_runs_is_named(tmp_path, monkeypatch):
    (tmp_path / "afile").touch()
    with pytest.raises(UserError, match="expected a folder for runs, got the file .*afile$"):
        new_folder(tmp_path / "afile" / "tictactoe")


def test_the_program_starts_where_python_does_not_look_beside_a_script(tmp_path):
    for environment, options in (({"PYTHONSAFEPATH": "1"}, []), ({}, ["-P"]), ({}, ["-I"])):
        done = subprocess.run(
            [sys.executable, *options, str(HERE / "main.py"), "--version"], cwd=tmp_path, capture_output=True,
            text=True, env={**os.environ, **environment},
        )
        assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith("alphazero-keras ")
