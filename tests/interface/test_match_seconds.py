"""A match keeps the seconds of each move where games are played one after the other, in JSON and in SGF."""

import json
import re

import games
from evaluation.match import play_alone, play_batch
from players.rollout import RolloutPlayer
from players.simple import RandomPlayer
from storage.game_files import load_game
from support.command_line import output_of


def test_the_seconds_are_those_of_the_moves():
    game = games.make("tictactoe")
    players = RolloutPlayer(game, seconds=0.02), RandomPlayer(game)
    found = play_alone(game, players, (0, [4], False), seed=1)
    assert len(found.seconds) == len(found.moves) and found.seconds[0] == 0.0 and min(found.seconds[1:]) > 0
    side_by_side = play_batch(game, (RandomPlayer(game), RandomPlayer(game)), [(0, [], True)], seed=1)
    assert side_by_side[0].seconds == ()


def test_they_are_saved_with_the_games_and_read_again(tmp_path, capsys):
    lines, sgf = tmp_path / "games.jsonl", tmp_path / "games.sgf"
    for file in (lines, sgf):
        argv = ["rollout:0.01s", "random", "--game", "gomoku(size=5)", "--games", "2", "--save", str(file)]
        code, out, err = output_of(capsys, "match", *argv)
        assert code == 0 and "2 games" not in err
    for number in (1, 2):
        record = load_game(lines, number)
        assert len(record.seconds) == len(record.moves) and record.seconds[0] == 0.0 and sum(record.seconds) > 0
        assert record.first_moves(3).seconds == record.seconds[:3]
        other = load_game(sgf, number)
        assert len(other.moves) > 4 and not [note for note in other.notes if "comment" in note]
    assert json.loads(lines.read_text().splitlines()[0])["seconds"][:2] == [0.0, 0.0]
    assert len(re.findall(r"C\[[0-9.]+ s\]", sgf.read_text())) == sum(len(load_game(sgf, n).moves) for n in (1, 2))
