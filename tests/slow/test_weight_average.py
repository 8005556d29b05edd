"""The average of the weights over the steps of training."""

import functools

import numpy as np
import pytest

import games
from memory import Batch
from model import Residual_CNN
from support.tiny_runs import tiny

pytestmark = pytest.mark.keras


def batches(game, step):
    rng = np.random.default_rng(step)
    planes = rng.integers(0, 2, (16, *game.input_shape), dtype=np.uint8)
    policy = np.full((16, game.action_size), 1 / game.action_size, np.float32)
    return Batch(planes, rng.choice([-1.0, 1.0], 16).astype(np.float32), policy)


def test_the_average_is_that_of_the_weights_after_each_step_and_training_goes_on_from_the_last():
    game = games.make("tictactoe")
    sample = functools.partial(batches, game)
    plain = Residual_CNN(tiny(precision="float32"), game)
    start, states = plain.get_weights(), []
    for step in range(6):
        plain.fit(lambda _, step=step: sample(step), 1, rate=lambda _: 0.01)
        states.append(plain.get_weights())
    expected = start
    for weights, decay in zip(states, (2 / 11, 3 / 12, 4 / 13, 0.3, 0.3, 0.3), strict=True):  # it grows up to its own
        expected = [decay * mean + (1 - decay) * now for mean, now in zip(expected, weights, strict=True)]
    model = Residual_CNN(tiny(precision="float32", weight_average=0.3), game)
    model.set_weights(start)
    model.fit(sample, 4, rate=lambda _: 0.01)
    state, weights = model.get_optimizer(), model.get_weights()
    again = Residual_CNN(tiny(precision="float32", weight_average=0.3), game)  # as when a run is gone on with
    again.set_weights(weights)
    again.set_optimizer(state)
    for each in (model, again):
        each.fit(lambda step: sample(4 + step), 2, rate=lambda _: 0.01)
        for got, wanted in zip(each.get_weights(), expected, strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)
        assert any(np.abs(a - b).max() > 1e-4 for a, b in zip(each.get_weights(), states[-1], strict=True))
