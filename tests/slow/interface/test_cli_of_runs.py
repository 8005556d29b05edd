"""The command line where a run is wrong, in use or damaged: one line, its exit code, nothing lost."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import initialise
from interface import cli
from main import train
from support.command_line import SMALL, output_of, refused_unchanged
from support.tiny_runs import QUIET, tiny, tree_of


def test_a_model_of_another_game_is_refused(trained_place, capsys):
    shutil.copytree(trained_place / "tictactoe", trained_place / "connect4")
    for argv in (
        ["explain"],
        ["match", "best", "random"],
        ["play"],
        ["explain", "--player", "run0001:version0001"],
    ):
        err = refused_unchanged(trained_place, capsys, *argv)
        assert "connect4/run0001/config.json: expected the game of the folder connect4, got 'tictactoe'" in err


def test_a_network_of_another_shape_is_refused_as_a_beginning(trained_place, capsys):
    argv = [
        *SMALL,
        "--new",
        "--value-units",
        "9",
        "--initial-run-number",
        "1",
        "--initial-model-version",
        "1",
    ]
    assert "run0001 has another network: " in refused_unchanged(trained_place, capsys, *argv)


def test_a_version_that_is_not_there_is_refused(trained_place, capsys):
    argv = ["match", "version0099", "random", "--game", "tictactoe"]
    assert "expected a version from 0 to" in refused_unchanged(trained_place, capsys, *argv)


@pytest.mark.parametrize("text", [b"", b"{", b"\xff\xfe", b"[]"])
def test_an_unreadable_run_is_refused_by_every_command(trained_place, capsys, text):
    (trained_place / "tictactoe" / "run0001" / "config.json").write_bytes(text)
    for argv in (["explain"], ["match", "best", "random"], ["train", "--run", "1"], ["play"]):
        words = refused_unchanged(trained_place, capsys, *argv, "--game", "tictactoe")
        assert "config.json" in words and (text == b"\xff\xfe" or "`python main.py recover`" in words)


@pytest.mark.parametrize("file", ["run.db", "models/version0001.npz"])
@pytest.mark.parametrize("how", ["missing", "garbage", "damaged"])
def test_a_damaged_run_is_told_with_the_name_of_the_file_and_its_own_exit_code(trained_place, capsys, file, how):
    path = trained_place / "tictactoe" / "run0001" / file
    data = path.read_bytes()
    for extra in path.parent.glob("run.db-*"):
        extra.unlink()
    if how == "missing":
        path.unlink()
    else:
        kept = 8192 if file == "run.db" else 500
        path.write_bytes(b"x" * len(data) if how == "garbage" else data[:kept] + b"\xa5" * (len(data) - kept))
    argv = ["explain", "--game", "tictactoe", "--player", "version0001"]
    err = refused_unchanged(trained_place, capsys, *argv, code=4)
    assert how == "damaged" and "database" in err or Path(file).name in err


def test_the_remedy_for_a_damaged_beginning_names_its_game(place, capsys):
    settings = tiny(game="gomoku(n=4,size=5)", iterations=1)
    with initialise.Session.start(settings, root=place, console=QUIET) as session:
        train(session)
        assert session.current_version == 1, "which can be recovered"
    (session.folder / "models" / "version0000.npz").write_bytes(b"x")
    begin = "--initial-game", "gomoku(size=5,n=4)", "--initial-run-number", "1", "--initial-model-version", "0"
    code, _, err = output_of(capsys, "--new", "--game", "gomoku(size=5,n=4,rule=exact)", *begin)
    assert code == 4 and "recover --game 'gomoku(n=4,size=5)' --run 1" in err


def test_a_run_in_use_is_refused_with_its_own_exit_code(trained_place, capsys):
    folder = trained_place / "tictactoe" / "run0001"
    with initialise.Session.open(folder):
        before = tree_of(trained_place)
        code, out, err = output_of(capsys, "--game", "tictactoe", "--run", "1", "--iterations", "9")
        assert code == 3 and err.count("\n") == 1 and f"process {os.getpid()}" in err
        assert tree_of(trained_place) == before


def test_what_the_system_refuses_is_told_in_one_line(place, capsys):
    (place / "tictactoe").write_text("not a folder")
    code, _, err = output_of(capsys, *SMALL, "--new")
    assert code == 5 and re.fullmatch(r"error: [^\n]+\n", err) and "tictactoe" in err


def test_a_trace_that_cannot_be_written_is_told_in_one_line(trained_place, capsys):
    err = refused_unchanged(
        trained_place,
        capsys,
        "explain",
        "--game",
        "tictactoe",
        "--trace",
        str(trained_place / "no" / "trace.log"),
    )
    assert "trace.log" in err


@pytest.mark.parametrize("argv", [["--help"], ["match", "--help"], ["levels", "--json"]])
def test_output_that_nobody_takes_ends_the_program_in_order(argv):
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    command = [sys.executable, str(Path(cli.__file__).parents[1] / "main.py"), *argv]
    reading, writing = os.pipe()
    os.close(reading)
    cases = [(writing, 141, rb"")]
    if os.path.exists("/dev/full"):  # of Linux
        cases.append((os.open("/dev/full", os.O_WRONLY), 5, rb"error: [^\n]*No space[^\n]*\n"))
    for out, code, said in cases:
        done = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, env=environment, timeout=900)
        os.close(out)
        assert done.returncode == code and re.fullmatch(said, done.stderr), (done.returncode, done.stderr)


def test_a_device_without_memory_is_told_as_a_lack_of_memory_and_other_errors_are_not_hidden(capsys, monkeypatch):
    errors = pytest.importorskip("tensorflow").errors
    full = errors.ResourceExhaustedError(None, None, "OOM when allocating tensor\nwith shape [9]")
    for error in (full, errors.InternalError(None, None, "broken")):

        def run(argv, error=error):
            raise error

        monkeypatch.setattr("interface.cli.module", lambda name, run=run: SimpleNamespace(run=run))
        if error is full:
            code, _, err = output_of(capsys, "train")
            assert code == 2 and err.startswith("error: not enough memory (OOM when allocating tensor")
            assert "--batch-size" in err and err.count("\n") == 1
        else:
            with pytest.raises(errors.InternalError):
                output_of(capsys, "train")
