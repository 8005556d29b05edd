"""Exported networks, read back by their own runtimes without this program, answer as the program does."""

import json
import subprocess
import sys
import zipfile
from importlib.util import find_spec

import numpy as np
import pytest

import games
from config import VERSION, UserError
from interface.cli import run
from model import Gen_Model
from network.choose_predictor import openvino_installed
from network.export import ENDINGS, THROUGH_KERAS, export_network, facts_of
from network.keras_import import keras
from network.openvino_graph import converted, to_bytes
from network.predictor import TOLERANCE
from network.stored_network import StoredNetwork
from support.corridor import Corridor
from support.small_networks import make
from support.systems import needs_tensorflow
from support.tiny_runs import boards, tiny, trained_looking

needs_openvino = pytest.mark.skipif(not openvino_installed(), reason="openvino is not made for every platform")
needs_onnx = pytest.mark.skipif(not find_spec("onnxruntime"), reason="onnxruntime is not made for every platform")
MARKS = {"openvino": needs_openvino, "onnx": needs_onnx, "tflite": needs_tensorflow}
FORMATS = [pytest.param(form, marks=MARKS.get(form, ())) for form in ENDINGS]
READ = {
    "keras": """
import json, zipfile, keras
network = keras.models.load_model(file)
value, logits = (np.asarray(found) for found in network(planes))
facts = json.loads(zipfile.ZipFile(file).read("metadata.json"))
""",
    "onnx": """
import onnxruntime
session = onnxruntime.InferenceSession(file)
value, logits = session.run(["value", "logits"], {"planes": planes})
facts = session.get_modelmeta().custom_metadata_map
""",
    "openvino": """
import openvino
network = openvino.Core().read_model(file)
facts = {key: found.astype(str) for key, found in network.get_rt_info(["model_info"]).astype(dict).items()}
found = openvino.compile_model(network, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})({"planes": planes})
value, logits = found["value"], found["logits"]
""",
    "tflite": """
import json, zipfile
import tensorflow as tf
found = tf.lite.Interpreter(file).get_signature_runner()(planes=planes)
value, logits = found["value"], found["logits"]
facts = json.loads(zipfile.ZipFile(file).read("metadata.json"))
""",
}
LOOP = """
import sys
import numpy as np
code = compile(sys.argv[1], "read", "exec")
for line in sys.stdin:
    file, given, target = line.rstrip("\\n").split("\\t")
    planes = np.load(given)
    exec(code)
    np.savez(target, value=value, logits=logits, **{f"fact_{key}": text for key, text in facts.items()})
    print("read", flush=True)
"""


@pytest.fixture(scope="module")
def readers(tmp_path_factory):
    """Return f(format): a process that reads one file after the other, and the file of its errors.

    It stands in an empty folder, as another program would.
    """
    started = {}

    def of(form):
        if form not in started:
            folder = tmp_path_factory.mktemp(form)
            with open(folder / "errors.txt", "w") as errors:
                process = subprocess.Popen(
                    [sys.executable, "-c", LOOP, READ[form]],
                    cwd=folder,
                    text=True,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                )
            started[form] = process, folder / "errors.txt"
        return started[form]

    yield of
    for process, _ in started.values():
        process.communicate(timeout=900)


def read(readers, form, file, planes, folder):
    """Return (value [B, 1], logits, facts) as another program gets them."""
    folder.mkdir()
    np.save(folder / "planes.npy", planes)
    process, errors = readers(form)
    print(file, folder / "planes.npy", folder / "found.npz", sep="\t", file=process.stdin, flush=True)
    while (line := process.stdout.readline()) not in ("read\n", ""):
        pass
    assert line, errors.read_text()
    arrays = np.load(folder / "found.npz")
    facts = {key.removeprefix("fact_"): str(arrays[key]) for key in arrays.files if key.startswith("fact_")}
    return arrays["value"], arrays["logits"], facts


def assert_close(found, expected):
    for some, others, limit in zip(found, expected, TOLERANCE["float32"], strict=True):
        assert some.dtype == np.float32 and np.abs(some - others).max() <= limit


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("spec, changes", [
    ("connect4", {"normalisation": "batch", "global_pooling": True, "soft_policy_weight": 1.0}),
    ("go(size=5)", {"precision": "bfloat16", "ownership_weight": 1.5, "global_pooling": True}),
])  # fmt: skip
def test_a_file_read_by_its_own_runtime_answers_as_the_program(readers, form, spec, changes, tmp_path):
    network = make(spec, hidden_cnn_layers=("8x3", "8x3"), **changes)
    network.set_weights([w / 8 if w.ndim == 2 else w for w in trained_looking(network)])  # no value of 1.0
    given = network
    if form not in THROUGH_KERAS:
        given = StoredNetwork(network.config, network.game)
        given.set_weights(network.get_weights())
    planes = boards(network.game, 9)
    expected = network.predict(planes)
    assert expected[0].std() > 0.003 and expected[1].std() > 0.1, "the evaluations differ from board to board"
    file = tmp_path / f"network{ENDINGS[form]}"
    export_network(given, file, form, "run0001:version0007")
    names = {file.name, "network.bin"} if form == "openvino" else {file.name}
    assert {path.name for path in tmp_path.iterdir()} == names, "nothing else is left"
    value, logits, facts = read(readers, form, file, planes, tmp_path / "elsewhere")
    assert value.shape == (9, 1)
    assert_close((value[:, 0], logits), expected)
    assert {key: text for key, text in facts.items() if key not in ("keras_version", "date_saved")} == facts_of(
        network.game, "run0001:version0007"
    )


def test_the_facts_are_those_of_the_game():
    facts = facts_of(games.make("go(size=6)"), "shipped:version0003")
    assert (facts["game"], facts["rules"], facts["network"]) == ("go(size=6)", "", "shipped:version0003")
    assert facts["program"].endswith(VERSION) and facts["license"].startswith("MIT")
    assert facts["input"] == "planes [B, 6, 6, 8] uint8" and "logits [B, 37]" in facts["outputs"]
    moves = json.loads(facts["moves"])
    assert len(moves) == 37 and moves[-1] == "pass" and games.make("go(size=6)").parse_move(moves[7]) == 7
    assert json.loads(facts["planes"])[6:] == ["Black to move", "ones"]
    assert not facts_of(games.make("go(size=6)"), "run0001:version0003")["license"].startswith("MIT")


@pytest.mark.parametrize("spec", [*games.names(), "connect4(rows=5)"])
def test_the_facts_say_in_which_order_the_rows_are(spec):
    game = games.make(spec)
    state = game.start()
    for _ in range(4):
        state = state.takeAction(state.allowedActions[0])[0]
    own = state.planes()[:, :, 0] == 1
    assert own.any() and np.array_equal(own, np.array(game.cells(state).cells) == state.playerTurn), "top row first"
    last = game.grid_shape[0] - 1
    words = f"row 0 is the top one, row {last} the bottom one; column 0 is the left one"
    if spec.startswith("connect4"):
        assert own[last, 0], "the first stone of a column"
        words += f"; the first stone of a column lies in row {last}"
    assert facts_of(game, "shipped:version0003")["rows"] == words


def test_a_game_that_does_not_say_what_its_planes_show_says_nothing_of_rows():
    assert facts_of(Corridor(), "run0001:version0003")["rows"] == ""


@pytest.mark.parametrize("spec", [*games.names(), "connect4(rows=5)", "gomoku(rule=renju)"])
def test_every_game_says_what_its_planes_show(spec):
    game = games.make(spec)
    assert len(game.plane_names) == game.input_shape[2]
    shown = dict(zip(game.plane_names, np.moveaxis(boards(game, 30), -1, 0), strict=True))
    assert shown["ones"].all()
    own, other = list(shown.values())[:2]
    assert own.any() and other.any() and not (own & other).any()
    for name, plane in shown.items():
        if name == "Black to move":
            assert plane[0].all() and not plane[1].any()


def test_of_a_game_of_ones_own_the_file_is_named_without_its_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["new-game", "mine"]) == 0
    facts = facts_of(games.make(str(tmp_path / "mine.py")), "best")
    assert facts["game"] == "mine.py:Mine" and str(tmp_path) not in json.dumps(facts)
    assert len(facts["rules"]) == 64 and facts["planes"] == "[]"


# ---- networks of one's own


class TwoLayers(Gen_Model):
    """Not the network of model.py."""

    def _build(self, dtype):
        board = keras.Input(self.game.input_shape, dtype="uint8", name="planes")
        x = keras.layers.Flatten(dtype=dtype)(keras.layers.Rescaling(1.0, dtype=dtype)(board))
        value = keras.layers.Dense(1, activation="tanh", dtype="float32", name="value_head")(x)
        policy = keras.layers.Dense(self.game.action_size, dtype="float32", name="policy_head")(x)
        return keras.Model(board, [value, policy])


@pytest.fixture(scope="module")
def own():
    return TwoLayers(tiny(), games.make("tictactoe"))


@pytest.mark.parametrize("form, stored", [
    ("keras", False), pytest.param("tflite", False, marks=needs_tensorflow),
    pytest.param("openvino", False, marks=[needs_openvino, needs_tensorflow]),
    pytest.param("openvino", True, marks=[needs_openvino, needs_tensorflow]),
])  # fmt: skip
def test_a_network_of_ones_own_is_written_by_way_of_keras(readers, own, form, stored, tmp_path):
    planes, given = boards(own.game, 9), own
    expected = own.predict(planes)
    if stored:  # as play has it, without Keras
        weights = own.get_weights()
        given = StoredNetwork(own.config, own.game, to_bytes(converted(own)), [w.shape for w in weights])
        given.set_weights(weights)
    file = tmp_path / f"network{ENDINGS[form]}"
    export_network(given, file, form, "best")
    value, logits, facts = read(readers, form, file, planes, tmp_path / "elsewhere")
    assert_close((value[:, 0], logits), expected)
    assert facts["game"] == "tictactoe"


def test_what_a_format_lacks_is_said_in_one_line(own, tmp_path, monkeypatch):
    for form, hidden, words in (
        ("onnx", None, "expected the network of model.py for ONNX"),
        ("openvino", "openvino", "pip install openvino"),
    ):
        if hidden is not None:
            monkeypatch.delitem(sys.modules, "network.openvino_graph", raising=False)
            monkeypatch.delattr("network.openvino_graph", raising=False)
            monkeypatch.setitem(sys.modules, hidden, None)
        with pytest.raises(UserError, match=words):
            export_network(own, tmp_path / f"network{ENDINGS[form]}", form, "best")
    monkeypatch.setattr("keras.config.backend", lambda: "jax")
    with pytest.raises(UserError, match="expected Keras on TensorFlow for TFLite"):
        export_network(own, tmp_path / "network.tflite", "tflite", "best")
    assert not list(tmp_path.iterdir())


@needs_tensorflow
def test_a_layer_that_tflite_has_not_is_named_in_one_line(tmp_path):
    class Strange(TwoLayers):
        def _build(self, dtype):
            board = keras.Input(self.game.input_shape, dtype="uint8", name="planes")
            x = keras.layers.Flatten()(keras.layers.Rescaling(1.0)(board))
            x = keras.layers.Lambda(lambda x: keras.ops.slogdet(keras.ops.reshape(x[:, :9], (-1, 3, 3)))[1])(x)
            x = keras.ops.reshape(x, (-1, 1))
            value = keras.layers.Dense(1, dtype="float32", name="value_head")(x)
            return keras.Model(board, [value, keras.layers.Dense(9, dtype="float32", name="policy_head")(x)])

    with pytest.raises(UserError, match="TFLite cannot compute this network") as error:
        export_network(Strange(tiny(), games.make("tictactoe")), tmp_path / "network.tflite", "tflite", "best")
    assert "\n" not in str(error.value) and "Det" in str(error.value) and not list(tmp_path.iterdir())


def test_a_keras_file_keeps_its_three_parts(tmp_path):
    export_network(make(), tmp_path / "n.keras", "keras", "best")
    with zipfile.ZipFile(tmp_path / "n.keras") as archive:
        assert set(archive.namelist()) == {"metadata.json", "config.json", "model.weights.h5"}
        assert archive.testzip() is None
