"""Saving and loading: places where it can be done, and games saved and gone on with at the console."""

import io
import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import games
from config import UserError
from games.line_of_moves import starting_at
from storage import sgf
from storage.game_files import Record, check_place, from_bytes, load, load_game, save, to_bytes
from support.command_line import output_of
from support.game_samples import GAMES, end_of, played
from support.systems import needs_posix
from support.tiny_runs import tree_of

# ---- places


def test_a_file_is_saved_whole_for_its_owner_and_read_again(tmp_path):
    record = played(GAMES["points"], 5)
    for form in (".json", ".SGF"):
        path = tmp_path / f"game{form}"
        save(path, record)
        assert load(path, record.game) == record and path.stat().st_mode & 0o077 == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["game.SGF", "game.json"]


def test_a_place_where_nothing_can_be_saved_is_told_before_the_game(tmp_path):
    game, there = GAMES["tictactoe"], tmp_path / "there.json"
    there.write_text("mine")
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "nowhere.json").symlink_to(tmp_path / "gone")
    for name, told_words in (
        ("there.json", "exists; --overwrite replaces it"), ("nowhere.json", "exists"),
        ("folder.json", "this is a folder"), ("no/game.json", "No such file"), ("there.json/x.json", "Not a directory"),
        (f"{'x' * 300}.json", "name too long"), (f"{'x' * 245}.json", "name too long"),
        ("game.sgf", "no form in SGF, expected a file of another form: .json or .txt"),
        ("game", "ends in .json, .txt or .sgf, got 'game'"), (".json", "ends in"), ("game.pkl", "ends in"),
    ):  # fmt: skip
        with pytest.raises(UserError, match=re.escape(told_words)) as raised:
            check_place(tmp_path / name, game)
        assert "\n" not in str(raised.value)
    check_place(there, game, overwrite=True)
    check_place(tmp_path / "new.txt", game)
    assert there.read_text() == "mine" and len(list(tmp_path.iterdir())) == 3, "nothing is left behind"


def test_a_form_that_cannot_hold_the_stones_set_up_is_refused_before_the_game(tmp_path):
    """Such a game was lost at its end."""
    game = games.make("go")
    board = np.zeros((5, 5), np.int8)
    board[2, 2] = board[1, 1] = 1
    for points, refused in ((0, [".txt"]), (7, [".txt", ".sgf"])):
        begun = starting_at(game, game.rewarded(game.set_up(board, -1), points))
        for form in (".txt", ".sgf", ".json"):
            if form in refused:
                with pytest.raises(UserError, match="expected a .json"):
                    check_place(tmp_path / f"game{form}", begun)
            else:
                check_place(tmp_path / f"game{form}", begun)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(getattr(os, "geteuid", int)() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_to_is_told(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(UserError, match="Permission denied"):
        check_place(tmp_path / "game.json", GAMES["tictactoe"])


@needs_posix
def test_a_file_that_cannot_be_read_is_named(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "folder.txt").mkdir()
    (tmp_path / "bad.json").write_text("{")
    for name, words in (("pipe.json", "there is none"), ("folder.txt", "this is a folder"), ("no.sgf", "there is none"),
                        ("bad.json", "expected JSON"), (f"{'x' * 300}.json", "too long")):  # fmt: skip
        with pytest.raises(UserError, match=words) as raised:
            load(tmp_path / name, GAMES["tictactoe"])
        assert str(tmp_path / name) in str(raised.value) and "\n" not in str(raised.value)
    with pytest.raises(UserError, match="pipe.jsonl: expected a file, there is none"):
        load_game(tmp_path / "pipe.jsonl")


def test_moves_that_could_not_be_saved_are_told(tmp_path):
    with pytest.raises(UserError, match="cannot be written .* the moves were 4433"):
        save(tmp_path / "gone" / "game.json", Record(GAMES["connect4"], [3, 3, 2, 2]))


def test_without_sgfmill_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sgfmill", None)
    for call in (lambda: from_bytes(b"(;GM[4])", ".sgf"), lambda: sgf.check_game(GAMES["points"])):
        with pytest.raises(UserError, match="pip install sgfmill"):
            call()
    assert to_bytes(Record(GAMES["connect4"], [3]), ".txt") == b"4\n"


# ---- at the console


def play(capsys, monkeypatch, script, *argv):
    """Play tic-tac-toe against a random player from a script; return (exit code, output, error)."""
    monkeypatch.setattr(sys, "stdin", io.StringIO(script))
    return output_of(capsys, "play", "--against", "random", *argv)


TICTACTOE = ("--game", "tictactoe")


@pytest.mark.parametrize("first", ["human", "machine"])
def test_a_game_is_saved_at_its_end(place, capsys, monkeypatch, tmp_path, first):
    path = tmp_path / "game.json"
    script = "a3\nb3\nc3\na2\nb2\nc2\na1\nb1\nc1\n"
    code, out, err = play(capsys, monkeypatch, script, *TICTACTOE, "--first", first, "--save", str(path))
    found = load(path)
    names = " ".join(found.game.move_name(a) for a in found.moves)
    assert (code, err) == (0, "") and f"Moves: {names}\n" in out and f"The game is saved in {path}.\n" in out
    assert f"`python main.py review {path}` reviews it." in out.splitlines()[-1]
    assert end_of(found).isEndGame and found.players == (("you", "random") if first == "human" else ("random", "you"))
    mine = found.result if first == "human" else -found.result
    assert {1: "You win", 0: "A draw", -1: "You lose"}[mine] in out


@pytest.mark.parametrize(
    "script, moves, result",
    [("b2\nresign\n", 2, -1), ("b2\nquit\n", 2, None), ("b2\n", 2, None), ("b2\nundo\na1\nundo\nc3\nq\n", 2, None),
     ("b2\nundo\nq\n", 0, None), ("q\n", 0, None)],
)  # fmt: skip
def test_a_game_left_early_is_saved_with_the_moves_that_count(
    place, capsys, monkeypatch, tmp_path, script, moves, result
):
    path = tmp_path / "game.json"
    code, out, err = play(capsys, monkeypatch, script, *TICTACTOE, "--save", str(path))
    assert (code, err) == (0, "") and path.exists() == (moves > 0) == ("is saved in" in out), "no moves, no file"
    if moves:
        found = load(path)
        last = f"`python main.py play --load {path}` continues" if result is None else f"review {path}` reviews"
        assert last in out.splitlines()[-1]
        first = script.replace("b2\nundo\na1\nundo\n", "").split()[0]
        assert len(found.moves) == moves and found.result == result and found.game.move_name(found.moves[0]) == first


def test_a_game_broken_off_by_ctrl_c_is_saved(place, capsys, monkeypatch, tmp_path):
    class Breaking(io.StringIO):
        def readline(self, *_):
            line = super().readline()
            if not line:
                raise KeyboardInterrupt
            return line

    monkeypatch.setattr(sys, "stdin", Breaking("4\n"))
    path = tmp_path / "game.txt"
    code, _, _ = output_of(capsys, "play", "--against", "random", "--save", str(path))
    assert code == 130 and re.fullmatch("4[1-7]\n", path.read_text())


def test_a_game_goes_on_from_its_file_on_the_same_side(place, capsys, monkeypatch, tmp_path):
    path, later = tmp_path / "game.json", tmp_path / "later.json"
    save(path, Record(GAMES["tictactoe"], [4, 0, 8], None, ("random", "you"), ""))
    code, out, _ = play(capsys, monkeypatch, "c3\nq\n", "--load", str(path), "--save", str(later))
    found = load(later)
    assert code == 0 and "you are O" in out and found.moves[:4] == [4, 0, 8, 2] and len(found.moves) == 5
    assert found.players == ("random", "you")
    _, out, _ = play(capsys, monkeypatch, "undo\nq\n", "--load", str(path), "--first", "human")
    assert "you are X" in out, "a side that is asked for is given"


def test_moves_of_a_file_are_taken_back_as_those_that_were_played(place, capsys, monkeypatch, tmp_path):
    path, later = tmp_path / "game.json", tmp_path / "later.json"
    save(path, Record(GAMES["tictactoe"], [4, 0], None, ("you", "random"), ""))
    code, out, _ = play(capsys, monkeypatch, "undo\na3\nq\n", "--load", str(path), "--save", str(later))
    assert code == 0 and "no move of yours" not in out
    assert load(later).moves[0] == 0 and len(load(later).moves) == 2


@pytest.fixture
def against(monkeypatch):
    """Return a list of the opponents that games at the console would be played against."""
    found = []
    played = "interface.console.play_console"
    monkeypatch.setattr(played, lambda game, against, *_, **options: found.append(against) or 0)
    return found


@pytest.mark.parametrize("players", [("you", "rollout:20"), ("rollout:20", "you")])
def test_the_opponent_of_a_file_plays_on_unless_another_is_named(capsys, tmp_path, against, players):
    path = tmp_path / "game.json"
    save(path, Record(GAMES["tictactoe"], [4, 0], None, players, ""))
    for words in ([], ["--against", "greedy"]):
        assert output_of(capsys, "play", "--load", str(path), *words) == (0, "", "")
    assert against == ["rollout:20", "greedy"]


@needs_posix
@pytest.mark.parametrize("name", ["nobody", "run0007:version0001", "gtp:./engine", " GTP:./engine+book", "x+book:./y"])
def test_an_opponent_of_a_file_who_is_none_here_is_replaced_and_no_program_started(
    place, capsys, monkeypatch, tmp_path, against, name
):
    monkeypatch.chdir(tmp_path)
    Path("engine").write_text("#!/bin/sh\ntouch ran\n")
    Path("engine").chmod(0o700)
    save(Path("game.json"), Record(games.make("gomoku"), [4, 0], None, ("you", name), ""))
    before = tree_of(tmp_path)
    said = f"the opponent of the file, {name!r}, is no player here: best plays; --against names another\n"
    said += "There is no network for gomoku yet: rollout:1s plays. `python main.py --game gomoku` trains one.\n"
    assert output_of(capsys, "play", "--load", "game.json") == (0, said, "")
    assert against == ["rollout:1s"] and tree_of(tmp_path) == before


@pytest.mark.parametrize("players", [("", ""), ("you", ""), ("you", "you"), ("rollout:20", "greedy")])
def test_a_file_that_names_no_opponent_of_a_person_is_gone_on_with_against_the_best(capsys, tmp_path, against, players):
    save(tmp_path / "game.json", Record(GAMES["tictactoe"], [4, 0], None, players, ""))
    assert output_of(capsys, "play", "--load", str(tmp_path / "game.json")) == (0, "", "") and against == ["best"]


REFUSALS = [
    (["--load", "won.json"], "expected a position to play in, the game is over"),
    (["--load", "lost.json"], "expected a game to go on with, this one was given up"),
    (["--load", "won.json", "--ply", "6"], "ply: expected a whole number from 0 to 5, got 6"),
    (["--load", "won.json", "--game-number", "2"], "expected game 1, the only one, got 2"),
    (["--load", "open.json", "--moves", "b2"], "expected --moves or --load, got both"),
    (["--load", "open.json", "--game", "connect4"], "expected a game of connect4, got one of tictactoe"),
    (["--load", "open.txt"], "open.txt: the file does not name its game; name it with --game"),
    (["--load", "open.txt", "--game", "connect4"], "open.txt: move 1: expected a move such as '1', got 'b'"),
    (["--load", "none.json"], "none.json: expected a file, there is none"),
    (["--load", "."], "ends in .json, .txt, .sgf, .psq, .ggf, .wtb, .obf or .jsonl"),
    (["--load", "open.json", "--save", "open.json"], "open.json: exists; --overwrite replaces it"),
    (["--game", "tictactoe", "--save", "new.sgf"], "tictactoe has no form in SGF"),
    (["--game", "tictactoe", "--save", "no/new.json"], "no/new.json: cannot be written (No such file or directory)"),
]


@pytest.mark.parametrize("argv, words", REFUSALS, ids=lambda x: "-".join(x) if isinstance(x, list) else "")
def test_what_cannot_be_loaded_or_saved_is_refused_before_the_game(
    place, capsys, monkeypatch, tmp_path, argv, words
):
    monkeypatch.chdir(tmp_path)
    game = GAMES["tictactoe"]
    save(Path("open.json"), Record(game, [4, 0]))
    save(Path("open.txt"), Record(game, [4, 0]))
    save(Path("won.json"), Record(game, [0, 3, 1, 4, 2], 1.0))
    save(Path("lost.json"), Record(game, [4, 0], -1.0))
    before = tree_of(tmp_path)
    code, out, err = play(capsys, monkeypatch, "b2\n", *argv)
    assert code == 2 and out == "" and err.startswith("error: ") and words in err.splitlines()[0]
    assert len(err.splitlines()) == (4 + 1 if "is over" in words else 1) and tree_of(tmp_path) == before


def test_every_command_refuses_moves_of_a_game_that_is_not_named(place, capsys, tmp_path):
    path = tmp_path / "game.txt"
    path.write_text("4453\n")
    for words in (["play", "--load"], ["explain", "--load"], ["replay"]):
        code, out, err = output_of(capsys, *words, str(path))
        said = "the file does not name its game; name it with --game"
        assert (code, out, err) == (2, "", f"error: {path}: {said}\n")
    assert output_of(capsys, "replay", str(path), "--game", "connect4")[0] == 0


def test_a_file_is_replaced_when_that_is_asked_for(place, capsys, monkeypatch, tmp_path):
    path = tmp_path / "game.txt"
    path.write_text("b2 a3\n")
    argv = [*TICTACTOE, "--load", str(path), "--save", str(path), "--overwrite"]
    assert play(capsys, monkeypatch, "c3\nq\n", *argv)[0] == 0
    assert path.read_text().startswith("b2 a3 c3 ")
