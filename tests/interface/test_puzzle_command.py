"""Puzzles and the teacher at the console."""

import io
import json
import sys

import pytest

import games
from evaluation.puzzles import shipped_puzzles
from support.command_line import output_of


@pytest.fixture
def typed(capsys, monkeypatch):
    """Return f(lines, *argv) -> (exit code, output, error)."""

    def type_(lines, *argv):
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        return output_of(capsys, *argv)

    return type_


def of(spec, number):
    game = games.make(spec)
    return game, shipped_puzzles(game)[number - 1]


def test_a_puzzle_is_solved_and_counted(typed):
    game, puzzle = of("tictactoe", 1)
    own = [game.move_name(a) for a in puzzle.line[: puzzle.asked : 2]]
    code, out, err = typed(own, "puzzle", "--game", "tictactoe")
    assert (code, err) == (0, "")
    assert "Puzzle 1 (easy)" in out and "Solved." in out and "Puzzle 2" in out
    assert out.endswith("1 of 1 solved, 1 of them at the first try and without a hint.\n")
    if len(own) > 1:
        assert f"Right. The reply is {game.move_name(puzzle.line[1])}; and now?" in out


def test_hints_lead_to_the_move_in_three_steps(typed):
    game, puzzle = of("tictactoe", 2)
    code, out, _ = typed(["hint", "hint", "hint", "quit"], "puzzle", "--game", "tictactoe", "--number", "2")
    hints = [line for line in out.splitlines() if line.startswith(("There is", "It wins", "Every", "The", "Look"))]
    assert code == 0 and len(hints) == 3 and hints[1].startswith("Look here: the ")
    assert hints[2] == f"The move is {game.move_name(puzzle.line[0])}."
    assert all(hints[2].split()[-1].rstrip(".") not in line for line in hints[:2])
    assert "0 of 1 solved" in out


def test_a_wrong_move_is_refuted_and_an_illegal_one_explained(typed):
    game, puzzle = of("tictactoe", 1)
    state_moves = [game.move_name(a) for a in puzzle.moves]
    wrong = next(a for a in range(9) if a != puzzle.line[0] and a not in puzzle.moves)
    code, out, _ = typed([game.move_name(wrong), state_moves[0], "nonsense", "solution"],
                         "puzzle", "--game", "tictactoe")  # fmt: skip
    assert code == 0 and f"{game.move_name(wrong)} " in out and "expected a move such as" in out
    assert "loses" in out or "draws" in out or "misses" in out
    assert "illegal move" in out and "The solution: " in out and "0 of 1 solved" in out


def test_the_move_that_is_named_as_an_example_is_one_that_can_be_played(typed):
    """The first point of the board is taken in this puzzle."""
    out = typed(["x", "board", "quit"], "puzzle", "--game", "tictactoe", "--number", "3")[1]
    assert "expected a move such as b3, got 'x'" in out and out.count("3 [X] -  X") == 2, "board shows the board"


def test_help_lists_what_can_be_typed_and_nothing_else_is_taken_for_a_word(typed):
    words = ["help", "undo", "resign", "moves", "solutoin", "quit"]
    out = typed(words, "puzzle", "--game", "tictactoe", "--number", "3")[1]
    lines = out.splitlines()
    for word in ("b3", "hint, h, ?", "solution, s", "board, b", "next, n", "quit, q", "help"):
        assert any(line.startswith(f"  {word} ") for line in lines), word
    assert out.count("3 [X] -  X") == 1, "the board is there already"
    for word in ("undo", "resign", "moves"):
        assert f"expected a move such as b3, got '{word}'; help lists what can be typed" in lines
    assert "expected a move such as b3, got 'solutoin'; did you mean solution?" in lines


def test_a_level_and_what_is_not_tried_is_not_counted(typed):
    code, out, _ = typed(["next", "next"], "puzzle", "--game", "othello(size=6)", "--level", "hard")
    assert code == 0 and out.count("(hard)") == 3 and "0 of 0 solved" in out


def test_as_json_it_is_what_the_file_holds(typed):
    code, out, err = typed([], "puzzle", "--number", "3", "--json")
    found = json.loads(out)
    assert (code, err) == (0, "") and found["game"] == "connect4" and found["number"] == 3
    _, puzzle = of("connect4", 3)
    assert found["kind"] == puzzle.kind and found["asked"] == puzzle.asked


@pytest.mark.parametrize("argv", [["--number", "0"], ["--level", "silly"], ["--game", "nogame"], ["--number", "x"],
                                  ["--number", "1", "--level", "hard"],
                                  ["--number", "9000"]])  # fmt: skip
def test_wrong_options_are_one_line(typed, argv):
    code, out, err = typed([], "puzzle", *argv)
    assert code == 2 and out == "" and err.startswith("error: ") and err.count("\n") == 1


def test_a_game_without_puzzles_says_so(typed, monkeypatch):
    monkeypatch.setattr("evaluation.puzzle_maker.GIVE_UP", 0)
    monkeypatch.setattr("evaluation.puzzle_maker.Maker.make", lambda *_: None)
    code, out, err = typed([], "puzzle", "--game", "connect4(rows=4,columns=4)")
    assert code == 2 and err.startswith("Making a puzzle ...\nerror: ") and err.count("\n") == 2
    assert "any puzzles, connect4(columns=4,rows=4) has none (none ships" in err
    _, _, err = typed([], "puzzle", "--game", "tictactoe", "--level", "hard")
    assert "hard puzzles, tictactoe has none (14 ship)" in err


def test_a_bad_move_is_taken_back_and_played_when_entered_again(typed):
    code, out, _ = typed(["a2", "a2", "quit"], "play", "--game", "tictactoe", "--teach", "--against", "solver",
                         "--moves", "a1", "--first", "machine")  # fmt: skip
    assert code == 0 and out.count("a2 loses: the reply ") == 1 and "b2 keeps the draw." in out
    before, _, after = out.partition("Enter another move, or the same again to play it anyway.")
    assert "solver plays" not in before and "solver plays" in after


def test_a_good_move_is_played_at_once(typed):
    _, out, _ = typed(["b2", "quit"], "play", "--game", "tictactoe", "--teach", "--against", "solver",
                      "--moves", "a1", "--first", "machine")  # fmt: skip
    assert "solver plays" in out and "Enter another move" not in out


def test_without_the_teacher_nothing_is_taken_back(typed):
    _, out, _ = typed(["a2", "quit"], "play", "--game", "tictactoe", "--against", "solver", "--moves", "a1",
                      "--first", "machine")  # fmt: skip
    assert "solver plays" in out and "loses" not in out
