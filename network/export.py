"""Writes networks for other programs, as files of Keras, ONNX, OpenVINO or TFLite.

All take planes [B, rows, columns, planes] uint8 and return value [B, 1], for the player to move, and logits
[B, action_size] of all moves, in float32. Each file holds the facts of `facts_of` as texts.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import games
from config import RANGE, VERSION, UserError
from game import Game
from games.own import digest
from games.parameters import values_of
from loggers import quiet_stderr
from network.stored_network import StoredNetwork, layers_of
from storage.atomic_files import replacing

ENDINGS = {"keras": ".keras", "onnx": ".onnx", "openvino": ".xml", "tflite": ".tflite"}
"""{format: the end of its files' names}; OpenVINO's arrays are in a second file, ending in .bin."""
THROUGH_KERAS = ("keras", "tflite")
"""Formats that are written from a Keras network."""
FACTS = "metadata.json"
"""In .keras and .tflite files, which are zip archives (the latter one behind the network): the facts as JSON."""


def learned_rules(spec: str, game: Game) -> Game:
    """Return the game of the name `spec`, which a network learned, on the board of the one it is exported for.

    A network of many sizes plays under other rules than its own, such as another komi, too.
    """
    board = values_of(game)
    return games.make(RANGE.sub(lambda size: f"{size[1]}={board[size[1].strip()]}", spec), typed=bool(game.origin))


def facts_of(game: Game, name: str) -> dict[str, str]:
    """Return what a program must know to use a network; `name`: of the network, with its version.

    game and rules (the sha256 of your own game, `games.own.digest`), network, program, license, input, outputs, rows
    (which is which; empty if the game does not say what its planes show); and as lists in JSON: planes (what each
    shows), moves (names in the order of the logits).
    """
    rows, columns, planes = game.input_shape
    file = game.origin.rpartition(":")[0]
    return {
        "game": Path(file).name + game.spec[len(file) :],
        "rules": digest(game),
        "network": name,
        "program": f"alphazero-keras {VERSION}",
        "license": "MIT, as the program" if name.startswith("shipped") else "that of its maker",
        "input": f"planes [B, {rows}, {columns}, {planes}] uint8",
        "outputs": f"value [B, 1] for the player to move, logits [B, {game.action_size}] of all moves, legal or not",
        "rows": _order_of_rows(game) if game.plane_names else "",
        "planes": json.dumps(game.plane_names),
        "moves": json.dumps([game.move_name(action) for action in range(game.action_size)]),
    }


def _order_of_rows(game: Game) -> str:
    """Return where the rows and columns of the planes lie."""
    last = game.grid_shape[0] - 1
    text = f"row 0 is the top one, row {last} the bottom one; column 0 is the left one"
    return text + (f"; the first stone of a column lies in row {last}" if game.policy_layout == "columns" else "")


def export_network(model: Any, path: Path, form: str, name: str) -> None:
    """Write a network to a file; raise `UserError` if a library for the format is missing.

    model: a `Gen_Model`; or a `StoredNetwork`, unless the format is written through Keras. name: see `facts_of`.
    """
    facts = facts_of(learned_rules(model.config.game, model.game), name)
    with replacing(path) as trial:
        _WRITE[form](model, path, trial, facts)


def _keras(model: Any, path: Path, trial: Path, facts: dict[str, str]) -> None:
    model.export(str(trial))
    with zipfile.ZipFile(trial) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts[FACTS] = json.dumps({**json.loads(parts[FACTS]), **facts}).encode()  # Keras's own; it reads its files without
    with zipfile.ZipFile(trial, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)


def _onnx(model: Any, path: Path, trial: Path, facts: dict[str, str]) -> None:
    from network.onnx_graph import onnx_graph

    layers = layers_of(model)
    if layers is None:
        raise UserError(f"{path}: expected the network of model.py for ONNX, got another (.xml and .keras are written)")
    trial.write_bytes(onnx_graph(layers, model.get_weights(), facts))


def _openvino(model: Any, path: Path, trial: Path, facts: dict[str, str]) -> None:
    try:
        from network import openvino_graph as graphs
    except ImportError:
        raise UserError(f"{path}: expected OpenVINO, which is not installed; `pip install openvino`") from None
    import openvino as ov

    layers, weights = layers_of(model), model.get_weights()
    if layers is not None:
        graph = graphs.openvino_graph(layers, weights, rounded=True)  # OpenVINO's choice where the reader makes none
    else:
        stored = isinstance(model, StoredNetwork)
        graph = graphs.filled_in(graphs.from_bytes(model.graph) if stored else graphs.converted(model), weights, -1)
    for output, label in zip(graph.outputs, ("value", "logits"), strict=True):
        output.get_tensor().set_names({label})
    for key, text in facts.items():
        graph.set_rt_info(text, ["model_info", key])
    with replacing(path.with_suffix(".bin")) as arrays:
        ov.serialize(graph, trial, arrays)


def _tflite(model: Any, path: Path, trial: Path, facts: dict[str, str]) -> None:
    from network.keras_import import keras, own_settings

    if keras.config.backend() != "tensorflow":
        raise UserError(f"{path}: expected Keras on TensorFlow for TFLite; `pip install tensorflow`")
    import tensorflow as tf

    run, weights = model.inference(), model.get_weights()

    @tf.function(input_signature=[tf.TensorSpec((None, *model.game.input_shape), tf.uint8, name="planes")])
    def evaluate(planes: Any) -> dict[str, Any]:
        value, logits = run(planes, *weights)
        return {"value": value, "logits": logits}

    try:
        with own_settings(), quiet_stderr():
            traced = evaluate.get_concrete_function()
            data = tf.lite.TFLiteConverter.from_concrete_functions([traced], tf.Module()).convert()
    except Exception as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
        raise UserError(f"{path}: TFLite cannot compute this network ({reason})") from error
    trial.write_bytes(data)
    with zipfile.ZipFile(trial, "a") as archive:
        archive.writestr(FACTS, json.dumps(facts))


_WRITE = {"keras": _keras, "onnx": _onnx, "openvino": _openvino, "tflite": _tflite}
