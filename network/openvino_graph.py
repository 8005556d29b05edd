"""A stored network as an OpenVINO model, made from its layers and arrays with OpenVINO's own operators."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

# The package would look for a module that sends usage data to its makers, from a forked process.
sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]

import openvino as ov  # noqa: E402
from openvino import opset13 as ops  # noqa: E402

from network.numpy_network import EPSILON  # noqa: E402
from network.residual_layers import Layer, Layers  # noqa: E402

TO_FRONT, TO_BACK = (0, 3, 1, 2), (0, 2, 3, 1)
"""Boards are [B, rows, columns, filters] in Keras and [B, filters, rows, columns] in OpenVINO."""


def openvino_graph(layers: Layers, weights: Sequence[np.ndarray], batch: int = -1) -> ov.Model:
    """Return the network with these arrays: planes [B, rows, columns, planes] uint8 -> value [B, 1], logits.

    batch: B; -1 for any.
    """
    arrays: dict[str, list[np.ndarray]] = {}
    for (name, _), array in zip(layers.weights(), weights, strict=True):
        arrays.setdefault(name, []).append(array)
    planes = ops.parameter([batch, *layers.game.input_shape], np.uint8, name="planes")
    made = {"planes": planes}
    for layer in layers.shown()[1:]:
        made[layer.name] = _MAKE[layer.kind]([made[name] for name in layer.inputs], arrays.get(layer.name, []), layer)
    results = [ops.result(made[name], name=label) for name, label in zip(layers.heads, ("value", "logits"), strict=False)]
    for result, label in zip(results, ("value", "logits"), strict=True):
        result.output(0).get_tensor().set_names({label})
    return ov.Model(results, [planes], layers.game.name)


def _cast(inputs: list[Any], arrays: list[np.ndarray], layer: Layer) -> Any:
    return ops.transpose(ops.convert(inputs[0], "f32"), np.array(TO_FRONT))


def _conv(inputs: list[Any], arrays: list[np.ndarray], layer: Layer) -> Any:
    kernel = np.ascontiguousarray(arrays[0].transpose(3, 2, 0, 1))
    x = ops.convolution(inputs[0], kernel, [1, 1], [0, 0], [0, 0], [1, 1], "same_upper")
    return ops.add(x, arrays[1].reshape(1, -1, 1, 1)) if len(arrays) > 1 else x


def _normalise(inputs: list[Any], arrays: list[np.ndarray], layer: Layer) -> Any:
    return ops.batch_norm_inference(inputs[0], *arrays, EPSILON)


def _dense(inputs: list[Any], arrays: list[np.ndarray], layer: Layer) -> Any:
    x = ops.add(ops.matmul(inputs[0], arrays[0], False, False), arrays[1][None])
    return ops.tanh(x) if layer.kind == "dense_tanh" else x


def _flatten(inputs: list[Any], arrays: list[np.ndarray], layer: Layer) -> Any:
    return ops.reshape(ops.transpose(inputs[0], np.array(TO_BACK)), np.array([-1, *layer.shape]), False)


def _reshape(inputs: list[Any], arrays: list[np.ndarray], layer: Layer) -> Any:
    """Return [B, ...] with `layer.shape`, of which a board with one row and column, or one filter, keeps its order."""
    shape = layer.shape if len(layer.shape) < 3 else (layer.shape[2], *layer.shape[:2])
    return ops.reshape(inputs[0], np.array([-1, *shape]), False)


def _over(axes: Sequence[int], reduce: Callable[..., Any]) -> Callable[..., Any]:
    return lambda inputs, arrays, layer: reduce(inputs[0], np.array(axes), False)


_MAKE: dict[str, Callable[[list[Any], list[np.ndarray], Layer], Any]] = {
    "cast": _cast,
    "conv": _conv,
    "normalise": _normalise,
    "relu": lambda inputs, arrays, layer: ops.relu(inputs[0]),
    "add": lambda inputs, arrays, layer: ops.add(*inputs),
    "flatten": _flatten,
    "reshape": _reshape,
    "mean": _over((2, 3), ops.reduce_mean),
    "max": _over((2, 3), ops.reduce_max),
    "column_mean": _over((1,), ops.reduce_mean),
    "concatenate": lambda inputs, arrays, layer: ops.concat(inputs, 1),
    "dense": _dense,
    "dense_tanh": _dense,
    "identity": lambda inputs, arrays, layer: inputs[0],
}
