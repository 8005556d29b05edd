"""Layers for training on boards of several sizes in one frame: what lies outside a board changes nothing on it.

Each is given `[x, board]` with board [B, rows, columns, 1]: 1 on the board, 0 outside. Outside, x is 0 wherever a
convolution or a mean reads it, as beyond the edge of a board of its own. At evaluation there is one size, no mask, and
the layers of Keras that these stand for.
"""

from __future__ import annotations

from typing import Any

from network.architecture import MEAN_WIDTH, WIDTHS
from network.keras_import import layers, ops


class BoardReLU(layers.Layer):
    """ReLU, and 0 outside the board."""

    supports_masking = True  # of Keras's own masks, which a masked normalisation attaches: they end here

    def compute_mask(self, inputs: Any, previous_mask: Any) -> None:
        """Return no mask of Keras's own."""

    def call(self, inputs: list[Any]) -> Any:
        x, board = inputs
        return ops.relu(x) * ops.cast(board, x.dtype)


class BoardMean(layers.Layer):
    """Mean over the board [B, filters] of x [B, rows, columns, filters] that is 0 outside."""

    def call(self, inputs: list[Any]) -> Any:
        x, board = (ops.cast(each, "float32") for each in inputs)
        return ops.cast(ops.sum(x, axis=(1, 2)) / ops.sum(board, axis=(1, 2)), self.compute_dtype)


class WidthScaling(layers.Layer):
    """A mean over the board [B, filters], times the board's width less the usual one."""

    def call(self, inputs: list[Any]) -> Any:
        x, board = inputs
        width = ops.sqrt(ops.sum(ops.cast(board, "float32"), axis=(1, 2)))
        return x * ops.cast((width - MEAN_WIDTH) / WIDTHS, x.dtype)


class ColumnMean(layers.Layer):
    """Mean over each column's points on the board, [B, columns] of x [B, rows, columns]; 0 for a column outside."""

    def call(self, inputs: list[Any]) -> Any:
        x, board = inputs
        board = ops.cast(board[..., 0], x.dtype)
        return ops.sum(x * board, axis=1) / ops.maximum(ops.sum(board, axis=1), 1.0)
