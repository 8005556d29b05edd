"""8-bit answers: near to those in floating point, or not used."""

import numpy as np
import pytest

import games
from config import UserError
from initialise import Session
from main import train
from network.choose_predictor import make_predictor, openvino_installed
from network.int8 import GAMES, MOVES, Answers, _answers, _changes, find_scales
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


def test_the_first_convolution_and_the_heads_stay_in_floating_point():
    network = make("connect4", hidden_cnn_layers=("16x3",) * 3)
    network.set_weights(trained_looking(network))
    stored = StoredNetwork(network.config, network.game)
    scales = find_scales(stored.layers, network.get_weights(), network.game, FLOAT)
    assert list(scales) in ([], ["block1a", "block1b", "block2a", "block2b"])
    graph = openvino_graph(stored.layers, network.get_weights(), 8, scales=dict.fromkeys(["block1a", "block2b"], 4.0))
    assert sum(op.get_type_name() == "FakeQuantize" for op in graph.get_ops()) == 4


def test_what_is_compared_is_the_value_the_best_move_and_the_divergence_of_policies():
    legal = np.array([[True, True, False], [True, True, True]])
    p = np.array([[0.75, 0.25, 0.0], [0.5, 0.3, 0.2]])
    exact = Answers(np.zeros(0), legal, np.array([[0.5], [-0.5]]), p, [])
    logits = np.log(np.array([[0.25, 0.75, 9.0], [0.5, 0.3, 0.2]]))  # an illegal move counts for nothing
    error, same, divergence = _changes(exact, np.array([[0.7], [-0.5]]), logits)
    assert (error, same) == (pytest.approx(0.1), 0.5)
    assert divergence == pytest.approx((0.75 * np.log(3) - 0.25 * np.log(3)) / 2)


def test_scales_come_from_legal_moves_of_the_networks_own_games():
    game = games.make("connect4(rows=3,columns=3,n=3)")
    seen = []

    def network(planes):
        seen.append(planes[0])
        logits = np.tile([5.0, 0.0, 0.0], (GAMES, 1))  # plays the first column while that is open
        return {0: np.zeros((GAMES, 1)), 1: logits, 2: np.full((GAMES, 1), float(len(seen)))}

    rounds = list(_answers(game, lambda found: network(found)))
    assert [r.largest for r in rounds] == [[i + 1.0] for i in range(MOVES)]
    for answers in rounds:
        assert answers.planes.shape == (GAMES, *game.input_shape)
        full = answers.planes[:, 0, :, :2].sum(-1) > 0
        assert np.array_equal(answers.legal, ~full) and np.allclose(answers.policies.sum(1), 1)
        assert (answers.policies[full] == 0).all()
    first = (rounds[1].planes[:, :, 0, :2].sum((1, 2)) >= rounds[0].planes[:, :, 0, :2].sum((1, 2))).mean()
    assert first > 0.6  # a game that ended begins again


@pytest.mark.parametrize("workers", [0, 1])
def test_a_run_with_precision_int8_plays_its_games_in_8_bits_and_nothing_else(place, monkeypatch, workers):
    monkeypatch.setattr("network.int8.SAME_MOVE", 0.0)  # whatever eight bits do to a network that knows nothing
    settings = tiny(hidden_cnn_layers=("8x3",) * 3, precision="int8", iterations=1, workers=workers)
    with Session.start(settings, console=QUIET) as session:
        train(session)
        used = {role: session.predictor(role, 1).name for role in ("selfplay", "current", "best")}
        rest = session.model.precision
    assert used == {"selfplay": "openvino int8", "current": f"openvino {rest}", "best": f"openvino {rest}"}


def test_a_run_that_cannot_play_in_8_bits_leaves_nothing_and_stays_as_it_was(place):
    settings = tiny(precision="int8", backend="keras")
    with pytest.raises(UserError, match="use --precision auto"):
        Session.start(settings, console=QUIET)
    assert not any(place.rglob("config.json"))
    with Session.start(tiny(), console=QUIET) as session:
        folder, before = session.folder, (session.folder / "config.json").read_bytes()
    with pytest.raises(UserError, match="use --precision auto"):
        Session.open(folder, settings, console=QUIET)
    assert (folder / "config.json").read_bytes() == before
    Session.open(folder, tiny(), console=QUIET).close()


def test_a_network_that_answers_no_numbers_stays_in_floating_point_for_self_play_to_find_it():
    network = make("connect4", hidden_cnn_layers=("16x3",) * 3)
    network.set_weights([np.full_like(w, np.nan) for w in network.get_weights()])
    rough = make_predictor(network, backend="openvino", in_8_bits=True)
    assert rough.scales == {} and not np.isfinite(rough(boards(network.game, 4))[0]).all()


def test_8_bits_of_another_back_end_are_one_clear_line():
    with pytest.raises(UserError, match="precision int8: expected the back end openvino, on a CPU, got keras"):
        make_predictor(make("tictactoe"), backend="keras", in_8_bits=True)


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
    blocks = 1 if why == "too few blocks" else 4
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
