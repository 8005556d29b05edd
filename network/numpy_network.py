"""A network's layers computed with NumPy in float64: slow, and the definition of what each kind of layer does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from network.architecture import Architecture, Layer

EPSILON = 1e-3
"""Added to the variance in a normalisation, as in Keras."""


def evaluate(
    architecture: Architecture, weights: Sequence[np.ndarray], planes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return (value [B], logits [B, action_size]) for planes [B, rows, columns, planes]."""
    value, logits = outputs(architecture, weights, planes, architecture.heads[:2])
    return value[:, 0], logits


def outputs(
    architecture: Architecture, weights: Sequence[np.ndarray], planes: np.ndarray, heads: Sequence[str]
) -> list[np.ndarray]:
    """Return what each of some heads says of planes [B, rows, columns, planes]."""
    arrays = architecture.arrays([weight.astype(np.float64) for weight in weights])
    found = {"planes": np.asarray(planes, np.float64)}
    for layer in architecture.shown(heads)[1:]:
        found[layer.name] = _output(layer, [found[name] for name in layer.inputs], arrays[layer.name])
    return [found[name] for name in heads]


def _output(layer: Layer, inputs: list[np.ndarray], arrays: list[np.ndarray]) -> Any:
    x = inputs[0]
    match layer.kind:
        case "conv":
            return _convolution(x, arrays[0]) + (arrays[1] if len(arrays) > 1 else 0.0)
        case "normalise":
            gamma, beta, mean, variance = arrays
            return gamma * (x - mean) / np.sqrt(variance + EPSILON) + beta
        case "relu":
            return np.maximum(x, 0.0)
        case "add":
            return x + inputs[1]
        case "flatten" | "reshape":
            return x.reshape(-1, *layer.shape)
        case "with_ones":
            return np.concatenate([x, np.ones_like(x[..., :1])], axis=3)
        case "scaled":
            return x * layer.factor
        case "mean":
            return x.mean(axis=(1, 2))
        case "max":
            return x.max(axis=(1, 2))
        case "column_mean":
            return x.mean(axis=1)
        case "concatenate":
            return np.concatenate(inputs, axis=1)
        case "dense":
            return x @ arrays[0] + arrays[1]
        case "dense_tanh":
            return np.tanh(x @ arrays[0] + arrays[1])
    return x  # cast, identity


def _convolution(x: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """Return x [B, rows, columns, C] convolved with kernel [k, k, C, filters], the same size; the edge is padded."""
    size, rows, columns = kernel.shape[0], *x.shape[1:3]
    before = (size - 1) // 2
    room = np.pad(x, ((0, 0), (before, size - 1 - before), (before, size - 1 - before), (0, 0)))
    found = np.zeros((*x.shape[:3], kernel.shape[3]))
    for i in range(size):
        for j in range(size):
            found += room[:, i : i + rows, j : j + columns] @ kernel[i, j]
    return found
