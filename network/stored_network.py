"""A version of a run for play: settings, game and arrays, without Keras.

The layers of `model.Residual_CNN` are known (network/architecture.py). Whether a run's network is that one is found out
when it is built for training, by evaluating both, and recorded in run.db; of a user's own network the run keeps
OpenVINO's graph, converted by way of Keras, with the arrays as inputs.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from config import Config, UserError
from game import Game
from network.architecture import Architecture, Shape, residual_network
from network.cpu_features import resolve_precision
from network.numpy_network import evaluate
from storage.atomic_files import DamagedData, sha256
from storage.checkpoints import content, read_weights
from storage.run_store import Store
from system.reading import LINES_BYTES, read_limited

KEY = "evaluated_by"
"""What run.db says of a network: {"layers": true}, or {"graph": the sha256 of its file, "shapes": of its arrays}."""
BEGAN = "version0"
"""run.db's key for the first version's arrays: "random", or "given" when they are another run's."""
BEGAN_WITH = "began_with"
"""run.db's key for the words that say which run and version those are."""
GRAPH = "models/network.graph"
NEAR = 0.01, 0.03
"""Largest difference of value and logits at which two networks count as the same, on any processor."""


class StoredNetwork:
    """What a predictor needs of a network."""

    def __init__(
        self, config: Config, game: Game, graph: bytes | None = None, shapes: list[Shape] | None = None
    ) -> None:
        """Make the residual network of a run's settings; `graph` and `shapes`: of a user's own network instead."""
        self.config, self.game = config, game
        self.precision = resolve_precision(config.precision)
        self.graph = graph
        self.layers = residual_network(config, game) if graph is None else None
        self.shapes = shapes or []
        if self.layers is not None:
            self.shapes = [shape for _, shape in self.layers.weights()]
        self._weights: list[np.ndarray] = []

    def get_weights(self) -> list[np.ndarray]:
        """Return the arrays in the order of the layers."""
        return self._weights

    def set_weights(self, weights: list[np.ndarray]) -> None:
        """Replace the arrays, whose shapes are `shapes`."""
        self._weights = weights


def layers_of(model: Any) -> Architecture | None:
    """Return the layers that compute what a network does; None for a user's own network."""
    if not hasattr(model, "layers"):
        model.layers = _layers_like(model)
    layers: Architecture | None = model.layers
    return layers


def _layers_like(model: Any) -> Architecture | None:
    """Return the residual network's layers if they compute, with random arrays, what a Keras network does."""
    known = residual_network(model.config, model.game)
    shapes, kinds = known.weights(), {layer.name: layer.kind for layer in known.layers}
    if [tuple(w.shape) for w in model.get_weights()] != [shape for _, shape in shapes]:
        return None
    rng = np.random.default_rng(0)
    weights = [
        rng.uniform(0.5, 1.5, shape) if kinds[name] == "normalise"
        else rng.normal(0.0, 1.0, shape) / np.sqrt(np.prod(shape[:-1]) + 1) for name, shape in shapes
    ]  # fmt: skip
    weights = [weight.astype(np.float32) for weight in weights]
    planes = rng.integers(0, 2, (4, *model.game.input_shape)).astype(np.uint8)
    value, logits = (np.asarray(found, np.float32) for found in model.inference()(planes, *weights))
    expected = evaluate(known, weights, planes)
    close = np.abs(value[:, 0] - expected[0]).max() < NEAR[0] and np.abs(logits - expected[1]).max() < NEAR[1]
    return known if close else None


def record(store: Store, model: Any, begun: list[np.ndarray]) -> None:
    """Record in a run how its network is evaluated without Keras; `begun`: the arrays of a new network of its seed."""
    graph: bytes | None = None
    facts: dict[str, Any] = {"layers": True}
    if layers_of(model) is None:
        graph = _graph_of(model)
        facts = {"graph": sha256(graph), "shapes": [list(w.shape) for w in begun]} if graph is not None else {}
    said = {KEY: json.dumps(facts)}
    if store.get(BEGAN) is None:
        known = any(each.version == 0 for each in store.versions())  # a recovered run may have lost it
        first = read_weights(store.path.parent, store, 0, [w.shape for w in begun]) if known else None
        said[BEGAN] = "random" if first is not None and all(map(np.array_equal, begun, first)) else "given"
    kept = graph is None or content(store.path.parent, GRAPH, sha256(graph)) is not None
    if kept and all(store.get(key) == text for key, text in said.items()):
        return
    if graph is not None:
        store.files.write(GRAPH, graph, point="graph")
    with store.transaction("network"):
        for key, text in said.items():
            store.put(key, text)


def convertible(model: Any, library: str) -> bool:
    """Return whether "openvino" or "onnxruntime" can evaluate a network; one's own: OpenVINO, through TensorFlow."""
    if layers_of(model) is not None:
        return True
    if library != "openvino" or find_spec("openvino") is None:
        return False
    if isinstance(model, StoredNetwork):
        return True
    from network.keras_import import BACKEND

    return BACKEND == "tensorflow"


def _graph_of(model: Any) -> bytes | None:
    """Return the graph of a user's own network; None where it cannot be converted."""
    if not convertible(model, "openvino"):
        return None
    from network.openvino_graph import converted, to_bytes

    return to_bytes(converted(model))


def open_network(folder: Path, store: Store, config: Config, game: Game, library: str) -> StoredNetwork | None:
    """Return the network of a run for "openvino" or "onnxruntime", without arrays; None when only Keras has it."""
    facts = json.loads(store.get(KEY) or "{}")
    if facts.get("layers"):
        return StoredNetwork(config, game)
    if "graph" not in facts or library != "openvino":
        return None
    path = folder / GRAPH
    try:
        graph = read_limited(path, LINES_BYTES)
    except OSError as error:
        raise UserError(f"{path}: expected the network's graph ({error.strerror}); training makes it again") from None
    if sha256(graph) != facts["graph"]:
        raise DamagedData(f"{path}: expected the file that the run wrote, got another")
    return StoredNetwork(config, game, graph, [tuple(shape) for shape in facts["shapes"]])


def began_with(store: Store) -> str:
    """Return in words whose network a run began with; "" for a network of its own seed."""
    return (store.get(BEGAN_WITH) or "another run") if store.get(BEGAN) == "given" else ""


def untrained(store: Store, model: Any, weights: list[np.ndarray]) -> bool:
    """Return whether a run's first version, with these arrays, has learned nothing."""
    began = store.get(BEGAN)
    if began is None and not isinstance(model, StoredNetwork):  # a run of before, and Keras is loaded
        return all(map(np.array_equal, model.get_weights(), weights))
    return began != "given"
