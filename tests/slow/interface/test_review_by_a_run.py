"""The command review takes the strongest player there is, a run's network among them."""

import games
from interface.commands.review import strongest
from support.game_samples import GAMES


def test_the_strongest_player_is_chosen_for_each_game(trained_place):
    assert strongest(GAMES["tictactoe"], 400) == "best", "the run of the test, for nothing ships there"
    assert strongest(games.make("metasquares"), 400) == "rollout:400"
