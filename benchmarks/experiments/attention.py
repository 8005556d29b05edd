"""The residual network in which every third block attends over the board in place of its convolutions.

A subject of an experiment: `python main.py experiment benchmarks/experiments/attention.toml`. An attention block costs
less than the block that it replaces: on 42 points with 32 filters, 0.37 of its multiplications. Attention between the
points of a board is that of ResTNet (Wu et al. 2024, arXiv 2410.05347) and of Vaswani et al. 2017. Where a point lies
it knows from the convolutions before, which see the board's edge.
"""

from __future__ import annotations

from typing import Any

import keras

from config import layers as layer_sizes
from model import Gen_Model

HEADS = 4
"""Heads of an attention block; each has filters / HEADS channels."""
EVERY = 3
"""Of this many blocks in a row the last one attends."""


class Attention(Gen_Model):
    """Convolution, residual and attention blocks, and the heads of `Residual_CNN`."""

    def _build(self, dtype: str) -> keras.Model:
        settings, (rows, columns) = self.config, self.game.grid_shape
        actions = self.game.action_size

        def conv(
            x: Any, filters: int, size: int, initial: str = "he_normal", kind: str = dtype, name: str | None = None
        ) -> Any:
            layer = keras.layers.Conv2D(
                filters, size, padding="same", kernel_initializer=initial, dtype=kind, name=name
            )
            return layer(x)

        def relu(x: Any) -> Any:
            return keras.layers.ReLU(dtype=dtype)(x)

        def dense(x: Any, units: int, name: str | None = None, activation: str | None = None, kind: str = dtype) -> Any:
            return keras.layers.Dense(units, activation=activation, dtype=kind, name=name)(x)

        def residual(x: Any, filters: int, size: int) -> Any:
            y = conv(relu(conv(x, filters, size)), filters, size, "zeros")
            return relu(keras.layers.Add(dtype=dtype)([x, y]))

        def attention(x: Any, filters: int) -> Any:
            points = keras.layers.Reshape((rows * columns, filters), dtype=dtype)(x)
            q, k, v = (dense(points, filters) for _ in range(3))
            heads = (rows * columns, HEADS, filters // HEADS)
            q, k, v = (
                keras.layers.Permute((2, 1, 3), dtype=dtype)(keras.layers.Reshape(heads, dtype=dtype)(part))
                for part in (q, k, v)
            )
            close = keras.ops.matmul(q, keras.ops.transpose(k, (0, 1, 3, 2))) * (filters // HEADS) ** -0.5
            seen = keras.ops.matmul(keras.ops.softmax(close, axis=-1), v)
            seen = keras.layers.Permute((2, 1, 3), dtype=dtype)(seen)
            seen = keras.layers.Reshape((rows, columns, filters), dtype=dtype)(seen)
            return relu(keras.layers.Add(dtype=dtype)([x, conv(seen, filters, 1, "zeros")]))

        board = keras.Input(self.game.input_shape, dtype="uint8", name="planes")
        first, *blocks = layer_sizes(settings)
        x = relu(conv(keras.layers.Rescaling(1.0, dtype=dtype)(board), *first))
        for number, (filters, size) in enumerate(blocks, 1):
            x = residual(x, filters, size) if number % EVERY else attention(x, filters)
        value = keras.layers.Flatten(dtype=dtype)(relu(conv(x, settings.value_filters, 1)))
        value = dense(relu(dense(value, settings.value_units)), 1, "value_head", "tanh", "float32")
        policy = keras.layers.Flatten(dtype=dtype)(relu(conv(x, settings.policy_filters, 1)))
        outputs = [value, dense(policy, actions, "policy_head", kind="float32")]
        if "soft_policy_head" in self.extra_heads:
            outputs.append(dense(policy, actions, "soft_policy_head", kind="float32"))
        if "ownership_head" in self.extra_heads:
            owners = relu(conv(x, settings.policy_filters, 1))
            outputs.append(conv(owners, 3, 1, "glorot_uniform", "float32", "ownership_head"))
        return keras.Model(board, outputs)
