"""Small networks of any game."""

import games
from corridor import Corridor
from model import Residual_CNN
from tiny import tiny


def make(spec="tictactoe", **changes):
    game = Corridor() if spec == "corridor" else games.make(spec)
    return Residual_CNN(tiny(game=spec, **changes), game)
