"""The losses of the heads, [B] for a batch of targets and of what the network gives."""

from __future__ import annotations

from typing import Any

from games.sizes import OUTSIDE
from memory import ILLEGAL
from network.keras_import import keras, ops


def softmax_cross_entropy_with_logits(y_true: Any, y_pred: Any) -> Any:
    """Return the cross-entropy [B] over legal moves only: a gradient for each of them, exactly none for others."""
    legal = y_true > 0.5 * ILLEGAL
    logits = ops.where(legal, ops.cast(y_pred, "float32"), -1e9)
    return -ops.sum(ops.where(legal, y_true * ops.log_softmax(logits), 0.0), axis=-1)


def soft_policy_loss(y_true: Any, y_pred: Any) -> Any:
    """Return the cross-entropy [B] with a policy target's fourth root, scaled to its sum (KataGo, temperature 4)."""
    legal = y_true > 0.5 * ILLEGAL
    roots = ops.where(legal, ops.maximum(y_true, 0.0), 0.0) ** 0.25
    sums = ops.sum(roots, axis=-1, keepdims=True)
    scale = ops.sum(ops.where(legal, y_true, 0.0), axis=-1, keepdims=True) / ops.maximum(sums, 1e-9)
    return softmax_cross_entropy_with_logits(ops.where(legal, roots * scale, ILLEGAL), y_pred)


def ownership_loss(y_true: Any, y_pred: Any) -> Any:
    """Return the cross-entropy [B], mean over points, of owners [B, rows, columns] (-1, 0, 1) with logits [..., 3].

    Points that are OUTSIDE a smaller board, or whose owner is not known, do not count; if there are no others it is 0.
    """
    inside = ops.cast(y_true, "int32") < OUTSIDE
    owners = ops.where(inside, y_true + 1, 0)
    points = keras.losses.sparse_categorical_crossentropy(owners, y_pred, from_logits=True)
    weights = ops.cast(inside, points.dtype)
    return ops.sum(points * weights, axis=(1, 2)) / ops.maximum(ops.sum(weights, axis=(1, 2)), 1.0)
