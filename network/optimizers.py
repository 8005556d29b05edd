"""The optimizers: SGD as in the article, AdamW, and Muon for the residual tower; the running average of the weights.

References: Loshchilov and Hutter 2019 (AdamW); Jordan et al. 2024, "Muon: an optimizer for hidden layers in neural
networks"; Liu et al. 2025 (arXiv 2502.16982) for the size of its steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from config import TrainingSettings
from network.keras_import import keras, ops

CLIP = 5.0
"""Largest norm of one weight's gradient."""
_QUINTIC = 3.4445, -4.7750, 2.0315
"""Coefficients of the Newton-Schulz step (Jordan et al.): steepest at 0, singular values end at 0.7 to 1.2."""


def make_optimizer(training: TrainingSettings) -> keras.optimizers.Optimizer:
    """Return the optimizer named in the settings; its rate is set before each step."""
    if training.optimizer == "sgd":
        # never quite 0, or Keras would keep no momentum: so it can change while a run lives
        return SGD(training.learning_rate, momentum=max(float(training.momentum), 1e-9))
    kind = keras.optimizers.AdamW if training.optimizer == "adamw" else Muon
    optimizer = kind(training.learning_rate, weight_decay=training.weight_decay, clipnorm=CLIP)
    optimizer.exclude_from_weight_decay(var_names=[r"(^|/)(bias|gamma|beta)(:|$)"])
    return optimizer


class SGD(keras.optimizers.SGD):
    """Keras' own. For that very class Keras has another one on Torch, which cannot be traced: its rate is a number."""


def orthogonal(matrix: Any, steps: int = 5) -> Any:
    """Return a [n, m] float32 matrix with the same singular vectors and all singular values near 1 (Newton-Schulz)."""
    a, b, c = _QUINTIC
    tall = matrix.shape[0] > matrix.shape[1]
    x = ops.transpose(matrix) if tall else matrix
    x = x / (ops.norm(x) + 1e-7)
    for _ in range(steps):
        square = ops.matmul(x, ops.transpose(x))
        x = a * x + ops.matmul(b * square + c * ops.matmul(square, square), x)
    return ops.transpose(x) if tall else x


class Muon(keras.optimizers.Optimizer):
    """Steps of equal size in all directions for the kernels of residual convolutions, AdamW for all other weights.

    A kernel [k, k, filters, filters] counts as a matrix [k * k * filters, filters]. Steps have the root mean square of
    AdamW's, so that the same rate and decay suit both (Liu et al.). Keras's own Muon takes matrices only, and would
    leave these kernels to AdamW.
    """

    def __init__(self, learning_rate: float, *, momentum: float = 0.95, **options: Any) -> None:
        super().__init__(learning_rate, name="muon", **options)
        self.momentum = momentum
        self._first: list[Any] = []
        self._second: list[Any] = []

    def build(self, variables: Sequence[Any]) -> None:
        """Create the optimizer's state: each weight's mean gradient, outside the tower also that of its squares."""
        if self.built:
            return
        super().build(variables)
        self._first = [self.add_variable_from_reference(v, name="mean") for v in variables]
        self._second = [None if _in_tower(v) else self.add_variable_from_reference(v, name="square") for v in variables]

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Change one weight."""
        index = self._get_variable_index(variable)
        first, second = self._first[index], self._second[index]
        rate = ops.cast(learning_rate, variable.dtype)
        gradient = ops.cast(gradient, variable.dtype)
        if second is None:
            self.assign(first, self.momentum * first + gradient)
            flat = ops.reshape(gradient + self.momentum * first, (-1, variable.shape[-1]))  # Nesterov momentum
            size = 0.2 * max(flat.shape) ** 0.5
            self.assign_sub(variable, ops.reshape(rate * size * orthogonal(flat), variable.shape))
            return
        step = ops.cast(self.iterations + 1, variable.dtype)
        self.assign(first, 0.9 * first + 0.1 * gradient)
        self.assign(second, 0.999 * second + 0.001 * ops.square(gradient))
        unbiased = ops.sqrt(1.0 - ops.power(0.999, step)) / (1.0 - ops.power(0.9, step))
        self.assign_sub(variable, rate * unbiased * first / (ops.sqrt(second) + 1e-7))


def _in_tower(variable: Any) -> bool:
    """True for a kernel of a residual block: as many filters in as out, but not the first layer, nor one of a head."""
    shape, others = variable.shape, ("conv/", "value_", "policy_", "soft_policy_", "ownership_")
    return len(shape) == 4 and shape[2] == shape[3] and not variable.path.startswith(others)


class WeightAverage:
    """A running average of the weights over the training steps (Polyak and Juditsky 1992).

    The decay grows over a run's first steps, as in TensorFlow's ExponentialMovingAverage; otherwise the random start
    stays in the average for long.
    """

    def __init__(self, decay: float, weights: list[np.ndarray]) -> None:
        self._decay, self.weights = decay, weights

    def update(self, model: keras.Model) -> None:
        """Take the weights after a step into the average."""
        steps = int(model.optimizer.iterations)
        decay = min(self._decay, (1 + steps) / (10 + steps))
        for mean, now in zip(self.weights, model.get_weights(), strict=True):
            mean += (1.0 - decay) * (now - mean)
