"""Games that a program lost by rule are counted apart: in the table, in the JSON, in files and by other programs."""

import json
import sys
from pathlib import Path

import pytest

import games
from alphazero_keras import play_match
from evaluation import report
from evaluation.match import forfeit_words
from players.by_name import make_player
from plugins.engines.programs.gtp import GTPPlayer
from storage.game_files import Record, from_bytes, load_game, to_bytes
from support.command_line import output_of

ENGINE = Path(__file__).with_name("fake_gtp_engine.py")
DIES = f"gtp:{sys.executable} {ENGINE} dies"
RESIGNS = f"gtp:{sys.executable} {ENGINE} resigns"
WHY = "genmove black: ended without an answer"
SPEC = "go(size=3)"


def played(capsys, *argv):
    return output_of(capsys, "match", *argv, "--game", SPEC, "--opening-plies", "1")[:2]


def test_a_match_counts_them_apart_and_says_when_it_measures_nothing(capsys):
    code, out = played(capsys, "random", DIES, "--games", "4")
    assert code == 0 and "4 of 4 games ended by forfeit, not by play: more than one in 20" in out
    assert f"4 lost by {DIES[:64]}; without them: no games" in out
    out = played(capsys, "random", RESIGNS, "--games", "4")[1]
    assert "4 won" in out and "forfeit" not in out, "who resigns has lost by play"


@pytest.mark.parametrize("form", ["jsonl", "sgf"])
def test_the_json_and_the_files_have_the_reason(form, capsys, tmp_path):
    place = tmp_path / f"games.{form}"
    found = json.loads(played(capsys, "random", DIES, "--games", "2", "--json", "--save", str(place))[1])
    assert found["forfeits"] == {"player1": 0, "player2": 2} and found["wins"] == 2
    assert found["without_forfeits"] is None and found["measures_play"] is False
    assert [(g["game"], g["lost_by"]) for g in found["forfeited"]] == [(1, 2), (2, 2)]
    records = [load_game(place, number) for number in (1, 2)]
    assert [r.forfeit for r in records] == [g["reason"] for g in found["forfeited"]]
    assert records[1].forfeit == WHY and all(r.result and not r.stated for r in records)
    assert not any("left out" in note for r in records for note in r.notes)
    shown = output_of(capsys, "replay", str(place), "--game-number", "2")[1]
    assert f"by forfeit, not by play: {WHY}" in shown


def test_the_score_without_them_is_of_the_other_games(capsys, monkeypatch):
    """Player 2 fails in the games in which it begins."""
    ask = GTPPlayer._ask

    def fails_as_black(player, engine, game):
        return ask(player, engine, game) if game.state.playerTurn == -1 else engine.ask("no")

    monkeypatch.setattr(GTPPlayer, "_ask", fails_as_black)
    argv = ["random", f"gtp:{sys.executable} {ENGINE} passes", "--games", "6", "--json"]
    found = json.loads(played(capsys, *argv)[1])
    rest = found["without_forfeits"]
    assert 0 < found["forfeits"]["player2"] < 6 and found["games"] == 6
    assert rest["games"] == rest["wins"] + rest["draws"] + rest["losses"] == 6 - found["forfeits"]["player2"]
    assert found["wins"] == rest["wins"] + found["forfeits"]["player2"]


def test_one_in_twenty_may_fail():
    assert "measures nothing" not in forfeit_words(1, 20) and "measures nothing" in forfeit_words(2, 39)


def test_other_programs_and_the_ladder_count_them_too():
    result = play_match("random", DIES, game=SPEC, games=2, opening_plies=1)
    assert result.wins == 2 and result.forfeits == (0, 2)
    game = games.make(SPEC)
    part = report.ladder_part(
        game, make_player(DIES, game), games=4, seconds=0, seed=0, plies=1, report=lambda *facts: None
    )
    assert part["forfeits"] == part["games"] == 4
    found = {"player": "gtp", "game": SPEC, "note": "", "exact": None, "ladder": {**part, "player_simulations": None}}
    assert "4 of 4 games ended by forfeit" in report.as_text(found)


@pytest.mark.parametrize("form", [".json", ".sgf"])
def test_a_file_keeps_the_reason_whatever_it_says(form):
    game = games.make(SPEC)
    record = Record(game, [4], -1.0, ("a", "b"), forfeit="illegal move ']\\ \u00e9'")
    again = from_bytes(to_bytes(record, form), form)
    assert again.forfeit.startswith("illegal move ']\\ ") and again.result == -1.0 and not again.notes
    assert to_bytes(again, form) == to_bytes(record, form)
    assert again.first_moves(1).forfeit == ""
