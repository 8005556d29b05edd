"""The training step on TensorFlow: one trace for batches of any size. (JAX compiles one per size, Torch none.)"""

from __future__ import annotations

import numpy as np

from network.keras_import import BACKEND, keras

if BACKEND == "tensorflow":
    import tensorflow as tf


def trace_once(model: keras.Model, planes: np.ndarray, targets: dict[str, np.ndarray]) -> None:
    """Let `train_on_batch` trace a compiled model once; of planes and targets only the shapes and types count.

    Keras itself would trace the first batch's size and then, of another one, any.
    """
    shapes = {name: tf.TensorSpec((None, *a.shape[1:]), a.dtype) for name, a in targets.items()}
    signature = [(tf.TensorSpec((None, *planes.shape[1:]), planes.dtype), shapes)]
    step = tf.function(model.train_step, input_signature=signature, jit_compile=model.jit_compile)
    model.train_function = lambda batches: step(next(batches)[:2])
