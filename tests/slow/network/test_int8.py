"""8-bit answers: near to those in floating point, or not used."""

import numpy as np
import pytest

import games
from initialise import Session
from network.choose_predictor import make_predictor, openvino_installed
from network.int8 import find_scales
from network.openvino_graph import core, openvino_graph
from network.stored_network import StoredNetwork
from players.by_name import make_player
from support.small_networks import make
from support.tiny_runs import QUIET, boards, tiny, trained_looking

pytestmark = pytest.mark.skipif(not openvino_installed(), reason="openvino is not made for every platform")
FLOAT = {"INFERENCE_PRECISION_HINT": "f32"}


@pytest.mark.parametrize("spec", ["connect4", "gomoku(size=8)", "othello"])
def test_a_player_that_ships_answers_nearly_the_same_in_8_bits(spec):
    game = games.make(spec)
    exact, rough = (make_player(name, game, sims=1) for name in ("shipped", "int8:shipped"))
    assert rough.name == exact.name.replace("shipped", "int8:shipped")
    planes = boards(game, 300, seed=1)
    (value, logits), (near, others) = exact.predict(planes), rough.predict(planes)
    assert 0 < np.abs(value - near).mean() < 0.03
    assert (logits.argmax(1) == others.argmax(1)).mean() > 0.95


def test_the_first_convolution_the_last_block_and_the_heads_stay_in_floating_point():
    network = make("connect4", hidden_cnn_layers=("16x3",) * 4)
    network.set_weights(trained_looking(network))
    stored = StoredNetwork(network.config, network.game)
    scales = find_scales(stored.layers, network.get_weights(), network.game, FLOAT)
    assert list(scales) in ([], ["block1a", "block1b", "block2a", "block2b"])
    graph = openvino_graph(stored.layers, network.get_weights(), 8, scales=dict.fromkeys(["block1a", "block2b"], 4.0))
    assert sum(op.get_type_name() == "FakeQuantize" for op in graph.get_ops()) == 4


def test_a_network_that_8_bits_would_change_stays_in_floating_point(monkeypatch):
    monkeypatch.setattr("network.int8.VALUE_ERROR", 0.0)
    network = make("connect4", hidden_cnn_layers=("16x3",) * 3)
    network.set_weights(trained_looking(network))
    planes = boards(network.game, 40)
    rough = make_predictor(network, backend="openvino", in_8_bits=True)
    assert rough.scales == {} and "int8" not in rough.name
    hint = {"INFERENCE_PRECISION_HINT": rough._options["INFERENCE_PRECISION_HINT"]}
    graph = openvino_graph(rough._layers, network.get_weights(), 64)
    expected = core().compile_model(graph, "CPU", hint)([np.concatenate([planes, planes[:24]])])
    np.testing.assert_allclose(rough(planes)[0], expected[0][:40, 0], atol=0.02)


@pytest.mark.parametrize("why", ["too few blocks", "its answers would change"])
def test_a_player_that_is_not_in_8_bits_is_not_called_so_and_a_line_says_it(place, monkeypatch, caplog, why):
    blocks = 2 if why == "too few blocks" else 4
    monkeypatch.setattr("network.int8.VALUE_ERROR", -1.0)
    with Session.start(tiny(hidden_cnn_layers=("8x3",) * blocks), console=QUIET) as session:
        assert session.folder.name == "run0001"
    player = make_player("int8:version0000", games.make("tictactoe"), sims=1)
    assert player.name == "run0001:version0000" and player.predictor.name == "openvino float32"
    said = [record.getMessage() for record in caplog.records if record.name == "alphazero.players"]
    assert said == ["int8:run0001:version0000 plays in float32: 8 bits do not suit its network"]


def test_8_bit_answers_depend_on_the_weights_alone():
    network = make("connect4", hidden_cnn_layers=("16x3",) * 4)
    stored = StoredNetwork(network.config, network.game)
    planes, found = boards(network.game, 40), []
    for seed in (1, 2, 1):
        stored.set_weights(trained_looking(network, seed))
        found.append([np.array(a) for a in make_predictor(stored, backend="openvino", in_8_bits=True)(planes)])
    assert np.array_equal(found[0][0], found[2][0]) and np.array_equal(found[0][1], found[2][1])
    assert not np.array_equal(found[0][0], found[1][0])
