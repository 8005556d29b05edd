"""The training step on JAX: Keras' own as one compiled function, without its work around each step.

`train_on_batch` takes each variable out of Keras with checks before a step, and puts it back with more after it. With a
small network, and on a GPU, that takes longer than the step itself (benchmarks/RESULTS.md).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax import numpy as jnp

from network.keras_import import keras


def jax_step(model: keras.Model) -> Callable[[np.ndarray, dict[str, np.ndarray]], dict[str, float]]:
    """Return step(planes, targets) -> {loss: its mean over the batch, before the step} of a compiled model."""
    variables = [model.trainable_variables, model.non_trainable_variables, model.optimizer.variables]

    def names(targets: dict[str, Any]) -> list[str]:
        return ["loss", *sorted(f"{name}_loss" for name in targets)]

    def changed(state: Any, planes: Any, targets: dict[str, Any]) -> Any:
        sums = [jnp.zeros(each.shape, each.dtype) for each in model.metrics_variables]
        logs, new = model.train_step((*state, sums), (planes, targets, None))
        return list(new[:3]), jnp.stack([logs[name] for name in names(targets)])

    compiled = jax.jit(changed, donate_argnums=0)

    def step(planes: np.ndarray, targets: dict[str, np.ndarray]) -> dict[str, float]:
        new, losses = compiled([[variable.value for variable in each] for each in variables], planes, targets)
        for each, values in zip(variables, new, strict=True):
            for variable, value in zip(each, values, strict=True):
                variable._direct_assign(value)  # `assign` would convert and check it
        return dict(zip(names(targets), map(float, np.asarray(losses)), strict=True))

    return step
