"""Small networks of any game."""

import games
from model import Residual_CNN
from support.corridor import Corridor
from support.tiny_runs import tiny


class Unlike(Residual_CNN):
    """A residual network with the same arrays and another activation in its value head."""

    def architecture(self):
        usual = super().architecture()
        other = [each._replace(kind="identity") if each.name == "value_dense_relu" else each for each in usual.layers]
        return usual._replace(layers=tuple(other))


def make(spec="tictactoe", **changes):
    game = Corridor() if spec == "corridor" else games.make(spec)
    return Residual_CNN(tiny(game=spec, **changes), game)
