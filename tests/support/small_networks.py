"""Small networks of any game."""

import games
from model import Residual_CNN
from support.corridor import Corridor
from support.tiny_runs import tiny


def make(spec="tictactoe", **changes):
    game = Corridor() if spec == "corridor" else games.make(spec)
    return Residual_CNN(tiny(game=spec, **changes), game)
