"""What commands and the page's table do with records from elsewhere: notes, stones set up, moves after two passes."""

import io
import json
import sys

import pytest

import games
from config import UserError
from games.line_of_moves import refuse_set_up, starting_at
from players.simple import RandomPlayer
from plugins.page.tab_address import kept
from plugins.page.table import Table
from storage.game_files import from_bytes, load_game, to_bytes
from support.command_line import output_of

pytest.importorskip("sgfmill.sgf", reason="sgfmill reads SGF")

HANDICAP = "(;GM[1]SZ[5]KM[2.5]HA[2]AB[bb][dd]C[hi]RU[Chinese];W[cc];B[bd];W[db])"
RESUMED = "(;GM[1]SZ[5]KM[2.5]RE[W+3.5]C[resumed];B[cc];W[];B[];W[bb];B[bc])"
COUNTED = "(;GM[1]SZ[5]KM[2.5]RE[W+3.5];B[cc];W[bb];B[];W[])"


@pytest.fixture
def saved(place, tmp_path):
    """Return a function that writes a record and returns its path."""

    def write(text, name="game.sgf"):
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return write


def test_a_record_is_shown_from_its_stones_with_its_notes(saved, capsys):
    code, out, err = output_of(capsys, "replay", saved(HANDICAP))
    lines = out.splitlines()
    assert (code, err) == (0, "") and lines[1] == "the file: rules Chinese, handicap 2"
    assert lines[2].startswith("RU[Chinese]: ") and lines[3] == "left out: 1 comment"
    assert lines[5] == " 4  -  X  -  -  - " and "\n1. O c3\n" in out


def test_a_record_that_went_on_after_two_passes_is_shown_to_its_end(saved, capsys):
    code, out, err = output_of(capsys, "replay", saved(RESUMED))
    assert (code, err) == (0, "") and "\n5. X b3\n" in out and out.endswith("\nO won\n")


def test_the_result_shown_is_the_one_of_the_file(saved, capsys):
    out = output_of(capsys, "replay", saved(COUNTED))[1]
    assert "the file says W+3.5, which is kept; by our rules it is W+2.5" in out and out.endswith("\nO won\n")


@pytest.mark.parametrize("text, side", [(HANDICAP, "X"), (RESUMED, "O")])
def test_a_position_is_explained_after_stones_set_up_and_after_two_passes(tmp_path, capsys, text, side):
    path = tmp_path / "game.sgf"
    path.write_text(text)
    argv = ("explain", "--load", str(path), "--game", "go", "--player", "shipped", "--sims", "8")
    code, out, err = output_of(capsys, *argv)
    assert (code, err) == (0, "") and f"{side} to move" in out and from_bytes(text.encode(), ".sgf").notes[0] in out
    code, out, err = output_of(capsys, *argv, "--json")
    found = json.loads(out)
    assert found["notes"] == list(from_bytes(text.encode(), ".sgf").notes) and found["to_move"] == side


def test_play_goes_on_from_stones_set_up_and_saves_them(saved, capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "stdin", io.StringIO("a1\nquit\n"))
    new = tmp_path / "new.sgf"
    argv = ("--load", saved(HANDICAP), "--game", "go", "--against", "random", "--save", str(new))
    code, out, err = output_of(capsys, "play", *argv)
    assert (code, err) == (0, "") and "left out: 1 comment" in out
    found = load_game(new)
    assert len(found.moves) == 5 and found.game.set_up_from is not None
    assert found.game.start().id == from_bytes(HANDICAP.encode(), ".sgf").game.start().id


def test_players_that_follow_from_the_usual_start_refuse_stones_set_up(saved, capsys):
    code, out, err = output_of(capsys, "play", "--load", saved(HANDICAP), "--game", "go", "--against", "gtp:true")
    assert code == 2 and err.startswith("error: expected a game from the usual start for a GTP program, got one with")
    refuse_set_up(games.make("go"), "anybody")


def test_a_record_is_no_file_of_games_to_learn_from(saved, capsys):
    code, out, err = output_of(capsys, "import-games", saved(HANDICAP), "--game", "go")
    assert code == 2 and err.startswith("error: expected a file of export-games: the moves of .sgf hold no searches")


def test_a_wrong_move_of_the_command_line_is_named_with_its_number(place, capsys):
    for game, moves, words in (("gomoku", "a9 a9", "move 2: illegal move a9"), ("go", "c3 q1", "move 2: expected"),
                               ("othello", "f5f5", "move 2: illegal move f5")):  # fmt: skip
        code, _, err = output_of(capsys, "play", "--game", game, "--against", "random", "--moves", moves)
        assert code == 2 and err.startswith(f"error: {words}"), err


# ---- the page's table


def loaded(text):
    table = Table("connect4")
    table.load(from_bytes(text.encode(), ".sgf"))
    table.go(len(table.moves))
    return table


def test_the_table_shows_stones_set_up_and_a_new_game_begins_without_them():
    table = loaded(HANDICAP)
    assert table.states[0].playerTurn == -1 and len(table.states) == 4
    assert kept(table)["moves"] == "", "an address holds moves only"
    assert RandomPlayer(starting_at(games.make("go"), table.states[0])).game.set_up_from is not None
    table.play(0)
    assert from_bytes(to_bytes(table.record(), ".json"), ".json").game.set_up_from is not None
    table.new()
    assert table.game.set_up_from is None and table.states[0].playerTurn == 1


def test_the_table_shows_the_files_result_until_a_move_is_changed():
    table = loaded(COUNTED.replace("W+3.5", "B+20"))
    assert table.result == 1 and table.status == "Black wins. So says the file."
    assert table.record().stated["result"] == "B+20"
    table.go(2)
    table.play(10)
    assert table.result is None
    assert loaded(COUNTED).status == "White wins."
    assert loaded(COUNTED.replace("W+3.5", "Void")).status == "No result. So says the file."


def test_the_table_goes_through_moves_after_two_passes():
    table = loaded(RESUMED)
    assert len(table.states) == 6 and table.status == "White wins. So says the file."
    text = table.text
    table.load_text(text)
    assert table.moves == [12, 25, 25, 6, 11] and table.result is None


def test_a_wrong_move_of_a_line_is_named_and_the_table_unchanged():
    table = Table("gomoku")
    with pytest.raises(UserError, match="move 3: illegal move a9"):
        table.load_text("a9 b9 a9")
    assert table.moves == []
