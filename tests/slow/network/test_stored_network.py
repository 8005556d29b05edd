"""A stored network evaluates without Keras what Keras evaluates, and a network of one's own is not taken for it."""

import functools
import itertools
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import games
import model as models
from config import UserError
from initialise import Session
from network.architecture import residual_network
from network.choose_predictor import gpus, make_predictor, openvino_installed
from network.numpy_network import evaluate
from network.predictor import TOLERANCE
from network.stored_network import BEGAN, GRAPH, KEY, StoredNetwork, layers_of, open_network
from players.by_name import make_player
from storage.atomic_files import DamagedData
from storage.run_store import Store
from support.small_networks import Unlike, make
from support.systems import needs_tensorflow
from support.tiny_runs import QUIET, boards, tiny, trained_looking

pytestmark = pytest.mark.keras

HERE = Path(__file__).parents[3]
needs_openvino = pytest.mark.skipif(not openvino_installed(), reason="openvino is not made for every platform")
SPECS = ["tictactoe", "connect4", "go(size=5)", "othello(size=4)", "gomoku(size=6)", "corridor"]
OPTIONS = [*itertools.product(("batch", "fixed"), (False, True))]


class Leaky(Unlike):
    """With the signature of `make_network`."""

    def __init__(self, config, game, *, typed=True):
        super().__init__(config, game)


@functools.cache
def made(spec, normalisation, pooling):
    """Return a network with layers of several kinds, whose weights a test may set."""
    layers = ("8x3", "8x4", "8x5")
    return make(spec, normalisation=normalisation, global_pooling=pooling, hidden_cnn_layers=layers)


def same_arrays(network):
    found = residual_network(network.config, network.game).weights()
    return found == [(name.split("/")[0], w.shape) for name, w in network.named_weights()]


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("normalisation, pooling", OPTIONS)
def test_the_layers_have_the_arrays_of_keras_in_its_order(spec, normalisation, pooling):
    assert same_arrays(made(spec, normalisation, pooling))
    options = {"normalisation": normalisation, "global_pooling": pooling, "hidden_cnn_layers": ("8x3", "8x5")}
    heads = {"soft_policy_weight": 1.0, "ownership_weight": 1.5}
    assert same_arrays(make(spec, **options, **heads))
    if spec == "go(size=5)":  # each head alone
        assert all(same_arrays(make(spec, **options, **{name: heads[name]})) for name in heads)


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("normalisation, pooling", OPTIONS)
def test_numpy_and_openvino_evaluate_the_layers_as_keras_does(spec, normalisation, pooling):
    network = made(spec, normalisation, pooling)
    network.set_weights([w / 4 if w.ndim == 2 else w for w in trained_looking(network)])  # no value of 1.0
    planes = boards(network.game, 40)
    expected = network.predict(planes)
    assert expected[0].std() > 0.003 and expected[1].std() > 0.1, "the evaluations differ from board to board"
    stored = StoredNetwork(network.config, network.game)
    stored.set_weights(network.get_weights())
    found = [evaluate(stored.layers, stored.get_weights(), planes)]
    if openvino_installed():
        found.append(make_predictor(stored, backend="openvino")(planes))
    for value, logits in found:
        assert np.abs(value - expected[0]).max() <= TOLERANCE["float32"][0]
        assert np.abs(logits - expected[1]).max() <= TOLERANCE["float32"][1]


def test_the_network_of_every_player_that_ships_is_known_without_keras():
    given = [
        "connect4", "go", "go-komi-24-5", "go-komi-7-size-many", "gomoku", "gomoku-rule-renju-size-many",
        "gomoku-size-many", "hex-size-many", "hex-size-many-swap-yes",
    ]  # fmt: skip
    for folder in sorted((HERE / "run_archive").glob("*/run0001")):
        store = Store(folder / "run.db", read_only=True)
        assert json.loads(store.get(KEY)) == {"layers": True}, folder
        assert store.get(BEGAN) == ("given" if folder.parent.name in given else "random"), folder
        store.close()


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("normalisation", ["batch", "fixed"])
def test_another_activation_makes_another_network(precision, normalisation):
    config = tiny(game="connect4", precision=precision, normalisation=normalisation)
    game = games.make("connect4")
    assert layers_of(models.Residual_CNN(config, game)) is not None
    assert layers_of(Unlike(config, game)) is None


def test_a_network_with_other_arrays_is_another_network():
    network = make("tictactoe")
    network.config = replace(network.config, value_units=16)
    assert layers_of(network) is None


# ---- in a run


def leaky(config, game, *, typed=True):
    """Do what `make_network` does for a run of this network."""
    return Leaky(config, game)


@pytest.fixture
def own(place, monkeypatch):
    """Return (folder of a run whose network is not the residual one, its evaluations of eight boards)."""
    monkeypatch.setattr(models, "make_network", leaky)
    with Session.start(tiny(), console=QUIET) as session:
        expected = session.model.predict(boards(session.game, 8))
    monkeypatch.setattr(models, "make_network", lambda *_, **__: pytest.fail("Keras is not needed"))
    return session.folder, expected


@needs_openvino
@needs_tensorflow
def test_a_network_of_ones_own_is_played_from_its_graph(own):
    folder, expected = own
    agent = make_player("current", games.make("tictactoe"))
    assert isinstance(agent.model, StoredNetwork) and agent.model.layers is None
    for found, right in zip(agent.predict(boards(agent.game, 8)), expected, strict=True):
        np.testing.assert_allclose(found, right, atol=1e-3)
    (folder / GRAPH).write_bytes((folder / GRAPH).read_bytes()[:-1])
    with pytest.raises(DamagedData, match="expected the file that the run wrote"):
        make_player("current", games.make("tictactoe"))
    (folder / GRAPH).unlink()
    with pytest.raises(UserError, match="training makes it again"):
        make_player("current", games.make("tictactoe"))


@needs_openvino
@needs_tensorflow
def test_a_lost_graph_is_made_again_when_the_run_resumes(own, monkeypatch):
    folder, _ = own
    before = (folder / GRAPH).read_bytes()
    (folder / GRAPH).write_bytes(b"other")
    monkeypatch.setattr(models, "make_network", leaky)
    with Session.open(folder, console=QUIET) as session:
        assert session.model is not None
    store = Store(folder / "run.db", read_only=True)
    assert open_network(folder, store, tiny(), games.make("tictactoe"), "openvino").shapes
    store.close()
    assert (folder / GRAPH).read_bytes()[8:13] == before[8:13] == b"<?xml"


def test_a_run_of_before_is_asked_of_keras_until_it_is_opened_for_work(place):
    with Session.start(tiny(), console=QUIET) as session, session.store.transaction("test"):
        session.store.put(KEY, "{}")
    assert isinstance(make_player("current", games.make("tictactoe")).model, models.Gen_Model)
    with Session.open(session.folder, console=QUIET) as session:
        assert session.model is not None
    assert isinstance(make_player("current", games.make("tictactoe")).model, StoredNetwork)


def test_no_gpu_is_looked_for_where_there_is_no_driver_of_one(tmp_path):
    """And Keras is not loaded for it."""
    code = "import sys; from network.choose_predictor import gpus; print(gpus(), 'keras' in sys.modules)"
    if any(Path("/dev").glob("nvidia[0-9]*")):
        pytest.skip("there is a GPU")
    found = subprocess.run([sys.executable, "-c", code], cwd=HERE, capture_output=True, text=True, timeout=900)
    assert found.stdout == "[] False\n", found.stderr
    assert gpus() == []
