"""ONNX Runtime evaluates the residual network as Keras and numpy do; the ONNX files are whole."""

import importlib
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from config import UserError
from loggers import MEGABYTE
from network.choose_predictor import make_predictor, onnxruntime_installed
from network.numpy_network import evaluate
from network.predictor import STEADY, TOLERANCE, cores
from network.stored_network import StoredNetwork, layers_of
from support.small_networks import Unlike, make
from support.tiny_runs import boards, left_behind, tiny, trained_looking

onnx = pytest.importorskip("onnx", reason="onnx and onnxruntime are not made for every platform")
pytest.importorskip("onnxruntime", reason="onnx and onnxruntime are not made for every platform")
from network.onnx_graph import FORMAT, OPERATORS, onnx_graph  # noqa: E402
from network.onnxruntime_predictor import ONNXRuntimePredictor  # noqa: E402

HERE = Path(__file__).parents[3]
SPECS = ["tictactoe", "connect4", "go(size=5)", "othello(size=4)", "gomoku(size=6)", "corridor"]


def predictor_of(model, **options):
    predictor = ONNXRuntimePredictor(model, **options)
    predictor.load(model.get_weights())
    return predictor


@pytest.fixture(scope="module")
def network():
    network = make("connect4", hidden_cnn_layers=("16x3",) * 3)
    network.set_weights(trained_looking(network))
    return network


def assert_close(found, expected):
    for some, others, limit in zip(found, expected, TOLERANCE["float32"], strict=True):
        assert np.abs(some - others).max() <= limit


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("normalisation", ["batch", "fixed"])
@pytest.mark.parametrize("pooling", [False, True])
def test_every_kind_of_layer_computes_what_it_does_in_keras_and_numpy(spec, normalisation, pooling):
    network = make(
        spec, normalisation=normalisation, global_pooling=pooling, hidden_cnn_layers=("8x3", "8x4", "8x5"),
        soft_policy_weight=1.0, precision="bfloat16",
    )  # fmt: skip
    network.set_weights([w / 4 if w.ndim == 2 else w for w in trained_looking(network)])  # no value of 1.0
    planes = boards(network.game, 40)
    stored = StoredNetwork(network.config, network.game)
    stored.set_weights(network.get_weights())
    file = onnx_graph(stored.layers, stored.get_weights())
    onnx.checker.check_model(file, full_check=True)
    found = predictor_of(stored)(planes)
    assert found[0].shape == (40,) and found[1].shape == (40, network.game.action_size)
    expected = network.predict(planes)
    assert expected[0].std() > 0.003 and expected[1].std() > 0.1, "the evaluations differ from board to board"
    assert_close(found, expected)
    assert_close(found, evaluate(stored.layers, stored.get_weights(), planes))


def test_an_evaluation_depends_neither_on_the_batch_nor_on_the_number_of_threads(network):
    planes = boards(network.game, 200)
    value, logits = predictor_of(network)(planes)
    assert value.std() > 0.1 and logits.std() > 0.3
    for streams in (1, cores()):
        predictor = predictor_of(network, streams=streams, smallest=STEADY)
        for count in (1, 5, 33, 100, 130):
            for first in (0, 70):
                found = predictor(planes[first : first + count])
                for some, all_of_them in zip(found, (value, logits), strict=True):
                    assert np.array_equal(some, all_of_them[first : first + count]), count
    order = np.random.default_rng(0).permutation(200)
    for found, expected in zip(predictor(planes[order]), (value[order], logits[order]), strict=True):
        assert np.array_equal(found, expected)


def test_new_weights_change_the_answers_to_those_keras_gives_with_them(network):
    predictor, planes = predictor_of(network), boards(network.game, 8)
    before = predictor(planes)
    other = make("connect4", hidden_cnn_layers=("16x3",) * 3)
    other.set_weights(trained_looking(other, seed=1))
    predictor.load(other.get_weights())
    after = predictor(planes)
    assert_close(after, other.predict(planes))
    assert np.abs(after[0] - before[0]).max() > 0.1
    predictor.load(network.get_weights())
    for found, expected in zip(predictor(planes), before, strict=True):
        assert np.array_equal(found, expected)


def test_new_versions_cost_no_memory(network):
    predictor, planes = predictor_of(network), boards(network.game, 8)
    versions = [trained_looking(network, seed) for seed in range(5)]
    answers = []

    def swap(times):
        for i in range(times):
            predictor.load(versions[i % 5])
            answers.append(predictor(planes)[0].copy())  # what ONNX Runtime returns keeps more than itself

    swap(10)
    limit = 4 * MEGABYTE  # less than the weights alone of 200 versions
    assert left_behind(lambda: swap(200), limit) < limit
    assert all(np.array_equal(answer, answers[i % 5]) for i, answer in enumerate(answers))


@pytest.mark.parametrize("share", [1, 2])
def test_threads_that_ask_at_once_get_their_own_answers(network, monkeypatch, share):
    """With one core for each thread they share a session, with more each takes one that is free."""
    monkeypatch.setattr("network.onnxruntime_predictor.cores", lambda: 4 * share)
    predictor, planes = predictor_of(network, streams=4), boards(network.game, 64)
    expected, meet = predictor(planes), threading.Barrier(4, timeout=600.0)

    def ask(part):
        meet.wait()
        for _ in range(20):
            for found, answer in zip(predictor(planes[16 * part :]), expected, strict=True):
                assert np.array_equal(found, answer[16 * part :])
        return True

    for _ in range(2):
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(ask, range(4))) == [True] * 4
    assert len(predictor._free) == 1 if share == 1 else 1 <= len(predictor._free) <= 4


def test_a_network_of_ones_own_is_refused_in_one_line():
    config = tiny(game="tictactoe")
    with pytest.raises(UserError, match="expected the network of model.py, got another; use --backend keras"):
        ONNXRuntimePredictor(Unlike(config, make().game))


NO_KERAS = """
import sys
sys.modules["keras"] = sys.modules["openvino"] = None
import numpy as np
import games
from network.onnxruntime_predictor import ONNXRuntimePredictor
from network.stored_network import StoredNetwork
from training.presets import preset
game = games.make("tictactoe")
network = StoredNetwork(preset("tiny"), game)
network.set_weights([np.ones(shape, np.float32) for shape in network.shapes])
predictor = ONNXRuntimePredictor(network)
predictor.load(network.get_weights())
value, logits = predictor(game.start().planes()[None])
loaded = {name for name, module in sys.modules.items() if module is not None}
print(value.shape, logits.shape, *sorted({"keras", "tensorflow", "openvino"} & loaded))
"""


def test_it_evaluates_without_keras_and_openvino_and_prints_nothing():
    found = subprocess.run([sys.executable, "-c", NO_KERAS], cwd=HERE, capture_output=True, text=True, timeout=900)
    assert (found.returncode, found.stdout, found.stderr) == (0, "(1,) (1, 9)\n", "")


# ---- the file


def test_a_file_has_the_version_that_old_programs_read_and_the_facts_it_was_given(network):
    facts = {"moves": '["ä1", "b2"]', "rules": ""}
    found = onnx.load_from_string(onnx_graph(layers_of(network), network.get_weights(), facts))
    assert {pair.key: pair.value for pair in found.metadata_props} == facts
    assert found.opset_import[0].version == OPERATORS and found.ir_version == FORMAT
    kinds = onnx.TensorProto
    planes = onnx.helper.make_tensor_value_info("planes", kinds.UINT8, ["B", *network.game.input_shape])
    assert list(found.graph.input) == [planes]
    outputs = {"value": 1, "logits": network.game.action_size}
    assert list(found.graph.output) == [
        onnx.helper.make_tensor_value_info(name, kinds.FLOAT, ["B", size]) for name, size in outputs.items()
    ]


def test_without_the_package_onnx_a_network_is_refused_in_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    monkeypatch.delitem(sys.modules, "network.onnx_graph")
    monkeypatch.delitem(sys.modules, "network.onnxruntime_predictor")
    assert not onnxruntime_installed()
    with pytest.raises(UserError, match="backend onnxruntime: not installed; `pip install onnxruntime onnx`"):
        make_predictor(make(), backend="onnxruntime")
    with pytest.raises(UserError, match="expected the package onnx, which is not installed; `pip install onnx`"):
        importlib.import_module("network.onnx_graph")
