"""What games are called on screen."""

import pytest

import games
from games.parameters import values_of
from games.titles import SIZES, TITLES, title_of, titled


@pytest.mark.parametrize("name", TITLES)
def test_a_title_says_the_size_of_a_board_that_has_several(name):
    game = games.make(name)
    assert (name in SIZES) == ("size" in values_of(game))
    assert name not in SIZES or title_of(name).endswith(f" {SIZES[name]}x{SIZES[name]}")
    assert name not in SIZES or game.grid_shape == (SIZES[name], SIZES[name])


def test_a_list_of_games_has_the_boards_of_a_game_together():
    listed = titled(["connect4", "gomoku(size=15)", "hex(size=9)", "mine.py:Hex", "gomoku(rule=renju,size=15)", "hex",
                     "gomoku(size=9)", "connect4(rows=5)", "hex(swap=yes)"])  # fmt: skip
    assert list(listed.values()) == [
        "Connect 4", "Connect 4 (rows=5)", "Gomoku 9x9", "Gomoku 15x15", "Gomoku 15x15 (rule=renju)", "Hex 9x9",
        "Hex 11x11", "Hex 11x11 (swap=yes)", "mine.py:Hex",
    ]  # fmt: skip
