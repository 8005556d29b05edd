"""How the back ends take a training step; and batches that are made while others are trained on."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np

from network.keras_import import BACKEND, gpus, keras

T = TypeVar("T")
Step = Callable[[np.ndarray, dict[str, np.ndarray]], dict[str, Any]]
"""Trains on planes and the target of each head; returns {loss: its mean over the batch}."""

if BACKEND == "tensorflow":
    import tensorflow as tf


def training_step(model: keras.Model, planes: np.ndarray, targets: dict[str, np.ndarray]) -> Step:
    """Return the step of a compiled model that is fast on this back end.

    Of the planes and targets given here only the shapes and types count.
    """
    random = len(model.variables) > len(model.weights)  # a trace on Torch would repeat its first numbers
    if BACKEND == "tensorflow":
        trace_once(model, planes, targets)
    elif BACKEND == "torch" and not gpus() and not random:
        from network.torch_step import trace_each_size

        trace_each_size(model)
    elif BACKEND == "jax":
        from network.jax_step import jax_step

        return jax_step(model)
    return keras_step(model)


def keras_step(model: keras.Model) -> Step:
    """Return the step as Keras takes it, with the model's own `train_function` if it has one."""
    return lambda planes, targets: dict(model.train_on_batch(planes, targets, return_dict=True))


def trace_once(model: keras.Model, planes: np.ndarray, targets: dict[str, np.ndarray]) -> None:
    """Let `train_on_batch` trace a compiled model once; of planes and targets only the shapes and types count.

    Keras itself would trace the first batch's size and then, of another one, any.
    """
    shapes = {name: tf.TensorSpec((None, *a.shape[1:]), a.dtype) for name, a in targets.items()}
    signature = [(tf.TensorSpec((None, *planes.shape[1:]), planes.dtype), shapes)]
    step = tf.function(model.train_step, input_signature=signature, jit_compile=model.jit_compile)
    model.train_function = lambda batches: step(next(batches)[:2])


def seed_random_layers(model: keras.Model, seed: int) -> None:
    """Let layers such as Dropout draw what follows from the steps so far, in a resumed run as in any other."""
    weights, steps = {id(weight) for weight in model.weights}, int(model.optimizer.iterations)
    for i, variable in enumerate(model.variables):  # what is no weight is a seed
        if id(variable) not in weights:
            rng = np.random.default_rng([seed, steps, i])
            variable.assign(rng.integers(2**31 - 1, size=variable.shape))
            if BACKEND == "torch":  # where Keras' Dropout draws from Torch's own numbers, unless it has a seed
                import torch

                torch.manual_seed(int(rng.integers(2**31 - 1)))


def made_ahead(make: Callable[[int], T], count: int) -> Iterator[T]:
    """Yield make(0) .. make(count - 1), each made by another thread while the one before it is used."""
    with ThreadPoolExecutor(1) as pool:
        futures = deque([pool.submit(make, i) for i in range(min(2, count))])
        for i in range(count):
            made = futures.popleft().result()
            if i + 2 < count:
                futures.append(pool.submit(make, i + 2))
            yield made
