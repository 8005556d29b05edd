"""Training on a CPU with the boards of a batch side by side, column by column: the same numbers in less time.

A processor multiplies bfloat16 in tiles of 32. In the gradient of a kernel the sum runs along a line of the image, and
a board has lines of 7 or 9 points, so most of each tile is empty. Here n boards make one image [rows, n * columns]. Its
columns are the first column of every board, then the second of every board, and so on. A convolution with a dilation of
n then computes on each board alone, edges included (TensorFlow's batch_to_space, in the other direction).
Only on TensorFlow; with JAX or Torch an image has one board.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

from network.keras_import import BACKEND, layers, ops

if BACKEND == "tensorflow":
    import tensorflow as tf

MAX_BOARDS = 32
"""Boards side by side, at most."""
WIDE = 15
"""A board with at least this many columns fills the tiles well enough by itself."""


def boards_side_by_side(batch: int, columns: int, kernels: Sequence[int]) -> int:
    """Return how many boards of a training batch make an image: 1 where more is impossible or no faster."""
    odd = all(kernel % 2 for kernel in kernels)  # an even kernel has more padding on one side
    return math.gcd(batch, MAX_BOARDS) if odd and columns < WIDE and _dilates() else 1


@cache
def _dilates() -> bool:
    """True where there are gradients of dilated convolutions in bfloat16: TensorFlow on a CPU, only with oneDNN."""
    if BACKEND != "tensorflow" or tf.config.list_physical_devices("GPU"):
        return False

    @tf.function
    def slope(x: Any, kernel: Any) -> Any:
        y = tf.nn.conv2d(x, kernel, 1, "SAME", dilations=[1, 2])
        return tf.gradients(tf.reduce_sum(y * y), kernel)[0]

    try:
        found = slope(tf.ones((2, 3, 6, 16), tf.bfloat16), tf.ones((3, 3, 16, 16), tf.bfloat16))
        return bool(tf.reduce_all(tf.math.is_finite(tf.cast(found, tf.float32))))
    except tf.errors.OpError:  # no such kernel here, as without oneDNN: boards are then trained on one by one
        return False


class _Boards(layers.Layer):
    """A layer that knows how many boards make an image."""

    def __init__(self, boards: int, **options: Any) -> None:
        super().__init__(**options)
        self.boards = boards


class Interleave(_Boards):
    """Planes [B, rows, columns, C] -> [B / n, rows, n * columns, C]; an image has every (B / n)th board."""

    def call(self, x: Any) -> Any:
        return tf.batch_to_space(x, [1, self.boards], [[0, 0], [0, 0]])  # oneDNN complains about transposed uint8

    def compute_output_shape(self, shape: tuple[int | None, ...]) -> tuple[int | None, ...]:
        batch, rows, columns, filters = shape
        return batch and batch // self.boards, rows, columns and columns * self.boards, filters


class Separate(_Boards):
    """The inverse: [B / n, rows, n * columns, C] -> [B, rows, columns, C]."""

    def call(self, x: Any) -> Any:
        rows, wide, filters = x.shape[1:]
        columns = wide // self.boards
        x = ops.transpose(ops.reshape(x, (-1, rows, columns, self.boards, filters)), (3, 0, 1, 2, 4))
        return ops.reshape(x, (-1, rows, columns, filters))


class DilatedConv2D(layers.Conv2D):
    """A convolution of each of n interleaved boards. (Keras' own dilation would separate and join them every time.)"""

    def __init__(self, *args: Any, boards: int, **options: Any) -> None:
        super().__init__(*args, **options)
        self.boards = boards

    def convolution_op(self, inputs: Any, kernel: Any) -> Any:
        return tf.nn.conv2d(inputs, kernel, 1, "SAME", dilations=[1, self.boards])
