"""How the back ends take a training step; and batches that are made while others are trained on."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np

from network.keras_import import BACKEND, gpus, keras

T = TypeVar("T")

if BACKEND == "tensorflow":
    import tensorflow as tf


def prepare_step(model: keras.Model, planes: np.ndarray, targets: dict[str, np.ndarray]) -> None:
    """Let `train_on_batch` of a compiled model take its steps the fast way; JAX's own is (benchmarks/RESULTS.md)."""
    random = len(model.variables) > len(model.weights)  # a trace on Torch would repeat its first numbers
    if BACKEND == "tensorflow":
        trace_once(model, planes, targets)
    elif BACKEND == "torch" and not gpus() and not random:
        from network.torch_step import trace_each_size

        trace_each_size(model)


def trace_once(model: keras.Model, planes: np.ndarray, targets: dict[str, np.ndarray]) -> None:
    """Let `train_on_batch` trace a compiled model once; of planes and targets only the shapes and types count.

    Keras itself would trace the first batch's size and then, of another one, any.
    """
    shapes = {name: tf.TensorSpec((None, *a.shape[1:]), a.dtype) for name, a in targets.items()}
    signature = [(tf.TensorSpec((None, *planes.shape[1:]), planes.dtype), shapes)]
    step = tf.function(model.train_step, input_signature=signature, jit_compile=model.jit_compile)
    model.train_function = lambda batches: step(next(batches)[:2])


def made_ahead(make: Callable[[int], T], count: int) -> Iterator[T]:
    """Yield make(0) .. make(count - 1), each made by another thread while the one before it is used."""
    with ThreadPoolExecutor(1) as pool:
        futures = deque([pool.submit(make, i) for i in range(min(2, count))])
        for i in range(count):
            made = futures.popleft().result()
            if i + 2 < count:
                futures.append(pool.submit(make, i + 2))
            yield made
