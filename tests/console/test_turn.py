"""What a person at the console types, and the board that is shown there."""

import io
import re

import pytest

import games
from agent import User
from console.turn import COMMANDS, PLAIN, SIDES, board_text, help_text, question, understood
from languages import translate
from support.board_drawings import play
from support.search_cases import GAMES
from system.terminal import columns_of


def meant(text, game="connect4", moves=""):
    return understood(GAMES[game], play(GAMES[game], moves), text)


def test_a_move_or_a_command_is_understood_in_any_case_and_by_its_first_letter():
    assert meant(" B2 ", "tictactoe").action == 4
    assert {word: meant(word).command for words in COMMANDS.values() for word in words} == {
        word: name for name, words in COMMANDS.items() for word in words
    }
    assert meant("U").command == "undo"


@pytest.mark.parametrize("game", sorted(GAMES))
def test_what_is_typed_wrong_gets_one_line_that_says_what_is_possible(game):
    for text in ("", "zzz", "quti", "x" * 500, "\x1b[A"):
        typed = meant(text, game)
        assert typed.action is None and typed.command == ""
        assert typed.fault.count("\n") == 0 and 0 < len(typed.fault) < 300
        assert "help" in typed.fault or "did you mean" in typed.fault
    assert meant("hnt", game).fault.endswith("did you mean hint?")


def test_a_move_that_cannot_be_played_is_named_with_those_that_can():
    assert meant("b2", "tictactoe", "b2").fault == "illegal move b2 (legal: a3 b3 c3 a2 c2 a1 b1 c1)"


def test_help_names_every_command():
    text = help_text(GAMES["tictactoe"], GAMES["tictactoe"].start())
    assert all(f"  {name}" in text for name in COMMANDS) and text.count("\n") == len(COMMANDS)


def test_the_sides_have_colours_where_there_are_any_and_differ_without():
    game = GAMES["tictactoe"]
    plain = play(game, "b2 a3").render()
    shown = board_text(game, plain, colours=True)
    assert board_text(game, plain, colours=False) == plain and game.pieces[1] != game.pieces[-1]
    assert shown.count(SIDES[1]) == shown.count(SIDES[-1]) == 1 and shown.count(PLAIN) == 9
    for code in (*SIDES.values(), PLAIN, "\x1b[2m"):
        shown = shown.replace(code, "")
    assert shown == plain


def test_a_person_sees_the_moves_so_far_and_the_board_again():
    game, out = GAMES["tictactoe"], io.StringIO()
    user = User("person", game, input=io.StringIO("moves\nboard\nhelp\nc1\n"), output=out)
    user.new_game(0, 0)
    user.observe(0, 4)
    state = play(game, "b2")
    assert user.act(state, 1.0)[0] == 8
    said = out.getvalue()
    assert "\nb2\n" in said and said.count(state.render()) == 2 and "take your last move back" in said
    assert "> " not in said and "\x1b" not in said, "neither prompt nor colours where nobody looks"


@pytest.mark.parametrize("spec", ["gomoku(size=15)", "go", "connect4(rows=20,columns=20)", "othello"])
@pytest.mark.parametrize("tongue", ["en", "zh"])
def test_the_question_is_a_line_of_a_small_terminal_that_shows_the_last_move_too(spec, tongue):
    game = games.make(spec)
    state = game.start()
    token = translate.chosen.set(tongue)
    try:
        line = question(game, state)
    finally:
        translate.chosen.reset(token)
    assert 40 <= columns_of(line) <= 79 and "\n" not in line
    names, words = [game.move_name(action) for action in state.allowedActions], re.findall(r"\w+", line)
    assert names[0] in words and names[-1] in words
    assert ("..." in line) == any(name not in words for name in names)
