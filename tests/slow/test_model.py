"""The network: its loss, its shapes, its training, what can be looked at."""

import threading

import keras
import numpy as np
import pytest
from matplotlib.figure import Figure

from config import UserError
from memory import ILLEGAL, Batch
from model import softmax_cross_entropy_with_logits
from support.small_networks import make
from support.tiny_runs import boards, trained_looking

tf = pytest.importorskip("tensorflow", reason="looks into TensorFlow's functions")

# ---- the loss


def log_softmax(logits):
    top = logits.max()
    return logits - top - np.log(np.exp(logits - top).sum())


TARGETS = np.array(
    [[0, 1, 0, ILLEGAL, ILLEGAL], [0.5, 0.25, 0.25, 0, ILLEGAL], [ILLEGAL, ILLEGAL, ILLEGAL, ILLEGAL, 1],
     [0.2, 0.2, 0.2, 0.2, 0.2]], np.float32)  # fmt: skip
LOGITS = np.array([[2, -1, 0.5, 9, 1], [0, 1, 2, -3, 60], [5, 5, 5, 5, -5], [1, 1, 1, 1, 1]], np.float32)


def gradient(targets, logits):
    variable = tf.Variable(logits)
    with tf.GradientTape() as tape:
        loss = softmax_cross_entropy_with_logits(tf.constant(targets), variable)
    return loss.numpy(), tf.convert_to_tensor(tape.gradient(loss, variable)).numpy()


def test_the_loss_is_the_cross_entropy_over_the_legal_moves():
    loss, _ = gradient(TARGETS, LOGITS)
    expected = [
        -(target[target >= 0] * log_softmax(logits[target >= 0].astype(np.float64))).sum()
        for target, logits in zip(TARGETS, LOGITS, strict=True)
    ]
    assert loss == pytest.approx(expected, abs=1e-5)


def test_unvisited_legal_moves_are_pushed_down_and_illegal_ones_left_exactly_alone():
    _, slope = gradient(TARGETS, LOGITS)
    assert (slope[TARGETS == ILLEGAL] == 0).all()
    assert (slope[0, [0, 2]] > 0).all() and slope[0, 1] < 0 and slope[1, 3] > 0
    for row, target, logits in zip(slope, TARGETS, LOGITS, strict=True):
        legal = target >= 0
        expected = np.exp(log_softmax(logits[legal].astype(np.float64))) - target[legal]
        assert row[legal] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("illegal", [1e30, -1e30, 3e38])
def test_the_logit_of_an_illegal_move_changes_neither_loss_nor_gradient(illegal):
    logits = np.where(TARGETS == ILLEGAL, np.float32(illegal), LOGITS)
    for found, expected in zip(gradient(TARGETS, logits), gradient(TARGETS, LOGITS), strict=True):
        assert (found == expected).all()


# ---- shapes


@pytest.mark.parametrize("spec", ["connect4", "tictactoe", "corridor"])
@pytest.mark.parametrize("pooling", [False, True])
def test_every_head_has_a_value_and_a_logit_for_each_action(spec, pooling):
    for normalisation, optimizer in (("batch", "sgd"), ("fixed", "adamw")):
        model = make(spec, global_pooling=pooling, normalisation=normalisation, optimizer=optimizer)
        model.set_weights(trained_looking(model))
        planes = boards(model.game, 5)
        value, logits = model.predict(planes)
        assert value.shape == (5,) and logits.shape == (5, model.game.action_size)
        assert (np.abs(value) <= 1).all() and np.isfinite(logits).all()
        assert len(np.unique(logits)) > model.game.action_size, "the answers depend on the board"
        kinds = {type(layer) for layer in model.model.layers}
        assert (keras.layers.BatchNormalization in kinds) == (normalisation == "batch")
        assert (keras.layers.GlobalMaxPooling2D in kinds) == pooling
        assert isinstance(model.model.optimizer, keras.optimizers.SGD) == (optimizer == "sgd")


@pytest.mark.parametrize("pooling", [False, True])
def test_only_with_global_pooling_no_weight_depends_on_the_size_of_the_board(pooling):
    small, large = (make(spec, global_pooling=pooling) for spec in ("connect4(rows=5,columns=6)", "connect4"))
    shapes = [[w.shape for w in model.get_weights()] for model in (small, large)]
    assert (shapes[0] == shapes[1]) == pooling
    if pooling:
        large.set_weights(trained_looking(small))
        assert large.predict(boards(large.game, 3))[1].shape == (3, 7)


def test_layers_have_the_filters_and_kernels_of_the_settings():
    model = make(hidden_cnn_layers=("8x3", "8x5", "8x1"))
    found = {layer.name: layer.get_weights()[0].shape for layer in model.model.layers if layer.name in
             ("conv", "block1a", "block1b", "block2a", "block2b", "value_conv", "policy_conv")}  # fmt: skip
    assert found == {
        "conv": (3, 3, 3, 8), "block1a": (5, 5, 8, 8), "block1b": (5, 5, 8, 8), "block2a": (1, 1, 8, 8),
        "block2b": (1, 1, 8, 8), "value_conv": (1, 1, 8, 4), "policy_conv": (1, 1, 8, 8),
    }  # fmt: skip


def test_a_residual_block_without_normalisation_starts_as_the_identity():
    model = make()
    found = [model.model.get_layer(name).output for name in ("conv_relu", "block1_relu")]
    before, after = (np.asarray(a) for a in keras.Model(model.model.inputs[0], found)(boards(model.game, 4)))
    assert np.array_equal(before, after) and before.any()


def test_the_l2_penalty_is_that_of_the_kernels_with_sgd_and_none_with_adamw():
    model = make(optimizer="sgd", reg_const=0.01, normalisation="batch")
    model.set_weights(trained_looking(model))
    kernels = [v for v in model.model.weights if v.path.endswith("kernel")]
    squares = sum(float((np.asarray(v) ** 2).sum()) for v in kernels)
    assert float(sum(model.model.losses)) == pytest.approx(0.01 * squares, rel=1e-5)
    assert len(model.model.losses) == len(kernels) == 8
    assert make(optimizer="adamw", reg_const=0.01, weight_decay=0.01).model.losses == []


def test_the_same_seed_gives_the_same_first_weights_and_another_seed_others():
    first, same, other = make(seed=3), make(seed=3), make(seed=4)
    assert all((a == b).all() for a, b in zip(first.get_weights(), same.get_weights(), strict=True))
    assert any((a != b).any() for a, b in zip(first.get_weights(), other.get_weights(), strict=True))


# ---- training


def lesson(game, count=24, seed=0):
    """Return positions with one best move each and a result: a batch to learn by heart."""
    rng = np.random.default_rng(seed)
    planes = np.unique(boards(game, 4 * count, seed), axis=0)[:count]
    policy = np.full((count, game.action_size), ILLEGAL, np.float32)
    for row, board in zip(policy, planes, strict=True):
        empty = np.flatnonzero(board[..., :2].reshape(-1, 2).sum(axis=1) == 0)
        row[empty] = 0
        row[rng.choice(empty)] = 1
    return Batch(planes, rng.choice([-1.0, 0.0, 1.0], count).astype(np.float32), policy)


@pytest.mark.parametrize(
    "changes",
    [{}, {"normalisation": "batch", "optimizer": "sgd"}, {"global_pooling": True}, {"precision": "bfloat16"},
     {"optimizer": "muon"}],
    ids=lambda changes: "-".join(map(str, changes.values())) or "standard",
)
def test_a_batch_can_be_learnt_by_heart(changes):
    model = make(hidden_cnn_layers=("16x3",) * 2, reg_const=0.0, weight_decay=0.0, value_units=16, **changes)
    batch = lesson(model.game)
    rate = 0.05 if model.config.optimizer == "sgd" else 0.01
    first = model.fit(lambda step: batch, 1, rate=lambda step: 0.0)
    model.fit(lambda step: batch, 250, rate=lambda step: rate if step < 200 else rate / 10)
    value, logits = model.predict(batch.planes)
    chosen = np.where(batch.policy == ILLEGAL, -np.inf, logits).argmax(axis=1)
    assert (chosen == batch.policy.argmax(axis=1)).mean() > 0.95
    assert np.abs(value - batch.value).mean() < 0.15
    last = model.fit(lambda step: batch, 1, rate=lambda step: 0.0)
    assert set(first) == {"loss", "value_loss", "policy_loss"}
    assert last["loss"] < 0.2 * first["loss"]
    assert last["loss"] == pytest.approx(0.5 * (last["value_loss"] + last["policy_loss"]), rel=0.05)


def test_the_rate_of_each_step_and_the_steps_done_are_those_asked_for():
    model, seen, done = make(optimizer="sgd", momentum=0.0, reg_const=0.0), [], []
    batch = lesson(model.game)
    before = model.get_weights()
    model.fit(lambda step: seen.append(step) or batch, 3, rate=lambda step: 0.0, report=done.append)
    assert all((a == b).all() for a, b in zip(before, model.get_weights(), strict=True))
    assert seen == [0, 1, 2] and done == [1, 2, 3]
    model.fit(lambda step: batch, 1, rate=lambda step: 0.1)
    assert any((a != b).any() for a, b in zip(before, model.get_weights(), strict=True))


def test_batches_are_made_in_order_while_the_one_before_is_learnt_from():
    model, made = make(), []
    batch, main = lesson(model.game), threading.current_thread()

    def draw(step):
        made.append((step, threading.current_thread() is main))
        return batch

    seen = []
    model.fit(draw, 5, rate=lambda step: 0.0, report=lambda done: seen.append((done, len(made))))
    assert made == [(step, False) for step in range(5)] and [done for done, _ in seen] == [1, 2, 3, 4, 5]
    assert all(count <= done + 2 for done, count in seen), "two batches wait at most, however large"


def test_an_error_in_a_batch_is_raised_as_it_is():
    model, batch = make(), lesson(make().game)

    def draw(step):
        if step == 2:
            raise LookupError("no such position")
        return batch

    with pytest.raises(LookupError, match="no such position"):
        model.fit(draw, 5)


@pytest.mark.parametrize("optimizer", ["sgd", "adamw", "muon"])
def test_weights_and_optimizer_given_to_another_model_make_it_go_on_bit_for_bit(optimizer):
    model, twin = (make(optimizer=optimizer, seed=seed, normalisation="batch") for seed in (0, 9))
    batch = lesson(model.game)
    model.fit(lambda step: batch, 5, rate=lambda step: 0.01)
    twin.set_weights(model.get_weights())
    twin.set_optimizer(model.get_optimizer())
    for each in (model, twin):
        each.fit(lambda step: batch, 5, rate=lambda step: 0.01)
    pairs = zip(
        model.get_weights() + model.get_optimizer(), twin.get_weights() + twin.get_optimizer(), strict=True
    )
    assert all(np.array_equal(a, b) for a, b in pairs)


@pytest.mark.parametrize("fault", [np.nan, np.inf])
def test_training_that_gives_no_numbers_is_refused(fault):
    model = make()
    batch = lesson(model.game)
    batch.value[0] = fault
    with pytest.raises(ArithmeticError, match="not finite"):
        model.fit(lambda step: batch, 1, rate=lambda step: 0.01)


def test_weights_of_another_network_are_refused():
    model = make()
    with pytest.raises(UserError, match="expected .* weights of this network"):
        model.set_weights(make(policy_filters=5).get_weights())
    with pytest.raises(UserError, match="got 0"):
        model.set_weights([])
    with pytest.raises(UserError, match="optimizer"):
        model.set_optimizer(make(optimizer="sgd").get_optimizer())


# ---- to look at


def test_the_kernels_can_be_looked_at(network):
    figure = network.viewLayers(columns=4)
    assert isinstance(figure, Figure)
    convolutions = [layer for layer in network.model.layers if isinstance(layer, keras.layers.Conv2D)]
    assert len(figure.axes) == 4 * len(convolutions)
    assert [axis.get_title(loc="left") for axis in figure.axes[::4]] == [layer.name for layer in convolutions]
    image = figure.axes[1].images[0].get_array()
    assert np.allclose(image, convolutions[0].get_weights()[0][:, :, 0, 1])


def test_weight_averages_are_told_for_each_layer_that_has_weights(network):
    lines = []
    network.printWeightAverages(lines.append)
    named = [layer.name for layer in network.model.layers if layer.get_weights()]
    assert [line.split()[0] for line in lines] == named and len(named) > 5
    kernel = np.abs(network.model.get_layer("conv").get_weights()[0])
    assert f"{kernel.mean():.6f} (max {kernel.max():.4f})" in lines[0]


@pytest.mark.parametrize("notebook", [False, True])
def test_drawing_without_graphviz_says_what_to_install(network, notebook, monkeypatch):
    """In a notebook Keras prints a message and goes on as if it had drawn."""
    from keras.src.utils import model_visualization

    monkeypatch.setattr(model_visualization, "check_pydot", lambda: False)
    if notebook:
        monkeypatch.setitem(__import__("sys").modules, "IPython.core.magics.namespace", object())
    with pytest.raises(UserError, match="graphviz"):
        network.drawing()
