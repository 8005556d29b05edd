"""Muon beside Keras's own optimizers, which know it for matrices only."""

import keras
import numpy as np
import pytest

from config import Config, with_overrides
from optimizers import CLIP, make_optimizer, orthogonal

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
