"""Muon beside Keras's own optimizers, which know it for matrices only."""

import keras
import numpy as np
import pytest

import games
from config import Config, with_overrides
from model import Residual_CNN
from network.optimizers import CLIP, make_optimizer, orthogonal
from support.tiny_runs import tiny

SHAPES = {"tower": (3, 3, 8, 8), "first": (3, 3, 4, 8), "head": (1, 1, 8, 16), "dense": (12, 6), "some_bias": (8,)}
STEPS, RATE, DECAY = 6, 0.01, 0.1


def gradients(shape, scale=0.1):
    rng = np.random.default_rng(list(shape))
    return [scale * rng.normal(size=shape).astype(np.float32) for _ in range(STEPS)]


def run(optimizer, shapes, slopes):
    """Apply the same gradients to weights that begin at a half."""
    weights = [keras.Variable(np.full(shape, 0.5, np.float32), name=name) for name, shape in shapes.items()]
    optimizer.build(weights)
    for step in range(STEPS):
        optimizer.apply([slope[step] for slope in slopes])
    return {name: keras.ops.convert_to_numpy(w) for name, w in zip(shapes, weights, strict=True)}


def muon():
    return make_optimizer(with_overrides(Config(), optimizer="muon", learning_rate=RATE, weight_decay=DECAY))


def test_outside_the_residual_tower_muon_is_adamw():
    slopes = [gradients(shape) for shape in SHAPES.values()]
    ours = run(muon(), SHAPES, slopes)
    adamw = make_optimizer(with_overrides(Config(), optimizer="adamw", learning_rate=RATE, weight_decay=DECAY))
    theirs = run(adamw, SHAPES, slopes)
    for name in SHAPES:
        assert np.allclose(ours[name], theirs[name], atol=1e-6) == (name != "tower"), name


@pytest.mark.parametrize("scale", [0.1, 100.0])
def test_in_the_tower_it_is_muon_of_the_kernel_as_a_matrix(scale):
    slopes = gradients(SHAPES["tower"], scale)
    ours = run(muon(), {"tower": SHAPES["tower"]}, [slopes])["tower"]
    keras_muon = keras.optimizers.Muon(RATE, weight_decay=DECAY, clipnorm=CLIP)
    theirs = run(keras_muon, {"matrix": (72, 8)}, [[slope.reshape(72, 8) for slope in slopes]])["matrix"]
    assert np.abs(ours - 0.5).max() > 0.01, "it moved"
    assert ours.reshape(72, 8) == pytest.approx(theirs, abs=1e-5)


@pytest.mark.parametrize("shape", [(72, 8), (8, 72), (8, 8)])
def test_a_step_keeps_the_singular_vectors_and_evens_the_values(shape):
    matrix = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    u, s, v = np.linalg.svd(matrix, full_matrices=False)
    within = u.T @ keras.ops.convert_to_numpy(orthogonal(matrix)) @ v.T
    assert s.max() / s.min() > 1.5
    assert np.diag(within) == pytest.approx(np.ones(8), abs=0.35)
    assert within - np.diag(np.diag(within)) == pytest.approx(np.zeros((8, 8)), abs=1e-4)
    assert not keras.ops.convert_to_numpy(orthogonal(np.zeros(shape, np.float32))).any(), "no gradient, no step"


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_kernels_of_every_layer_shrink_without_a_gradient_and_nothing_else_does(optimizer):
    changes = {"global_pooling": True, "ownership_weight": 1.0, "soft_policy_weight": 1.0, "normalisation": "batch"}
    config = tiny(optimizer=optimizer, learning_rate=0.5, weight_decay=DECAY, **changes)
    model = Residual_CNN(config, games.make("connect4")).model
    ours, variables = make_optimizer(config), model.trainable_variables
    for variable in variables:
        variable.assign(np.ones(variable.shape, np.float32))
    ours.build(variables)
    ours.apply([np.zeros(variable.shape, np.float32) for variable in variables])
    for variable in variables:
        shrinks = variable.path.endswith("/kernel")
        assert keras.ops.convert_to_numpy(variable) == pytest.approx(1 - 0.5 * DECAY * shrinks), variable.path
    assert any(v.path == "policy_bias/kernel" for v in variables)


@pytest.mark.parametrize("spec", ["connect4", "hex(size=5)"])
def test_neither_a_head_nor_the_first_convolution_is_taken_for_the_tower(spec):
    config = tiny(optimizer="muon", policy_filters=8, ownership_weight=1.0)
    game = games.make(spec)
    assert game.input_shape[-1] == 8 or spec == "connect4", "as many planes as filters"
    model = Residual_CNN(config, game).model
    ours = make_optimizer(config)
    ours.build(model.trainable_variables)
    tower = {v.path for v, second in zip(model.trainable_variables, ours._second, strict=True) if second is None}
    assert tower and all(path.startswith("block") for path in tower), tower
