"""Boards side by side in training: the same answers, the same gradients, each board alone."""

import os
import platform

import keras
import numpy as np
import pytest

import model as models
from memory import Batch
from network import keras_network
from network.architecture import Layer
from network.interleaved_boards import DilatedConv2D, Interleave, Separate, boards_side_by_side
from support.small_networks import make
from support.tiny_runs import boards, trained_looking
from system.machine import processor_flags

tf = pytest.importorskip("tensorflow", reason="boards are interleaved on TensorFlow")

flags = processor_flags()
wide = platform.machine() == "x86_64" and (not flags or "avx512bw" in flags)  # what oneDNN needs for bfloat16
onednn = wide and not tf.config.list_physical_devices("GPU")
MOST = 32 if onednn and os.environ.get("TF_ENABLE_ONEDNN_OPTS", "1") == "1" else 1


def test_so_many_boards_as_the_batch_and_the_kernels_allow():
    assert boards_side_by_side(256, 7, [3, 3]) == MOST and boards_side_by_side(100, 9, [3, 5]) == min(4, MOST)
    assert boards_side_by_side(33, 7, [3]) == 1 and boards_side_by_side(256, 7, [4, 3]) == 1
    assert boards_side_by_side(256, 15, [3, 3]) == 1


@pytest.mark.parametrize("kernel", [1, 3, 5])
@pytest.mark.parametrize("count", [2, 4])
def test_a_dilated_convolution_sees_each_board_alone(kernel, count):
    x = np.random.default_rng(0).normal(size=(8, 4, 5, 3)).astype(np.float32)
    plain = keras.layers.Conv2D(6, kernel, padding="same")
    expected = plain(x)
    wide = DilatedConv2D(6, kernel, padding="same", boards=count)
    interleaved = Interleave(count)(x)
    assert interleaved.shape == (8 // count, 4, 5 * count, 3)
    assert (np.asarray(interleaved)[0, :, 1::count] == x[8 // count]).all()
    assert (np.asarray(Separate(count)(interleaved)) == x).all()
    wide.build(interleaved.shape)
    wide.set_weights(plain.get_weights())
    assert np.asarray(Separate(count)(wide(interleaved))) == pytest.approx(np.asarray(expected), abs=1e-5)


def slopes(network, planes, value, policy):
    """Return the gradient of every weight."""
    loss = models.softmax_cross_entropy_with_logits

    @tf.function
    def run():
        found = network.model(planes, training=True)
        total = tf.reduce_mean(loss(policy, found[1])) + tf.reduce_mean((found[0] - value) ** 2)
        return tf.gradients(total, [v.value for v in network.model.trainable_variables])

    return [np.asarray(g, np.float32) for g in run()]


@pytest.mark.parametrize("changes", [{}, {"normalisation": "batch"}, {"global_pooling": True}])
def test_interleaved_training_has_the_gradients_of_plain_training(changes, monkeypatch):
    changes = {"hidden_cnn_layers": ("16x3", "16x3", "16x5"), "precision": "bfloat16", **changes}
    wide = make("connect4", **changes)
    kinds = {type(layer) for layer in wide.model.layers}
    assert (DilatedConv2D in kinds) == (MOST == 32)
    assert DilatedConv2D not in {type(layer) for layer in wide.plain.layers}, "who answers sees boards as they are"
    monkeypatch.setattr(keras_network, "boards_side_by_side", lambda *_: 1)
    plain = make("connect4", **changes)
    assert [name for name, _ in wide.named_weights()] == [name for name, _ in plain.named_weights()]
    weights = trained_looking(plain)
    for network in (wide, plain):
        network.set_weights(weights)
    rng, planes = np.random.default_rng(1), boards(plain.game, 64)
    policy = rng.dirichlet(np.ones(7), 64).astype(np.float32)
    value = rng.uniform(-1, 1, (64, 1)).astype(np.float32)
    mine, theirs = slopes(wide, planes, value, policy), slopes(plain, planes, value, policy)
    for a, b in zip(mine, theirs, strict=True):
        assert np.abs(a - b).max() < 0.05 * np.abs(b).max() + 1e-6, "bfloat16 has 8 bits"
    still = sum(np.abs(b).max() < 1e-5 for b in theirs)
    assert still == ("global_pooling" in changes), "there the policy's last bias moves all logits alike"


@pytest.mark.parametrize("count, normalisation", [(20, "batch"), (3, "fixed"), (32, "fixed")])
def test_a_batch_of_any_size_is_learnt_from_as_it_is(count, normalisation, monkeypatch):
    changes = {"hidden_cnn_layers": ("16x3", "16x3"), "precision": "bfloat16", "optimizer": "sgd", "reg_const": 0.0,
               "normalisation": normalisation}  # fmt: skip
    wide = make("connect4", **changes)
    monkeypatch.setattr(keras_network, "boards_side_by_side", lambda *_: 1)
    plain = make("connect4", **changes)
    weights = trained_looking(plain)
    planes, policy = boards(plain.game, count), np.eye(7, dtype=np.float32)[np.arange(count) % 7]
    losses = []
    for network in (wide, plain):
        network.set_weights(weights)
        value = np.linspace(-1, 1, count, dtype=np.float32)
        losses.append(network.fit(lambda step, v=value: Batch(planes, v, policy), 3, rate=lambda step: 0.05))
    assert wide.together == MOST
    assert losses[0] == pytest.approx(losses[1], rel=0.02)
    moved = [now - old for now, old in zip(plain.get_weights(), weights, strict=True)]
    for mine, theirs, change in zip(wide.get_weights(), plain.get_weights(), moved, strict=True):
        assert np.abs(mine - theirs).max() < 0.1 * np.abs(change).max() + 1e-6
    wide.set_weights(plain.get_weights())
    for mine, theirs in zip(wide.predict(planes), plain.predict(planes), strict=True):
        assert (mine == theirs).all()


class Mixing(models.Residual_CNN):
    """A tower with a layer that looks at the whole image."""

    def architecture(self):
        usual = super().architecture()
        mean = Layer("mean", "mean", ("conv_relu",), (8,))
        board = Layer("mean_board", "reshape", ("mean",), (1, 1, 8))
        first = next(i for i, layer in enumerate(usual.layers) if layer.name == "block1a")
        layers = [*usual.layers[:first], mean, board, *usual.layers[first:]]
        added = [each._replace(inputs=(*each.inputs, "mean_board")) if each.kind == "add" else each for each in layers]
        return usual._replace(layers=tuple(added))


def test_a_tower_of_ones_own_sees_boards_as_they_are():
    plain = make("connect4", precision="bfloat16")
    assert plain.together == MOST and Mixing(plain.config, plain.game).together == 1
