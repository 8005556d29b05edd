"""`review`: every form of file, a table that fits the terminal, colours, JSON, faults in one line."""

import json
import re
import unicodedata

import pytest

import games
from config import UserError
from interface.commands.review import padded, strongest
from players import by_name
from storage import run_folders
from storage.game_files import Record, append, save
from support.command_line import output_of
from support.game_samples import GAMES

LOST = "a1 b2 c3 a3 c1 b1 c2"
"""Tic-tac-toe: the fourth move loses a draw."""


@pytest.fixture
def file(tmp_path):
    """Return the file of a game of tic-tac-toe with one mistake."""
    game = GAMES["tictactoe"]
    save(tmp_path / "game.json", Record(game, game.parse_moves(LOST), 1.0, ("anna", "ben")))
    return tmp_path / "game.json"


def test_a_game_is_reviewed_move_by_move(capsys, file):
    code, out, err = output_of(capsys, "review", str(file))
    lines = out.splitlines()
    assert (code, err) == (0, "") and lines[0] == "tictactoe: anna (X) against ben (O)"
    assert re.fullmatch(r"   4\. O a3 +drawn +lost +0\.50 \? +\S.*", lines[5])
    assert [line.split()[0] for line in lines[2:9]] == [f"{i}." for i in range(1, 8)]
    assert "anna (X): accuracy 100 %, no mistakes" in out and "ben (O): accuracy" in out and "1 mistake" in out
    assert "Turning point: 4. O a3, from drawn to lost; better " in out and out.endswith("All values are exact.\n")
    board = GAMES["tictactoe"].start()
    for action in GAMES["tictactoe"].parse_moves("a1 b2 c3"):
        board = board.takeAction(action)[0]
    assert board.render() in out


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_table_fits_the_terminal(capsys, tmp_path, monkeypatch, language):
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("LANGUAGE", language)
    game = GAMES["othello(size=6)"]
    moves, state = [], game.start()
    while len(moves) < 12 and not state.isEndGame:
        moves.append(state.allowedActions[len(moves) * 7 % len(state.allowedActions)])
        state = state.takeAction(moves[-1])[0]
    save(tmp_path / "game.json", Record(game, moves))
    code, out, _ = output_of(capsys, "review", str(tmp_path / "game.json"), "--player", "rollout:20")
    rows = [line for line in out.splitlines() if re.match(r" *[0-9]+\. ", line)]
    assert code == 0 and len(rows) == len(moves)
    wide = [sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in row) for row in rows]
    assert max(wide) <= 60
    assert "rollout:20" in out.splitlines()[-1]


def test_marks_are_coloured_in_a_terminal_only(capsys, file, monkeypatch):
    assert "\x1b" not in output_of(capsys, "review", str(file))[1]
    monkeypatch.setattr("interface.commands.review.redraws", lambda stream: True)
    assert "\x1b[1;33m?  \x1b[0m" in output_of(capsys, "review", str(file))[1]
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in output_of(capsys, "review", str(file))[1]


def test_json_is_one_document(capsys, file):
    code, out, err = output_of(capsys, "review", str(file), "--json", "--sims", "9", "--seed", "2")
    found = json.loads(out)
    assert (code, err) == (0, "") and found["turning_point"] == 3 and (found["sims"], found["seed"]) == (9, 2)
    assert [m["mark"] for m in found["moves"]] == ["", "", "", "mistake", "", "", ""]
    assert found["accuracy"][0] == 100.0 and found["players"] == ["anna", "ben"] and found["by"] == ""


@pytest.mark.parametrize(
    "name, data, more",
    [("g.txt", b"4453", ["--game", "connect4(rows=4,columns=5)"]),
     ("g.sgf", b"(;GM[1]SZ[3]KM[0.5];B[bb];W[aa])", []),
     ("g.psq", b"Piskvorky 20x20, 11:11, 0\n10,10,0\n11,11,0\n10,11,0\na\nb\n-1\n", [])],
)  # fmt: skip
def test_every_form_is_read(capsys, tmp_path, name, data, more):
    if name.endswith("sgf"):
        pytest.importorskip("sgfmill")
    (tmp_path / name).write_bytes(data)
    code, out, err = output_of(capsys, "review", str(tmp_path / name), "--player", "rollout:10", *more)
    assert code == 0 and "   1. X" in out, err


def test_one_game_of_many_is_chosen(capsys, tmp_path):
    game = GAMES["tictactoe"]
    append(tmp_path / "games.jsonl", [Record(game, game.parse_moves(text)) for text in ("b2", LOST)])
    code, out, _ = output_of(capsys, "review", str(tmp_path / "games.jsonl"), "--game-number", "2")
    assert code == 0 and "   7. X c2" in out


@pytest.mark.parametrize(
    "more, words",
    [(["--sims", "0"], "sims: expected a whole number"), (["--seed", "-1"], "seed: expected a whole number"),
     (["--player", "random"], "expected a player that searches"),
     (["--player", "shipped:0.5s"], "expected a player without seconds of its own"),
     (["--player", "rollout:9", "--sims", "9"], "expected rollout:N or --sims, got both"),
     (["--player", "nobody"], "expected a player such as"), (["--game", "connect4"], "expected a game of connect4"),
     (["--game-number", "2"], "expected game 1, the only one")],
)  # fmt: skip
def test_a_fault_is_one_line(capsys, file, more, words):
    code, out, err = output_of(capsys, "review", str(file), *more)
    assert code == 2 and out == "" and re.fullmatch(r"error: [^\n]+\n", err) and words in err


def test_a_network_of_many_sizes_reviews_where_no_other_does(monkeypatch, tmp_path):
    monkeypatch.setattr(run_folders, "RUNS", tmp_path)
    assert strongest(games.make("gomoku(size=11)"), 400) == "shipped", "that for 7x7 to 15x15"
    assert strongest(games.make("gomoku"), 400) == "shipped"


def test_a_run_that_cannot_be_read_is_named_and_rollouts_do_not_take_its_place(monkeypatch):
    def damaged(game, run):
        raise UserError("run0001: damaged")

    monkeypatch.setattr(by_name, "run_folder", damaged)
    with pytest.raises(UserError, match="run0001: damaged"):
        strongest(games.make("metasquares"), 400)


def test_chinese_words_count_twice():
    assert (padded("胜", -6), padded("won", -6), padded("ab", 4)) == ("    胜", "   won", "ab  ")
