"""What is kept of the boards that ship is what their rules say, and pages have the puzzles that were checked."""

import pytest

import games
from evaluation.puzzles import as_json, puzzles_in_file, shipped_puzzles
from plugins.browser.engine import board_facts
from plugins.browser.known_boards import FILE, boards_that_ship, known_board, known_specs
from plugins.browser.known_boards import as_json as text_of

ONE_A_GAME = (
    "connect4",
    "tictactoe",
    "othello(size=10)",
    "othello(size=6)",
    "gomoku(rule=renju,size=15)",
    "gomoku(size=8)",
    "go(komi=7,size=7)",
    "hex(size=7)",
    "hex(size=9,swap=yes)",
    "littlego",
)


@pytest.mark.parametrize("spec", ONE_A_GAME)
def test_a_board_is_what_its_rules_say(spec):
    """Where it is not: `python distribution/make_ready.py`."""
    game = games.make(spec)
    assert known_board(game) == board_facts(game)


def test_the_boards_of_all_players_that_ship_are_known():
    assert sorted(known_specs()) == sorted(boards_that_ship())
    boards = {spec: known_board(games.make(spec)) for spec in known_specs()}
    assert text_of(boards) == FILE.read_text(encoding="utf-8")
    assert all(len(board.legal) == len(set(board.legal)) > 3 for board in boards.values())
    assert known_board(games.make("gomoku(size=19)")) is None


@pytest.mark.parametrize("spec", ["connect4", "othello", "tictactoe"])
def test_the_puzzles_of_a_page_are_those_that_are_checked(spec):
    game = games.make(spec)
    assert puzzles_in_file(game) == [as_json(puzzle, game) for puzzle in shipped_puzzles(game)] != []
