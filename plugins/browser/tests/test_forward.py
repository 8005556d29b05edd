"""The forward pass of the exported page against the definition of each layer, for every kind of residual network."""

from dataclasses import replace

import numpy as np
import pytest

import games
from compiled import call
from config import NetworkSettings, UserError
from network.architecture import residual_network
from network.numpy_network import evaluate as reference
from network.numpy_network import outputs
from network.ownership import HEAD, expected_owners
from network.predictor import random_positions
from plugins.browser import layers as layers_of_page
from plugins.browser.forward import bytes_of, evaluate, foresee, network_of, widen
from plugins.browser.layers import KINDS, LARGEST, plan

SMALL = NetworkSettings(hidden_cnn_layers=("12x3", "12x3", "12x3"), value_units=10, policy_filters=5, value_filters=3)
CASES = {
    "fixed": ("connect4", {}),
    "batch": ("connect4", {"normalisation": "batch"}),
    "other kernels": ("othello(size=6)", {"hidden_cnn_layers": ("10x5", "10x3", "10x1"), "normalisation": "batch"}),
    "even kernel": ("tictactoe", {"hidden_cnn_layers": ("9x2", "9x2")}),
    "pooled points and pass": ("go", {"global_pooling": True}),
    "pooled columns": ("connect4(rows=5,columns=6)", {"global_pooling": True}),
    "many sizes": ("gomoku(size=7)", {"many_sizes": True}),
    "many sizes, batch": ("go(size=7,komi=7)", {"many_sizes": True, "normalisation": "batch"}),
    "many sizes, columns": ("connect4", {"many_sizes": True}),
    "ownership": ("go", {"ownership_weight": 1.5, "soft_policy_weight": 1.0}),
}


def network(name):
    """Return a game, its layers and arrays whose kernels are exact in 20 bits: each number is 0 or as large as any."""
    spec, changes = CASES[name]
    game, rng = games.make(spec), np.random.default_rng(0)
    layers = residual_network(replace(SMALL, **changes), game)
    kinds = {layer.name: layer.kind for layer in layers.layers}
    arrays = []
    for owner, shape in layers.weights():
        if kinds[owner] == "normalise":
            arrays.append(rng.uniform(0.5, 1.5, shape))
        elif len(shape) > 1:
            arrays.append(rng.integers(-1, 2, shape) / np.sqrt(np.prod(shape[:-1])))
        else:
            arrays.append(rng.normal(0.0, 0.5, shape))
    return game, layers, [each.astype(np.float32) for each in arrays]


@pytest.fixture(params=[0, layers_of_page.WHOLE])
def whole(request, monkeypatch):
    """Set up to what size kernels are kept as they are: none, or all of these networks."""
    monkeypatch.setattr(layers_of_page, "WHOLE", request.param)


@pytest.mark.parametrize("name", CASES)
def test_value_and_logits_are_those_of_the_layers(whole, name):
    game, layers, arrays = network(name)
    made = network_of(plan(layers, arrays))
    call(widen, made)
    planes = random_positions(game, 20, seed=1)
    values, logits = reference(layers, arrays, planes)
    for each, value, expected in zip(planes, values, logits, strict=True):
        found = np.zeros(game.action_size, np.float32)
        assert call(evaluate, made, each.ravel(), found) == pytest.approx(value, abs=1e-5)
        assert np.abs(found - expected).max() < 1e-4


def test_the_owners_of_points_are_those_of_the_layers_and_cost_a_search_nothing(whole):
    game, layers, arrays = network("ownership")
    without, made = network_of(plan(layers, arrays)), network_of(plan(layers, arrays, ownership=True))
    call(widen, without)
    call(widen, made)
    assert len(without.steps) == len(made.steps) and len(without.owners) == 0 < len(made.owners)
    assert bytes_of(without) != bytes_of(made)
    planes = random_positions(game, 20, seed=1)
    wanted = expected_owners(outputs(layers, arrays, planes, (HEAD,))[0])
    for each, expected in zip(planes, wanted, strict=True):
        owned, (one, other) = np.zeros(25, np.float32), np.zeros((2, game.action_size), np.float32)
        assert call(evaluate, made, each.ravel(), one) == call(evaluate, without, each.ravel(), other)
        assert call(foresee, made, each.ravel(), owned) and not call(foresee, without, each.ravel(), owned.copy())
        assert (one == other).all() and np.abs(owned - expected.ravel()).max() < 1e-4 < np.abs(owned).max()


def test_a_weight_is_near_to_the_trained_one(monkeypatch):
    monkeypatch.setattr(layers_of_page, "WHOLE", 50)
    game, layers, _ = network("fixed")
    rng = np.random.default_rng(1)
    arrays = [rng.normal(0.0, 1.0, shape).astype(np.float32) for _, shape in layers.weights()]
    planned = plan(layers, arrays)
    made = network_of(planned)
    call(widen, made)
    names = [name for name, _ in layers.weights()]
    dense = arrays[names.index("value_dense")]
    step = next(step for step in planned.steps if KINDS[step[0]] == "dense" and step[5] == dense.shape[1])
    found = made.weights[step[7] : step[7] + dense.size].reshape(dense.shape)
    assert 0 < np.abs(found - dense).max() <= np.abs(dense).max() / LARGEST
    assert made.small.dtype == np.int16 and len(made.fine) == len(made.small) / 2


def test_weights_that_are_not_finite_are_refused():
    _, layers, arrays = network("fixed")
    arrays[1][0] = np.nan
    with pytest.raises(UserError, match="expected finite weights"):
        plan(layers, arrays)
