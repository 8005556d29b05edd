"""Positions of saved games are explained by a run's network."""

import io
import json
import sys

from storage.game_files import Record, append, load, save
from support.command_line import output_of
from support.game_samples import GAMES


def play(capsys, monkeypatch, script, *argv):
    """Play tic-tac-toe against a random player from a script; return (exit code, output, error)."""
    monkeypatch.setattr(sys, "stdin", io.StringIO(script))
    return output_of(capsys, "play", "--against", "random", *argv)


def test_the_position_of_a_file_is_explained_as_that_of_its_moves(trained_place, capsys, tmp_path):
    path = tmp_path / "game.json"
    save(path, Record(GAMES["tictactoe"], [4, 0], -1.0))
    ways = (["--load", str(path)], ["--game", "tictactoe", "--moves", "b2 a3"])
    found = [output_of(capsys, "explain", *way, "--sims", "30", "--json") for way in ways]
    assert found[0] == found[1] and found[0][0] == 0 and json.loads(found[0][1])["game"] == "tictactoe"


def test_any_position_of_a_finished_game_is_explained_and_gone_on_from(trained_place, capsys, monkeypatch, tmp_path):
    """
    X X X
    O O .   after three moves O could still have blocked
    . . .
    """
    path = tmp_path / "games.jsonl"
    append(path, [Record(GAMES["tictactoe"], [4, 0], -1.0), Record(GAMES["tictactoe"], [0, 3, 1, 4, 2], 1.0)])
    path.write_text(path.read_text().replace("\n", "\n\n"))  # a blank line is no game
    of_file = ["--load", str(path), "--game-number", "2", "--ply", "3"]
    ways = (of_file, ["--game", "tictactoe", "--moves", "a3 a2 b3"])
    found = [output_of(capsys, "explain", *way, "--sims", "30", "--json") for way in ways]
    assert found[0] == found[1] and found[0][0] == 0
    code, _, err = output_of(capsys, "explain", *of_file[:4])
    assert code == 2 and err.startswith("error: expected a position to play in, the game is over; --ply N")
    later = tmp_path / "later.json"
    assert play(capsys, monkeypatch, "c3\nq\n", *of_file, "--first", "machine", "--save", str(later))[0] == 0
    assert load(later).moves[:4] == [0, 3, 1, 2]
    given_up = ["--load", str(path), "--ply", "2"]
    assert play(capsys, monkeypatch, "q\n", *given_up)[0] == 0, "the moves count, not that it was given up"
