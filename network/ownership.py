"""A network's own prediction of who will own each point, from the head that `ownership_weight` trains."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

from network.stored_network import layers_of

HEAD = "ownership_head"
Ownership = Callable[[np.ndarray], np.ndarray]
"""planes [B, rows, columns, planes] -> [B, rows, columns] in [-1, 1], 1 = the player to move."""


def ownership_of(model: Any) -> Ownership | None:
    """Return a network's ownership head, computed by OpenVINO; None if it has none, or OpenVINO is not installed."""
    architecture = layers_of(model) if hasattr(model, "config") else None
    if architecture is None or HEAD not in architecture.heads or find_spec("openvino") is None:
        return None
    from network.openvino_graph import core, openvino_graph

    compiled = core().compile_model(openvino_graph(architecture, model.get_weights(), outputs=(HEAD,)), "CPU")

    def owned(planes: np.ndarray) -> np.ndarray:
        return expected_owners(np.moveaxis(np.asarray(compiled(planes)[0], np.float64), 1, -1))

    return owned


def expected_owners(logits: np.ndarray) -> np.ndarray:
    """Return the ownership [...] in [-1, 1] of logits [..., 3]: the other's, nobody's, own."""
    odds = np.exp(logits - logits.max(axis=-1, keepdims=True))
    found: np.ndarray = (odds[..., 2] - odds[..., 0]) / odds.sum(axis=-1)
    return found
