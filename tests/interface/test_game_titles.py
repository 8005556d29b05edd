"""What games are called on screen."""

import inspect

import pytest

import games
from interface.game_titles import SIZES, TITLES, title_of


@pytest.mark.parametrize("name", TITLES)
def test_a_title_says_the_size_of_a_board_that_has_several(name):
    game = games.make(name)
    assert (name in SIZES) == ("size" in inspect.signature(type(game)).parameters)
    assert name not in SIZES or title_of(name).endswith(f" {SIZES[name]}x{SIZES[name]}")
    assert name not in SIZES or game.grid_shape == (SIZES[name], SIZES[name])
