"""Heads that only help to learn: whose each point is at the end of a game, and the policy made softer."""

import json

import keras
import numpy as np
import pytest

import games
import model as model_module
from config import Config, UserError, with_overrides
from games.sizes import OUTSIDE
from initialise import Session
from main import train
from memory import ILLEGAL, Batch, Memory, learns_ownership
from model import Gen_Model, ownership_loss, soft_policy_loss
from network import warm_start
from network.choose_predictor import make_predictor
from network.net2net import enlarged
from storage.run_folders import with_network_of
from support.corridor import Corridor
from support.small_networks import make
from support.tiny_runs import QUIET, boards, tiny, trained_looking
from support.unsearched_games import random_record

pytestmark = pytest.mark.keras

tf = pytest.importorskip("tensorflow", reason="looks into TensorFlow's gradients")

HEADS = {"ownership_weight": 0.5, "soft_policy_weight": 2.0}
STONES = ["tictactoe", "connect4", "connect4(rows=9,columns=8,n=5)", "gomoku(size=8)", "gomoku(size=9,rule=renju)",
          "othello(size=6)", "othello(size=10)", "metasquares", "littlego", "hex(size=6)"]  # fmt: skip
"""Games in which what lies on a point at the end tells whose it is, and planes 0 and 1 show what lies there."""


def ends(game, count, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        state = game.start()
        while not state.isEndGame:
            state = state.takeAction(int(rng.choice(state.allowedActions)))[0]
        yield state


def final(game, record):
    state = game.start()
    for action in record.moves:
        state = state.takeAction(int(action))[0]
    return state


# ---- what games tell


@pytest.mark.parametrize("spec", STONES)
def test_the_owners_of_points_are_those_whose_stones_the_planes_show(spec):
    game = games.make(spec)
    for state in ends(game, 5):
        planes = state.planes().astype(int)
        assert state.owners.dtype == np.int8 and (state.owners != 0).any()
        assert (state.owners == (planes[..., 0] - planes[..., 1]) * state.playerTurn).all(), f"\n{state}"


@pytest.mark.parametrize("spec", ["go", "go(size=7,komi=0.5)", "go(size=9,ko=superko)", "othello(size=6)", "littlego"])
def test_the_owners_of_points_are_counted_as_the_score_counts(spec):
    game, alone = games.make(spec), 0
    for state in ends(game, 20):
        owners = state.owners * state.playerTurn
        white = game.komi or 0.0
        komi = np.array([0.0, white] if state.playerTurn == 1 else [white, 0.0])
        assert np.array(state.score) - komi == pytest.approx([(owners == 1).sum(), (owners == -1).sum()]), f"\n{state}"
        planes = state.planes()
        alone += int((state.owners[(planes[..., :2] == 0).all(axis=-1)] != 0).sum())
    assert (alone > 0) == spec.startswith("go"), "area belongs to who surrounds it in Go only"


def test_a_game_that_does_not_tell_has_no_owners_and_no_such_head():
    assert Corridor().start().owners is None and games.make("connect4").start().owners.any() == 0
    config = tiny(game="corridor", **HEADS)
    assert not learns_ownership(config, Corridor()) and learns_ownership(config, games.make("connect4"))
    assert not learns_ownership(tiny(), games.make("connect4"))
    assert make("corridor", **HEADS).model.output_names == ["value_head", "policy_head", "soft_policy_head"]


# ---- memory


@pytest.mark.parametrize("spec", ["connect4", "othello(size=6)", "go"])
def test_a_position_comes_with_the_owners_at_its_game_s_end_for_its_player_in_every_symmetry(spec):
    game, rng = games.make(spec), np.random.default_rng(2)
    memory = Memory(game, 1000, ownership=True)
    record = random_record(game, rng, share=0.6)
    positions, end = memory.positions(record), final(game, record).owners
    state, turns = game.start(), []
    for action, visits in zip(record.moves, record.visits, strict=True):
        turns += [state.playerTurn] * bool(visits.any())
        state = state.takeAction(int(action))[0]
    for form, (grid, _) in enumerate(zip(*game.views(), strict=True)):
        batch = memory.batch(positions, np.full(len(turns), form))
        assert batch.owners.dtype == np.int8 and len(set(turns)) == 2
        for owners, turn in zip(batch.owners, turns, strict=True):
            assert (owners.ravel() == end.ravel()[grid] * turn).all()


def test_the_ring_keeps_the_owners_of_each_position():
    game, rng = games.make("tictactoe"), np.random.default_rng(3)
    memory, records = Memory(game, 40, ownership=True), []
    for index in range(20):
        records.append(random_record(game, rng, index=index))
        memory.commit_stmemory(records[-1])
        memory.commit_ltmemory()
    batch = memory.sample(300, rng)
    seen = {final(game, r).planes().tobytes(): r for r in records}
    assert len(seen) > 10 and len(memory) == 40
    for planes, owners in zip(batch.planes.astype(int), batch.owners, strict=True):
        own, other = planes[..., 0] == 1, planes[..., 1] == 1
        assert (owners[own] == 1).all() and (owners[other] == -1).all(), "in this game nothing is ever taken away"
    assert (np.abs(batch.owners).sum(axis=(1, 2)) >= 5).all(), "the end, not the position itself"


def test_a_memory_without_owners_is_no_larger():
    game = games.make("connect4")
    plain, more = Memory(game, 10), Memory(game, 10, ownership=True)
    assert more.bytes_per_position - plain.bytes_per_position == 42
    plain.extend([random_record(game, np.random.default_rng(0))])
    assert plain.sample(4, np.random.default_rng(0)).owners is None


# ---- losses


def test_the_soft_loss_is_the_cross_entropy_with_the_fourth_root_over_the_legal_moves():
    target = np.array([[0.81, 0.16, 0.03, 0.0, ILLEGAL], [ILLEGAL, 1, ILLEGAL, 0, 0], [0, 0, 0, 0, 0]], np.float32)
    target[0, :4] *= 1.5  # as beside positions that teach no policy, such as the last
    logits = tf.Variable(np.array([[2, -1, 0.5, 1, 9], [0, 1, 2, -3, 6], [1, 2, 3, 4, 5]], np.float32))
    with tf.GradientTape() as tape:
        loss = soft_policy_loss(tf.constant(target), logits)
    slope = tf.convert_to_tensor(tape.gradient(loss, logits)).numpy()
    for row, given, got, grad in zip(target, logits.numpy().astype(float), loss.numpy(), slope, strict=True):
        legal = row != ILLEGAL
        soft = np.maximum(row[legal], 0) ** 0.25
        soft *= row[legal].sum() / max(soft.sum(), 1e-9)
        shares = np.exp(given[legal]) / np.exp(given[legal]).sum()
        assert got == pytest.approx(-(soft * np.log(shares)).sum(), abs=1e-5)
        assert grad[legal] == pytest.approx(soft.sum() * shares - soft, abs=1e-5)
        assert (grad[~legal] == 0).all()


def test_the_loss_of_owners_is_the_mean_cross_entropy_of_the_points():
    rng = np.random.default_rng(0)
    owners, logits = rng.integers(-1, 2, (3, 2, 4)).astype(np.int8), rng.normal(0, 2, (3, 2, 4, 3)).astype(np.float32)
    shares = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
    right = np.take_along_axis(shares, owners[..., None].astype(int) + 1, axis=-1)[..., 0]
    found = ownership_loss(tf.constant(owners), tf.constant(logits)).numpy()
    assert found == pytest.approx(-np.log(right).mean(axis=(1, 2)), abs=1e-5)
    owners[1, 0], owners[2] = OUTSIDE, OUTSIDE
    found = ownership_loss(tf.constant(owners), tf.constant(logits)).numpy()
    assert found == pytest.approx([-np.log(right[0]).mean(), -np.log(right[1, 1]).mean(), 0.0], abs=1e-5)


# ---- networks


def lesson(game, count=24):
    rng = np.random.default_rng(1)
    planes = np.unique(boards(game, 4 * count), axis=0)[:count]
    policy = rng.dirichlet(np.ones(game.action_size), count).astype(np.float32)
    policy[:, 0] = ILLEGAL
    policy[:, 1:] /= policy[:, 1:].sum(axis=1, keepdims=True)
    owners = rng.integers(-1, 2, (count, *game.grid_shape)).astype(np.int8)
    return Batch(planes, rng.uniform(-1, 1, count).astype(np.float32), policy, owners)


@pytest.mark.parametrize(
    "spec, pooling, precision",
    [("tictactoe", False, "bfloat16"), ("connect4(rows=4,columns=5)", True, "bfloat16"),
     ("go(size=3)", True, "float32")],
)
def test_extra_heads_are_learnt_with_the_weights_that_were_asked_for(spec, pooling, precision):
    model = make(spec, hidden_cnn_layers=("16x3",) * 3, global_pooling=pooling, precision=precision,
                 weight_decay=0.0, **HEADS)  # fmt: skip
    batch = lesson(model.game)
    first = model.fit(lambda step: batch, 1, rate=lambda step: 0.0)
    model.fit(lambda step: batch, 120, rate=lambda step: 0.01 if step < 100 else 0.001)
    last = model.fit(lambda step: batch, 1, rate=lambda step: 0.0)
    assert set(first) == {"loss", "value_loss", "policy_loss", "soft_policy_loss", "ownership_loss"}
    parts = last["value_loss"] + last["policy_loss"]
    wanted = 0.5 * parts + 2.0 * last["soft_policy_loss"] + 0.5 * last["ownership_loss"]
    assert last["loss"] == pytest.approx(wanted, rel=0.03)
    assert last["ownership_loss"] < 0.7 * first["ownership_loss"]
    model.predict(batch.planes[:1])  # which gives the network for inference the trained weights
    logits = np.asarray(model.plain(batch.planes)[3])
    assert ((logits.argmax(axis=-1) - 1) == batch.owners).mean() > 0.6


def test_all_back_ends_answer_value_and_policy_alone_as_keras_does():
    model = make("connect4", **HEADS)
    model.set_weights(trained_looking(model))
    planes = boards(model.game, 9)
    wanted = model.predict(planes)
    assert len(wanted) == 2 and np.abs(wanted[1]).max() > 0.01
    for backend in ("keras", "openvino"):
        predictor = make_predictor(model, backend=backend)
        for mine, theirs in zip(predictor(planes), wanted, strict=True):
            assert mine == pytest.approx(theirs, abs=1e-4), backend


def test_a_network_of_one_s_own_without_them_learns_as_before():
    model = Plain(tiny(**HEADS), games.make("tictactoe"))
    assert model.trained_heads == ["value_head", "policy_head"]
    assert set(model.fit(lambda step: lesson(model.game), 2)) == {"loss", "value_loss", "policy_loss"}


# ---- runs


def test_a_run_learns_with_extra_heads_stops_and_goes_on_the_same(tmp_path):
    config = tiny(iterations=2, score_every=0, eval_every=9, score_games=0, **HEADS)
    kinds = {"loss", "value_loss", "policy_loss", "soft_policy_loss", "ownership_loss"}
    ended = []
    for name, parts in (("one", (2,)), ("other", (1, 1))):
        with Session.start(config, root=tmp_path / name, console=QUIET) as session:
            folder = session.folder
        for iterations in parts:
            with Session.open(folder, console=QUIET) as session:
                train(session, iterations=iterations)
                losses = json.loads(session.store.versions()[-1].losses)
                ended.append(session.model.get_weights())
        assert kinds <= set(losses)
    assert all((a == b).all() for a, b in zip(ended[0], ended[2], strict=True))


def test_a_run_with_extra_heads_begins_with_a_network_that_had_none_and_answers_as_it(tmp_path):
    with Session.start(tiny(iterations=1), root=tmp_path, console=QUIET) as session:
        train(session)
        asked = boards(session.game, 10)
        before = session.model.predict(asked)
        old = json.loads((session.folder / "config.json").read_text())
        for name in HEADS:  # as written before there were any
            del old[name]
        (session.folder / "config.json").write_text(json.dumps(old))
    begin = {"INITIAL_RUN_NUMBER": 1, "INITIAL_MODEL_VERSION": 1}
    with Session.start(tiny(iterations=1, **HEADS), root=tmp_path, console=QUIET, **begin) as session:
        assert len(session.model.extra_heads) == 2
        for mine, theirs in zip(session.model.predict(asked), before, strict=True):
            assert mine == pytest.approx(theirs, abs=1e-5)
        train(session)
        assert np.abs(session.model.predict(asked)[1] - before[1]).max() > 1e-3
        now = session.model.predict(asked)
    begin["INITIAL_RUN_NUMBER"] = 2
    assert with_network_of(tiny(), session.folder) == tiny(**HEADS), "alike unless told"
    with Session.start(tiny(iterations=1), root=tmp_path, console=QUIET, **begin) as session:
        assert session.model.extra_heads == {}
        for mine, theirs in zip(session.model.predict(asked), now, strict=True):
            assert mine == pytest.approx(theirs, abs=1e-5)


class Plain(Gen_Model):
    """A network of one's own without extra heads; its first layer is nameless."""

    def _build(self, dtype):
        board = keras.Input(self.game.input_shape, dtype="uint8")
        x = keras.layers.Dense(8)(keras.layers.Flatten()(keras.layers.Rescaling(1.0)(board)))
        value = keras.layers.Dense(1, activation="tanh", name="value_head")(x)
        return keras.Model(board, [value, keras.layers.Dense(self.game.action_size, name="policy_head")(x)])


def test_a_network_of_one_s_own_begins_with_another_run_s_whatever_its_layers_are_called(tmp_path, monkeypatch):
    monkeypatch.setattr(model_module, "make_network", lambda config, game, typed=True: Plain(config, game))
    with Session.start(tiny(), root=tmp_path, console=QUIET) as session:
        theirs = session.model.get_weights()
    begin = {"INITIAL_RUN_NUMBER": 1, "INITIAL_MODEL_VERSION": 0}
    with Session.start(tiny(seed=7, **HEADS), root=tmp_path, console=QUIET, **begin) as session:
        assert all((a == b).all() for a, b in zip(session.model.get_weights(), theirs, strict=True))
    larger = type("Larger", (Plain,), {"_build": lambda self, dtype: _with_one_more_layer(self)})

    def larger_with_ownership(config, game, typed=True):
        return (larger if config.ownership_weight else Plain)(config, game)

    monkeypatch.setattr(model_module, "make_network", larger_with_ownership)
    with pytest.raises(UserError, match="run0001 has another network: no place for dense"):
        Session.start(tiny(**HEADS), root=tmp_path, console=QUIET, **begin)


class Flat(Gen_Model):
    """A network of your own that could not grow: its dense layer reads points and filters in one order."""

    def _build(self, dtype):
        board = keras.Input(self.game.input_shape, dtype="uint8")
        filters = int(self.config.hidden_cnn_layers[0].split("x")[0])
        x = keras.layers.Conv2D(filters, 3, padding="same", name="conv")(keras.layers.Rescaling(1.0)(board))
        x = keras.layers.Flatten()(x) if self.config.ownership_weight else keras.layers.GlobalAveragePooling2D()(x)
        value = keras.layers.Dense(1, activation="tanh", name="value_head")(x)
        return keras.Model(board, [value, keras.layers.Dense(self.game.action_size, name="policy_head")(x)])


@pytest.mark.parametrize("mixes", [True, False])
def test_a_network_of_one_s_own_grows_only_if_it_answers_as_before(mixes, tmp_path, monkeypatch):
    with Session.start(tiny(), root=tmp_path, console=QUIET) as session:
        folder, game = session.folder, session.game
    own = {"network": "own.py:Flat", "ownership_weight": float(mixes)}
    small, large = (Config(**own, hidden_cnn_layers=(f"{n}x3",) * 2) for n in (4, 6))
    other, model = Flat(small, game), Flat(large, game)
    monkeypatch.setattr(warm_start, "_network_of", lambda *_: (small, game))
    monkeypatch.setattr(warm_start, "read_weights", lambda *_: other.get_weights())
    before = model.get_weights()

    def take():
        return warm_start.taken_over(large, game, model, Flat, folder, 0, None)[0]

    if mixes:
        with pytest.raises(UserError, match="with more filters it would answer differently"):
            take()
    else:
        model.set_weights(take())
        planes = boards(game, 5)
        for mine, theirs in zip(model.predict(planes), other.predict(planes), strict=True):
            assert mine == pytest.approx(theirs, abs=1e-5)
        model.set_weights(before)
    assert all((a == b).all() for a, b in zip(model.get_weights(), before, strict=True))


def _with_one_more_layer(network):
    board = keras.Input(network.game.input_shape, dtype="uint8")
    x = keras.layers.Dense(8)(keras.layers.Dense(8)(keras.layers.Flatten()(keras.layers.Rescaling(1.0)(board))))
    value = keras.layers.Dense(1, activation="tanh", name="value_head")(x)
    return keras.Model(board, [value, keras.layers.Dense(network.game.action_size, name="policy_head")(x)])


def test_a_larger_network_keeps_the_extra_heads_of_the_smaller_one():
    small, large = (make(hidden_cnn_layers=(f"{n}x3",) * 3, **HEADS) for n in (8, 12))
    small.set_weights(trained_looking(small))
    large.set_weights(enlarged(small.named_weights(), large.named_weights()))
    planes = boards(small.game, 12)
    for mine, theirs in zip(large.model(planes), small.model(planes), strict=True):
        assert np.asarray(mine) == pytest.approx(np.asarray(theirs), abs=1e-4)


def test_extra_heads_cannot_change_while_a_run_lives(tmp_path):
    config = tiny(iterations=1, **HEADS)
    with Session.start(config, root=tmp_path, console=QUIET) as session:
        folder = session.folder
    for name in HEADS:
        with pytest.raises(UserError, match=name):
            Session.open(folder, config=with_overrides(config, **{name: 0}), console=QUIET)
