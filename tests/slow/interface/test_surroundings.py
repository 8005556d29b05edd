"""What is around the program: streams that are closed or lack characters, narrow terminals, signals, full disks."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from config import UserError
from games import make
from storage import game_files
from storage.atomic_files import replacing
from storage.game_files import Record, append
from support.command_line import output_of
from support.systems import needs_posix

MAIN = str(Path(__file__).parents[3] / "main.py")


def started(*argv, redirect="", **environment):
    """Run a command line in a process of its own, its streams redirected by a shell."""
    line = f'exec "$0" "$@" {redirect}'
    return subprocess.run(["sh", "-c", line, sys.executable, MAIN, *argv], env={**os.environ, **environment},
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=900)  # fmt: skip


def test_what_an_encoding_lacks_is_shown_as_a_question_mark():
    done = started("levels", "--game", "tictactoe", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "") and "?" in done.stdout and "±" not in done.stdout


@pytest.mark.parametrize("redirect, argv, code, said", [
    (">&-", ["--help"], 0, ""),
    (">&-", ["levels", "--game", "tictactoe"], 0, ""),
    ("2>&-", ["levels", "--game", "tictactoe"], 0, "tictactoe"),
    ("2>&-", ["levels", "--game", "nonsense"], 2, ""),
    ("<&- >&- 2>&-", ["levels", "--game", "tictactoe"], 0, ""),
])  # fmt: skip
def test_a_closed_stream_is_one_that_nobody_reads(redirect, argv, code, said):
    done = started(*argv, redirect=redirect)
    assert done.returncode == code and said in done.stdout and bool(done.stdout) == bool(said)
    assert "Traceback" not in done.stderr


def test_help_and_errors_are_told_on_a_narrow_terminal():
    done = started("levels", "--help", COLUMNS="1")
    assert done.returncode == 0 and "--game" in done.stdout
    done = started("--new", "--random-opening-share", "x", COLUMNS="1")
    assert done.stderr == "error: random_opening_share: expected a number from 0 to 1, got 'x'\n"


# ---- a person


@pytest.mark.parametrize("name, ctrl_c", [("SIGHUP", "DFL"), ("SIGTERM", "DFL"), ("SIGTERM", "IGN")])
def test_a_game_is_saved_when_its_terminal_is_closed(tmp_path, name, ctrl_c):
    """Also where Ctrl-C is ignored, as in the background of a shell."""
    place = tmp_path / "game.json"
    heard = (f"import os, signal, sys; signal.signal(signal.{name}, 0); "
             f"signal.signal(signal.SIGINT, signal.SIG_{ctrl_c}); os.execv(sys.executable, sys.argv[1:])")  # fmt: skip
    command = [sys.executable, "-c", heard, sys.executable, MAIN, "play", "--game", "tictactoe", "--against", "random",
               "--save", str(place)]  # fmt: skip
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as playing:
        playing.stdin.write("b2\n")
        playing.stdin.flush()
        while "random plays" not in playing.stdout.readline():
            pass
        time.sleep(0.2)
        playing.send_signal(getattr(signal, name))
        playing.stdout.close()  # as the terminal is
        playing.wait(600)
    assert len(json.loads(place.read_text())["moves"]) >= 2


def test_a_game_without_a_move_is_said_not_to_be_saved_and_an_undo_of_nothing_is_told(
    place, capsys, monkeypatch, tmp_path
):
    monkeypatch.setattr(sys, "stdin", io.StringIO("undo\nresign\n"))
    argv = ["play", "--game", "tictactoe", "--against", "random", "--save", str(tmp_path / "s.json")]
    code, out, _ = output_of(capsys, *argv)
    assert code == 0 and "There is no move of yours to take back." in out
    assert "No move was played, so nothing is saved." in out and not (tmp_path / "s.json").exists()


def test_a_person_in_a_match_told_as_json_is_asked_where_the_result_is_not(place, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("resign\nresign\n"))
    code, out, err = output_of(capsys, "match", "human", "random", "--game", "tictactoe", "--games", "2", "--json")
    assert code == 0 and json.loads(out)["losses"] == 2 and "to move. Legal:" in err


# ---- fewer games, and less room, than was asked for


def test_a_match_says_that_there_were_no_more_openings(place, capsys):
    argv = ["match", "random", "random", "--game", "connect4(columns=2,n=2,rows=1)", "--games", "100"]
    code, out, _ = output_of(capsys, *argv)
    assert code == 0 and "2 of 100 games: there are no more openings that differ" in out
    told_as_json = json.loads(output_of(capsys, *argv, "--json")[1])
    assert (told_as_json["games"], told_as_json["asked"]) == (2, 100)


def test_a_match_whose_games_cannot_be_kept_is_reported(place, capsys, monkeypatch, tmp_path):
    def full(path, records, **_):
        if [*records]:  # before the match it is tried with none
            raise UserError("games.jsonl: cannot be written (No space left on device)")

    monkeypatch.setattr(game_files, "append", full)
    argv = ["match", "random", "greedy", "--game", "tictactoe", "--games", "4", "--save", str(tmp_path / "games.jsonl")]
    code, out, err = output_of(capsys, *argv)
    assert code == 2 and "random against greedy: " in out and "stopped before its end" in out
    assert err == "error: games.jsonl: cannot be written (No space left on device)\n"


def no_room(*_):
    raise OSError(28, "No space left on device")


def test_games_that_do_not_fit_leave_no_half_of_a_line(tmp_path, monkeypatch):
    place, game = tmp_path / "games.jsonl", make("tictactoe")
    append(place, [Record(game, [4, 0], None)])
    before = place.read_bytes()
    monkeypatch.setattr(os, "fsync", no_room)
    with pytest.raises(UserError, match="games.jsonl: cannot be written"):
        append(place, [Record(game, [4, 1], None), Record(game, [4, 2], None)])
    assert place.read_bytes() == before != b""


def test_a_file_of_the_user_s_is_replaced_as_a_whole_or_not_at_all(tmp_path):
    place = tmp_path / "curve.png"
    place.write_bytes(b"before")
    with pytest.raises(UserError, match=r"curve.png: cannot be written \(No space"), replacing(place) as trial:
        assert trial.suffix == ".png"
        trial.write_bytes(b"half")
        no_room()
    assert place.read_bytes() == b"before" and list(tmp_path.iterdir()) == [place]
    with replacing(place) as trial:
        trial.write_bytes(b"after")
    assert place.read_bytes() == b"after" and list(tmp_path.iterdir()) == [place]


@needs_posix
def test_a_planted_link_is_neither_followed_nor_foreseeable_and_the_umask_chooses_the_mode(tmp_path, monkeypatch):
    place, other = tmp_path / "curve.png", tmp_path / "other"
    other.write_bytes(b"mine")
    names = []
    for _ in range(2):
        with replacing(place) as trial:
            names.append(trial.name)
            assert trial.read_bytes() == b"" and not trial.is_symlink()
        (tmp_path / names[-1]).symlink_to(other)
    assert len(set(names)) == 2 and not any(str(os.getpid()) in name.split(".") for name in names)
    before = os.umask(0o027)
    try:
        with replacing(place) as trial:
            trial.write_bytes(b"new")
    finally:
        os.umask(before)
    assert place.stat().st_mode & 0o777 == 0o640
    monkeypatch.setattr("secrets.token_hex", lambda count: "0" * 2 * count)
    planted = tmp_path / ".curve.00000000.tmp.png"
    planted.symlink_to(other)
    with pytest.raises(UserError, match=r"curve.png: cannot be written \(File exists\)"), replacing(place) as trial:
        trial.write_bytes(b"theirs")
    assert other.read_bytes() == b"mine" and planted.is_symlink() and place.read_bytes() == b"new"
