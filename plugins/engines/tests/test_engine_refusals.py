"""What the commands of engines and players that are programs refuse: one line, exit code 2."""

import re

import pytest

import games
from config import UserError
from games.line_of_moves import refuse_set_up
from players.by_name import make_player
from support.command_line import output_of
from support.sgf_files import HANDICAP


@pytest.mark.parametrize("command", ["gtp", "gomocup", "analysis"])
def test_a_player_has_no_option(place, capsys, command):
    code, out, err = output_of(capsys, command, "--player", "random")
    assert (code, out) == (2, "") and re.fullmatch(r"error: [^\n]+\n", err)
    assert "expected player without --player, got '--player'" in err and list(place.iterdir()) == []


def test_a_head_that_is_nearly_one_is_told_the_program():
    with pytest.raises(UserError, match="^did you mean 'gtp:gnugo'?"):
        make_player("gpt:gnugo", games.make("tictactoe"))


def test_programs_follow_from_the_usual_start_and_refuse_stones_set_up(place, tmp_path, capsys):
    (tmp_path / "game.sgf").write_text(HANDICAP)
    argv = ("play", "--load", str(tmp_path / "game.sgf"), "--game", "go", "--against", "gtp:true")
    code, out, err = output_of(capsys, *argv)
    assert code == 2 and err.startswith("error: expected a game from the usual start for a GTP program, got one with")
    refuse_set_up(games.make("go"), "anybody")
