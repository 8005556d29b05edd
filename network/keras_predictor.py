"""The network as one function of Keras's back end, compiled; the weights are its arguments: a version costs a copy."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np

from network.keras_import import BACKEND, gpus
from network.predictor import padded

Function = Callable[..., tuple[Any, Any]]
"""f(planes, *weights) -> (value [B, 1], logits): arrays of the back end, with their method or function for numpy."""

TRACING = threading.Lock()
"""Held while Torch traces, which changes its modules for all threads, and while a training step uses them."""
LAUNCHING = threading.Lock()
"""Held while Torch traces, and while a function that it compiled for a GPU is launched: the two exclude each other."""


class KerasPredictor:
    """Evaluates with `tf.function` (on a GPU with XLA), `jax.jit` or traced Torch (on a GPU with `torch.compile`).

    gpu: index of the GPU, where there are several.
    """

    def __init__(self, model: Any, *, smallest: int = 1, gpu: int = 0) -> None:
        self._shape, self._smallest = model.game.input_shape, smallest
        found = gpus()
        self.on_device = bool(found)
        self.name = f"keras {BACKEND} {'gpu' if found else 'float32'}"
        compile_for = {"tensorflow": _tensorflow, "jax": _jax, "torch": _torch}[BACKEND]
        self._function, self._array = compile_for(model.inference(), gpu if found else None)
        self._new_planes = _pinned if BACKEND == "torch" and found else _zeros
        self._weights: list[Any] = []
        self._mine = threading.local()
        """The calling thread's planes, by batch size: used again, so that no call has to make memory known to a GPU."""

    def load(self, weights: list[np.ndarray]) -> None:
        self._weights = [self._array(w) for w in weights]

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        count = len(planes)
        room = self._planes(padded(max(count, self._smallest)))
        room[:count] = planes  # further rows are of an earlier call; nobody reads their answers
        value, logits = self._function(self._array(room), *self._weights)
        return np.asarray(value)[:count, 0], np.asarray(logits)[:count]

    def _planes(self, size: int) -> np.ndarray:
        """Return the calling thread's array for a batch size; its last answers have been fetched, so it is free."""
        mine: Any = self._mine.__dict__
        if size not in mine:
            mine[size] = self._new_planes((size, *self._shape))
        planes: np.ndarray = mine[size]
        return planes


def _zeros(shape: tuple[int, ...]) -> np.ndarray:
    return np.zeros(shape, np.uint8)


def _pinned(shape: tuple[int, ...]) -> np.ndarray:
    """Return zeros in memory that a GPU copies from directly, if it is one that does."""
    import torch

    planes: np.ndarray = torch.zeros(shape, dtype=torch.uint8, pin_memory=torch.cuda.is_available()).numpy()
    return planes


def _tensorflow(run: Function, gpu: int | None) -> tuple[Function, Callable[[np.ndarray], Any]]:
    import tensorflow as tf

    if gpu is None:
        return tf.function(run), tf.constant
    compiled = tf.function(run, jit_compile=True)

    def function(*arrays: Any) -> tuple[Any, Any]:
        with tf.device(f"/GPU:{gpu}"):
            return compiled(*arrays)

    def array(values: np.ndarray) -> Any:
        with tf.device(f"/GPU:{gpu}"):
            return tf.constant(values)

    return function, array


def _jax(run: Function, gpu: int | None) -> tuple[Function, Callable[[np.ndarray], Any]]:
    import jax

    device = None if gpu is None else jax.devices()[gpu]
    return jax.jit(run), lambda array: jax.device_put(array, device)


def _torch(run: Function, gpu: int | None) -> tuple[Function, Callable[[np.ndarray], Any]]:
    """Trace the operations of each batch size, without Keras's own work at each call; on a GPU compile them.

    On a CPU compiling takes a minute a size. Keras has one GPU with Torch.
    """
    import torch
    from torch.fx.experimental.proxy_tensor import make_fx

    device = "cpu" if gpu is None else gpus()[0]
    traced: dict[int, Any] = {}

    def trace(planes: Any, *weights: Any) -> None:
        with TRACING, LAUNCHING, torch.no_grad():  # it changes Torch's modules meanwhile, so none is called below
            if len(planes) in traced:
                return
            operations: Any = make_fx(run)(planes, *weights)
            if gpu is not None:
                operations = torch.compile(operations)
                with torch.inference_mode():
                    operations(planes, *weights)  # compiles
            traced[len(planes)] = operations if gpu is not None else operations.forward

    def function(planes: Any, *weights: Any) -> tuple[Any, Any]:
        if len(planes) not in traced:
            trace(planes, *weights)
        with torch.inference_mode():
            with LAUNCHING if gpu is not None else nullcontext():
                value, logits = traced[len(planes)](planes, *weights)
            if value.is_cuda:  # else the thread would wait for the GPU by spinning, on a core that the search needs
                done = torch.cuda.Event(blocking=True)
                done.record()
                done.synchronize()
            return value.cpu(), logits.cpu()

    return function, lambda array: torch.from_numpy(array).to(device, non_blocking=True)
