"""A stored network as an ONNX model, made from its layers and arrays with ONNX's own operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from config import UserError

try:
    import onnx
except ImportError:
    raise UserError("expected the package onnx, which is not installed; `pip install onnx`") from None
from onnx import helper, numpy_helper

from network.architecture import Architecture, Layer
from network.numpy_network import EPSILON

FORMAT, OPERATORS = 8, 17
"""Version of the format and of ONNX's operators; ONNX Runtime 1.12 of 2022 and all later ones read them."""
TO_FRONT, TO_BACK = (0, 3, 1, 2), (0, 2, 3, 1)
"""Boards are [B, rows, columns, filters] in Keras and [B, filters, rows, columns] in ONNX."""


class _Graph:
    """The nodes and constants made so far; an output of a layer has the layer's name, value and logits have theirs."""

    def __init__(self, architecture: Architecture) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self._labels = dict(zip(architecture.heads, ("value", "logits"), strict=False))

    def label(self, name: str) -> str:
        """Return the name of a layer's output."""
        return self._labels.get(name, name)

    def constant(self, name: str, array: np.ndarray) -> str:
        """Add an array; return its name."""
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def node(self, operator: str, inputs: Sequence[str], output: str, **attributes: Any) -> str:
        """Add an operator, whose attributes are numbers or lists of these; return the name of its output."""
        self.nodes.append(helper.make_node(operator, inputs, [output], output, **attributes))
        return output


def onnx_graph(
    architecture: Architecture, weights: Sequence[np.ndarray], facts: Mapping[str, str] | None = None
) -> bytes:
    """Return the network with these arrays as an .onnx file's content.

    planes [B, rows, columns, planes] uint8 -> value [B, 1], logits [B, action_size], for any B. facts: its metadata.
    """
    arrays, graph = architecture.arrays(weights), _Graph(architecture)
    planes, *layers = architecture.shown()
    for layer in layers:
        inputs = [graph.label(name) for name in layer.inputs]
        _MAKE[layer.kind](graph, layer, graph.label(layer.name), inputs, arrays[layer.name])
    outputs = [layer for name in architecture.heads[:2] for layer in layers if layer.name == name]
    whole = helper.make_graph(
        graph.nodes,
        architecture.name,
        [helper.make_tensor_value_info("planes", onnx.TensorProto.UINT8, ["B", *planes.shape])],
        [
            helper.make_tensor_value_info(graph.label(layer.name), onnx.TensorProto.FLOAT, ["B", *layer.shape])
            for layer in outputs
        ],
        graph.constants,
    )
    model = helper.make_model(
        whole, producer_name="alphazero-keras", ir_version=FORMAT, opset_imports=[helper.make_opsetid("", OPERATORS)]
    )
    helper.set_model_props(model, dict(facts or {}))
    return bytes(model.SerializeToString())


_Make = Callable[[_Graph, Layer, str, list[str], list[np.ndarray]], object]
"""Adds a layer: (graph, layer, name of its output, names of its inputs, its arrays)."""


def _cast(graph: _Graph, layer: Layer, output: str, inputs: list[str], arrays: list[np.ndarray]) -> None:
    x = graph.node("Cast", inputs, f"{output}/float", to=onnx.TensorProto.FLOAT)
    graph.node("Transpose", [x], output, perm=TO_FRONT)


def _with_ones(graph: _Graph, layer: Layer, output: str, inputs: list[str], arrays: list[np.ndarray]) -> None:
    """Add the planes with one more, of ones."""
    pads = graph.constant(f"{layer.name}/pads", np.array([0, 0, 0, 0, 0, 1, 0, 0], np.int64))
    graph.node("Pad", [*inputs, pads, graph.constant(f"{layer.name}/one", np.array(1.0, np.float32))], output)


def _scaled(graph: _Graph, layer: Layer, output: str, inputs: list[str], arrays: list[np.ndarray]) -> None:
    factor = graph.constant(f"{layer.name}/factor", np.array(layer.factor, np.float32))
    graph.node("Mul", [*inputs, factor], output)


def _conv(graph: _Graph, layer: Layer, output: str, inputs: list[str], arrays: list[np.ndarray]) -> None:
    size = arrays[0].shape[0]
    before, after = (size - 1) // 2, size // 2
    given = [graph.constant(f"{layer.name}/kernel", arrays[0].transpose(3, 2, 0, 1))]
    given += [graph.constant(f"{layer.name}/bias", bias) for bias in arrays[1:]]
    graph.node("Conv", inputs + given, output, kernel_shape=(size, size), pads=(before, before, after, after))


def _normalise(graph: _Graph, layer: Layer, output: str, inputs: list[str], arrays: list[np.ndarray]) -> None:
    names = ("gamma", "beta", "mean", "variance")
    given = [graph.constant(f"{layer.name}/{name}", array) for name, array in zip(names, arrays, strict=True)]
    graph.node("BatchNormalization", inputs + given, output, epsilon=EPSILON)


def _dense(graph: _Graph, layer: Layer, output: str, inputs: list[str], arrays: list[np.ndarray]) -> None:
    given = [graph.constant(f"{layer.name}/{name}", a) for name, a in zip(("kernel", "bias"), arrays, strict=True)]
    tanh = layer.kind == "dense_tanh"
    x = graph.node("Gemm", inputs + given, f"{output}/sum" if tanh else output)
    if tanh:
        graph.node("Tanh", [x], output)


def _flatten(graph: _Graph, layer: Layer, output: str, inputs: list[str], arrays: list[np.ndarray]) -> None:
    x = graph.node("Transpose", inputs, f"{output}/points", perm=TO_BACK)
    graph.node("Flatten", [x], output)


def _reshape(graph: _Graph, layer: Layer, output: str, inputs: list[str], arrays: list[np.ndarray]) -> None:
    """Add [B, ...] with `layer.shape`, of which a board with one row and column, or one filter, keeps its order."""
    shape = layer.shape if len(layer.shape) < 3 else (layer.shape[2], *layer.shape[:2])
    wanted = graph.constant(f"{layer.name}/shape", np.array([-1, *shape], np.int64))
    graph.node("Reshape", [*inputs, wanted], output)


def _one(operator: str, **attributes: int | Sequence[int]) -> _Make:
    """Return a layer that is one operator."""
    return lambda graph, layer, output, inputs, arrays: graph.node(operator, inputs, output, **attributes)


_MAKE: dict[str, _Make] = {
    "cast": _cast,
    "with_ones": _with_ones,
    "scaled": _scaled,
    "conv": _conv,
    "normalise": _normalise,
    "relu": _one("Relu"),
    "add": _one("Add"),
    "flatten": _flatten,
    "reshape": _reshape,
    "mean": _one("ReduceMean", axes=(2, 3), keepdims=0),
    "max": _one("ReduceMax", axes=(2, 3), keepdims=0),
    "column_mean": _one("ReduceMean", axes=(1,), keepdims=0),
    "concatenate": _one("Concat", axis=1),
    "dense": _dense,
    "dense_tanh": _dense,
    "identity": _one("Identity"),
}
