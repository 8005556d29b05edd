"""A network for boards of many sizes: what lies outside a board in its frame changes nothing."""

import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

import games
from config import UserError
from games.sizes import OUTSIDE, Frame
from memory import ILLEGAL, Batch
from model import Residual_CNN, make_network
from network.choose_predictor import make_predictor, on_board, openvino_installed
from network.export import export_network
from network.net2net import enlarged
from network.numpy_network import evaluate
from network.stored_network import layers_of
from support.tiny_runs import boards, tiny, trained_looking

LAYERS = ("8x3",) * 3
GAMES = "gomoku(size=5..8)", "go(size=4..7)", "connect4(rows=4..6,columns=4..7)"


def network(spec, **changes):
    game = games.make(spec)
    made = make_network(tiny(game=spec, **{"hidden_cnn_layers": LAYERS, "many_sizes": True, **changes}), game)
    made.set_weights(trained_looking(made))
    return made


def in_frame(game, number, planes):
    """Return boards of a size in the frame of the largest, with the plane that shows where they are."""
    frame, count = Frame(game), len(planes)
    wide = frame.planes(number, planes.reshape(count, -1)).reshape(count, *game.input_shape)
    mask = np.broadcast_to(frame.masks[number].reshape(1, *game.grid_shape, 1), (count, *game.grid_shape, 1))
    return np.concatenate([wide, mask], axis=3)


@pytest.mark.parametrize("spec, normalisation", zip(GAMES, ("fixed", "batch", "fixed"), strict=True))
def test_a_small_board_in_a_frame_is_answered_as_alone(spec, normalisation):
    model = network(spec, normalisation=normalisation)
    frame, backends = Frame(model.game), ["keras"]
    backends += ["openvino"] if openvino_installed() else []
    backends += ["onnxruntime"] if find_spec("onnxruntime") else []
    for number, game in enumerate(model.game.sizes):
        planes = boards(game, 7, seed=number)
        value, logits = (np.asarray(head) for head in model.model(in_frame(model.game, number, planes))[:2])
        moves = frame.visits(number, np.arange(game.action_size)[None], -1)[0]
        logits = logits[:, [int(np.flatnonzero(moves == action)[0]) for action in range(game.action_size)]]
        alone = on_board(model, game, model.get_weights())
        answers = {"numpy": evaluate(layers_of(alone), model.get_weights(), planes)}
        for backend in backends if number == 0 else backends[1:2]:
            one = make_network(alone.config, game) if backend == "keras" else alone
            one.set_weights(model.get_weights())
            answers[backend] = make_predictor(one, backend=backend)(planes)
        for backend, (mine, move) in answers.items():
            assert mine == pytest.approx(value[:, 0], abs=1e-5), (game.spec, backend)
            assert move == pytest.approx(logits, abs=1e-5 * max(1.0, float(np.abs(logits).max()))), (game.spec, backend)
        assert np.ptp(value) > 1e-4 and np.ptp(logits) > 0.01


def lesson(game, number, seed):
    """Return a batch of boards of a size with random targets, in the frame of the largest."""
    one, rng, count = game.sizes[number], np.random.default_rng(seed), 8
    frame, planes = Frame(game), boards(one, count, seed)
    policy = rng.dirichlet(np.ones(one.action_size), count).astype(np.float32)
    policy[:, ::3] = ILLEGAL
    wide = np.full((count, game.action_size), ILLEGAL, np.float32)
    places = frame.visits(number, np.arange(one.action_size)[None], -1)[0]
    wide[:, places >= 0] = policy[:, places[places >= 0]]
    owners = frame.owners(number, rng.integers(-1, 2, (count, planes[0, :, :, 0].size)).astype(np.int8))
    owners = owners.reshape(count, *game.grid_shape)
    return Batch(in_frame(game, number, planes), rng.uniform(-1, 1, count).astype(np.float32), wide, owners)


@pytest.mark.parametrize(
    "large, small, normalisation",
    [("gomoku(size=5..8)", "gomoku(size=5..5)", "batch"), ("go(size=4..7)", "go(size=4..4)", "fixed"),
     ("connect4(rows=4..6,columns=4..7)", "connect4(rows=4..4,columns=4..4)", "batch")],
)  # fmt: skip
def test_small_boards_in_a_frame_train_the_network_as_alone(large, small, normalisation):
    found = []
    for spec in (large, small):
        heads = {"ownership_weight": 1.5, "soft_policy_weight": 1.0}
        model = network(spec, normalisation=normalisation, optimizer="sgd", learning_rate=0.01, **heads)
        before = model.get_weights()
        losses = model.fit(lambda step, model=model: lesson(model.game, 0, step), 3)
        found.append((losses, model.get_weights()))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-4)
    assert len(found[0][0]) >= 5 - ("connect4" in large)
    for (name, _), old, mine, theirs in zip(model.named_weights(), before, found[0][1], found[1][1], strict=True):
        change = float(np.abs(theirs - old).max())
        assert np.abs(mine - theirs).max() < 1e-3 * change + 1e-6, name


def test_sizes_are_trained_in_one_batch():
    model = network("gomoku(size=5..7)", ownership_weight=1.0)
    lessons = [lesson(model.game, number, 5) for number in range(3)]
    mixed = Batch(*(np.concatenate(parts) for parts in zip(*lessons, strict=True)))
    assert (mixed.owners == OUTSIDE).any()
    before = model.get_weights()
    alone = [model.model.evaluate(*model._lesson(each), verbose=0, return_dict=True) for each in lessons]
    both = model.model.evaluate(*model._lesson(mixed), verbose=0, return_dict=True)
    for name, loss in both.items():
        assert loss == pytest.approx(np.mean([each[name] for each in alone]), rel=1e-4)
    model.fit(lambda step: mixed, 2)
    assert all((now != old).any() for now, old in zip(model.get_weights(), before, strict=True))


def test_the_weights_of_all_frames_are_alike_and_named_in_one_order():
    models = [network(spec) for spec in ("gomoku(size=5..6)", "gomoku(size=9..9)", "gomoku(size=7)")]
    first = models[0]
    for model in models:
        assert model.shapes == first.shapes
        assert [v.path for v in model.model.weights] == [v.path for v in model.plain.weights]
    assert models[2].game.sizes == () and models[2].predict(boards(models[2].game, 2))[1].shape == (2, 49)


def test_a_network_for_many_sizes_grows():
    small = network("go(size=4..5)", hidden_cnn_layers=("8x3",) * 4)
    large = network("go(size=4..5)", hidden_cnn_layers=("12x3",) * 6, seed=3)
    fresh = make_network(large.config, large.game)
    large.set_weights(enlarged(small.named_weights(), fresh.named_weights()))
    planes = boards(games.make("go(size=5)"), 9)
    for mine, theirs in zip(large.predict(planes), small.predict(planes), strict=True):
        assert mine == pytest.approx(theirs, abs=1e-4) and np.ptp(theirs) > 1e-3


def test_a_network_for_many_sizes_is_exported_for_one_size_and_read_by_keras_alone(tmp_path):
    model = network("go(size=4..6)")
    game = model.game.sizes[0]
    one = make_network(model.config, game)
    one.set_weights(model.get_weights())
    planes = boards(game, 3)
    export_network(one, tmp_path / "net.keras", "keras", "run0001:version0001")
    export_network(on_board(model, game, model.get_weights()), tmp_path / "net.onnx", "onnx", "run0001:version0001")
    np.save(tmp_path / "planes.npy", planes)
    text = (
        "import keras, numpy as np\nnetwork = keras.models.load_model('net.keras')\n"
        "value, logits = (np.asarray(found) for found in network(np.load('planes.npy')))\n"
        "np.savez('found.npz', value=value, logits=logits)\n"
    )
    subprocess.run([sys.executable, "-c", text], cwd=tmp_path, check=True, capture_output=True, timeout=600)
    with np.load(tmp_path / "found.npz") as found:
        value, logits = one.predict(planes)
        assert found["value"][:, 0] == pytest.approx(value, abs=1e-5)
        assert found["logits"] == pytest.approx(logits, abs=1e-4)


def test_a_game_without_points_or_columns_has_no_network_for_many_sizes():
    class Other(type(games.make("gomoku(size=5)"))):
        policy_layout = "other"

    with pytest.raises(UserError, match="moves are points or columns"):
        Residual_CNN(tiny(game="gomoku(size=5)", many_sizes=True), Other(size=5))
    with pytest.raises(UserError, match="many_sizes"):
        make_network(tiny(game="gomoku(size=5..6)", many_sizes=False), games.make("gomoku(size=5..6)"))
