"""A stored network as an OpenVINO model, made from its layers and arrays with OpenVINO's own operators.

A user's own network is converted by way of Keras instead, once, with its arrays as inputs.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from compiling.environment import take_over

take_over("ONEDNN_", "DNNL_", "OV_", keep=())  # they change numbers, or what a processor is taken for
# The package would look for a module that sends usage data to its makers, from a forked process.
sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]

import openvino as ov  # noqa: E402
from openvino import opset13 as ops  # noqa: E402

from config import UserError  # noqa: E402
from network.architecture import Architecture, Layer  # noqa: E402
from network.numpy_network import EPSILON  # noqa: E402
from system.reading import MODEL_BYTES, read_limited  # noqa: E402

TO_FRONT, TO_BACK = (0, 3, 1, 2), (0, 2, 3, 1)
"""Boards are [B, rows, columns, filters] in Keras and [B, filters, rows, columns] in OpenVINO."""


def openvino_graph(
    architecture: Architecture,
    weights: Sequence[np.ndarray],
    batch: int = -1,
    *,
    outputs: Sequence[str] = (),
    scales: Mapping[str, float] | None = None,
    rounded: bool = False,
) -> ov.Model:
    """Return the network with these arrays: planes [B, rows, columns, planes] uint8 -> value [B, 1], logits.

    batch: B; -1 for any. outputs: other layers to return, boards with their filters in front. scales: the largest input
    of each convolution that computes in 8 bits. rounded: whether it may be computed in bfloat16.
    """
    arrays = architecture.arrays(weights)
    planes = ops.parameter([batch, *architecture.layers[0].shape], np.uint8, name="planes")
    made = {"planes": planes}
    for layer in architecture.shown(outputs)[1:]:
        inputs, own = [made[name] for name in layer.inputs], arrays[layer.name]
        if scales and layer.name in scales:
            made[layer.name] = _conv_in_8_bits(inputs[0], own, scales[layer.name])
        elif rounded and layer.name == "policy_points":
            made[layer.name] = _exact_sum(inputs[0], own)
        else:
            made[layer.name] = _MAKE[layer.kind](inputs, own, layer)
    results = [ops.result(made[name]) for name in outputs or architecture.heads[:2]]
    for result, label in zip(results, ("value", "logits"), strict=False):
        result.output(0).get_tensor().set_names({label})
    return ov.Model(results, [planes], architecture.name)


def _cast(inputs: list[Any], arrays: list[np.ndarray], layer: Layer) -> Any:
    return ops.transpose(ops.convert(inputs[0], "f32"), np.array(TO_FRONT))


def _with_ones(inputs: list[Any], arrays: list[np.ndarray], layer: Layer) -> Any:
    """Return the planes with one more, of ones."""
    return ops.pad(inputs[0], [0, 0, 0, 0], [0, 1, 0, 0], "constant", np.float32(1.0))


def _conv(inputs: list[Any], arrays: list[np.ndarray], layer: Layer) -> Any:
    return _convolution(inputs[0], ops.constant(_filters_in_front(arrays[0])), arrays[1:])


def _filters_in_front(kernel: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(kernel.transpose(3, 2, 0, 1))


def _convolution(x: Any, kernel: Any, bias: list[np.ndarray]) -> Any:
    x = ops.convolution(x, kernel, [1, 1], [0, 0], [0, 0], [1, 1], "same_upper")
    return ops.add(x, ops.constant(bias[0].reshape(1, -1, 1, 1))) if bias else x


def _exact_sum(x: Any, arrays: list[np.ndarray]) -> Any:
    """Return a 1x1 convolution to one filter, written so that OpenVINO computes it in float32 whatever the precision.

    Its inputs hold what the pooled bias adds to all points alike. That may be a thousand times as large as what
    distinguishes them, and bfloat16 has 8 bits. (OpenVINO rounds the inputs of convolutions, not of sums at the end.)
    """
    weighted = ops.multiply(x, ops.constant(_filters_in_front(arrays[0])))
    return ops.add(ops.reduce_sum(weighted, np.array([1]), True), ops.constant(arrays[1].reshape(1, 1, 1, 1)))


def _conv_in_8_bits(x: Any, arrays: list[np.ndarray], largest: float) -> Any:
    """Return a convolution of inputs in [0, largest] and of kernels, both in steps; OpenVINO makes integers of them."""
    none, most, kernel = np.float32(0), np.float32(largest), _filters_in_front(arrays[0])
    widths = np.maximum(np.abs(kernel).max(axis=(1, 2, 3), keepdims=True), np.float32(1e-9))
    x = ops.fake_quantize(x, none, most, none, most, 256)
    return _convolution(x, ops.fake_quantize(ops.constant(kernel), -widths, widths, -widths, widths, 255), arrays[1:])


def _normalise(inputs: list[Any], arrays: list[np.ndarray], layer: Layer) -> Any:
    return ops.batch_norm_inference(inputs[0], *map(ops.constant, arrays), EPSILON)


def _dense(inputs: list[Any], arrays: list[np.ndarray], layer: Layer) -> Any:
    kernel, bias = ops.constant(arrays[0]), ops.constant(arrays[1][None])
    x = ops.add(ops.matmul(inputs[0], kernel, False, False), bias)
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
    "with_ones": _with_ones,
    "scaled": lambda inputs, arrays, layer: ops.multiply(inputs[0], np.float32(layer.factor)),
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


# ---- users' own networks


def converted(model: Any) -> ov.Model:
    """Return a Keras network's graph with inputs planes, weight 0, weight 1, ... and outputs value [B, 1], logits."""
    if sys.flags.optimize > 1:  # its converter reads its own docstrings
        raise UserError("expected Python with docstrings for OpenVINO: unset PYTHONOPTIMIZE=2 (-OO)")
    import tensorflow as tf
    from openvino.frontend.tensorflow import utils

    utils.exec = lambda text: None  # it deletes a name that it made by exec, which Python 3.13 has not kept
    run = model.inference()
    specs = [tf.TensorSpec((None, *model.game.input_shape), tf.uint8)]
    specs += [tf.TensorSpec(w.shape, tf.float32) for w in model.get_weights()]
    names = ["planes"] + [f"weight{i:04d}" for i in range(len(specs) - 1)]
    named = [tf.TensorSpec(s.shape, s.dtype, name) for s, name in zip(specs, names, strict=True)]

    @tf.function(input_signature=named)
    def function(planes: Any, *weights: Any) -> dict[str, Any]:
        value, logits = run(planes, *weights)
        return {"a_value": value, "b_logits": logits}

    graph = ov.convert_model(function.get_concrete_function())
    parameters = {p.get_friendly_name(): p for p in graph.get_parameters()}
    results = {next(iter(o.get_names())): o.get_node() for o in graph.outputs}
    missing = [n for n in names if n not in parameters]
    if missing or set(results) != {"a_value", "b_logits"}:
        raise RuntimeError(f"OpenVINO renamed the network's inputs or outputs: {missing} {list(results)}")
    return ov.Model([results["a_value"], results["b_logits"]], [parameters[n] for n in names], "network")


def filled_in(graph: ov.Model, weights: Sequence[np.ndarray], batch: int) -> ov.Model:
    """Return a converted graph with arrays in place of its inputs but the planes, for batches of one size."""
    graph = graph.clone()
    planes, *inputs = graph.get_parameters()
    for parameter, weight in zip(inputs, weights, strict=True):
        parameter.output(0).replace(ov.op.Constant(np.ascontiguousarray(weight)).output(0))
        graph.remove_parameter(parameter)
    graph.reshape({planes.output(0): [batch, *list(planes.get_partial_shape())[1:]]})
    return graph


def to_bytes(graph: ov.Model) -> bytes:
    """Return a graph in OpenVINO's format: the length of its XML in 8 bytes, the XML, its constants."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("network.xml", "network.bin")]
        ov.serialize(graph, *paths)
        xml, constants = (read_limited(path, MODEL_BYTES) for path in paths)
    return len(xml).to_bytes(8, "little") + xml + constants


def from_bytes(data: bytes) -> ov.Model:
    """Return the graph that `to_bytes` wrote."""
    end = 8 + int.from_bytes(data[:8], "little")
    return core().read_model(data[8:end], data[end:])


@cache
def _made() -> Any:
    return ov.Core()


_MAKING = threading.Lock()


def core() -> Any:
    """Return OpenVINO, one for the life of the process.

    Its CPU plugin gives the thread that it starts in a stack for signals, and removes that stack when it ends. If it
    ends in another thread, as when Python collects garbage there, the first thread has no such stack left: Ctrl-C would
    crash.
    """
    with _MAKING:
        return _made()
