"""The network as one function of Keras's back end, compiled; the weights are its arguments: a version costs a copy."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from network.keras_import import BACKEND, gpus
from network.predictor import padded

Function = Callable[..., tuple[Any, Any]]
"""f(planes, *weights) -> (value [B, 1], logits): arrays of the back end, with their method or function for numpy."""

TRACING = threading.Lock()
"""Held while Torch traces, which changes its modules for all threads, and while a training step uses them."""


class KerasPredictor:
    """Evaluates with `tf.function` (on a GPU with XLA), `jax.jit` or traced Torch (on a GPU with `torch.compile`)."""

    def __init__(self, model: Any, *, smallest: int = 1) -> None:
        self._shape, self._smallest = model.game.input_shape, smallest
        on_gpu = bool(gpus())
        self.name = f"keras {BACKEND} {'gpu' if on_gpu else 'float32'}"
        compile_for = {"tensorflow": _tensorflow, "jax": _jax, "torch": _torch}[BACKEND]
        self._function, self._array = compile_for(model.inference(), on_gpu)
        self._weights: list[Any] = []

    def load(self, weights: list[np.ndarray]) -> None:
        self._weights = [self._array(w) for w in weights]

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        count = len(planes)
        room = np.zeros((padded(max(count, self._smallest)), *self._shape), np.uint8)
        room[:count] = planes
        value, logits = self._function(self._array(room), *self._weights)
        return np.asarray(value)[:count, 0], np.asarray(logits)[:count]


def _tensorflow(run: Function, on_gpu: bool) -> tuple[Function, Callable[[np.ndarray], Any]]:
    import tensorflow as tf

    return tf.function(run, jit_compile=on_gpu), tf.constant


def _jax(run: Function, on_gpu: bool) -> tuple[Function, Callable[[np.ndarray], Any]]:
    import jax

    return jax.jit(run), jax.device_put


def _torch(run: Function, on_gpu: bool) -> tuple[Function, Callable[[np.ndarray], Any]]:
    """Trace the operations of each batch size, without Keras's own work at each call; on a GPU compile them.

    On a CPU compiling takes a minute a size.
    """
    import torch
    from torch.fx.experimental.proxy_tensor import make_fx

    device = gpus()[0] if on_gpu else "cpu"
    traced: dict[int, Any] = {}

    def trace(planes: Any, *weights: Any) -> None:
        with TRACING, torch.no_grad():  # one at a time: it changes Torch's modules meanwhile, so none is called below
            if len(planes) not in traced:
                operations = make_fx(run)(planes, *weights)
                traced[len(planes)] = torch.compile(operations) if on_gpu else operations.forward

    def function(planes: Any, *weights: Any) -> tuple[Any, Any]:
        if len(planes) not in traced:
            trace(planes, *weights)
        with torch.inference_mode():
            value, logits = traced[len(planes)](planes, *weights)
            return value.cpu(), logits.cpu()

    return function, lambda array: torch.from_numpy(array).to(device)
