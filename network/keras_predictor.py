"""The network as one compiled TensorFlow function; the weights are its arguments, so a new version costs a copy."""

from __future__ import annotations

from typing import Any

import numpy as np

from network.keras_import import keras, tf
from network.predictor import padded


class KerasPredictor:
    """Evaluates with `tf.function`, on a GPU with XLA."""

    def __init__(self, model: Any, *, smallest: int = 1) -> None:
        self._shape, self._smallest = model.game.input_shape, smallest
        on_gpu = bool(keras.distribution.list_devices("gpu"))
        self.name = f"keras {'gpu' if on_gpu else 'float32'}"
        self._function = tf.function(model.inference(), jit_compile=on_gpu)
        self._weights: list[tf.Tensor] = []

    def load(self, weights: list[np.ndarray]) -> None:
        self._weights = [tf.constant(w) for w in weights]

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        count = len(planes)
        room = np.zeros((padded(max(count, self._smallest)), *self._shape), np.uint8)
        room[:count] = planes
        value, logits = self._function(tf.constant(room), *self._weights)
        return value.numpy()[:count, 0], logits.numpy()[:count]
