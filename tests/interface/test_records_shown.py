"""What commands do with records from elsewhere: notes, stones set up, moves after two passes."""

import io
import json
import sys

import pytest

from storage.game_files import from_bytes, load_game
from support.command_line import output_of
from support.sgf_files import COUNTED, HANDICAP, RESUMED

pytest.importorskip("sgfmill.sgf", reason="sgfmill reads SGF")

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
    assert lines[2].startswith("RU[Chinese]: ") and lines[4] == "left out: 1 comment"
    assert lines[3] == "RU[Chinese]: White gets 2 points for the handicap"
    assert lines[6] == " 4  -  X  -  -  - " and "\n1. O c3\n" in out


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


def test_a_record_is_no_file_of_games_to_learn_from(saved, capsys):
    code, out, err = output_of(capsys, "import-games", saved(HANDICAP), "--game", "go")
    assert code == 2 and err.startswith("error: expected a file of export-games: the moves of .sgf hold no searches")


def test_a_wrong_move_of_the_command_line_is_named_with_its_number(place, capsys):
    for game, moves, words in (("gomoku", "a9 a9", "move 2: illegal move a9"), ("go", "c3 q1", "move 2: expected"),
                               ("othello", "f5f5", "move 2: illegal move f5")):  # fmt: skip
        code, _, err = output_of(capsys, "play", "--game", game, "--against", "random", "--moves", moves)
        assert code == 2 and err.startswith(f"error: {words}"), err
