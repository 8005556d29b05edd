"""8-bit answers of a residual network, for processors that multiply 8-bit integers fast and bfloat16 not at all.

The convolutions of all blocks but the last compute with 8-bit inputs and kernels; the first convolution, the last block
and the heads stay in floating point. An input's scale is its largest value in positions of random games, a kernel's
that of each filter. A network whose answers change too much stays in floating point altogether.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from game import Game
from network.architecture import Architecture
from network.openvino_graph import core, openvino_graph
from network.predictor import random_positions

POSITIONS = 512
"""Positions of random games: the first half sets the scales, the second judges the answers."""
VALUE_ERROR, SAME_MOVE = 0.03, 0.95
"""Largest mean difference of values, and smallest share of positions with the same best move, that are accepted."""
_LOGGER = logging.getLogger("alphazero.int8")


def find_scales(
    architecture: Architecture, weights: Sequence[np.ndarray], game: Game, options: dict[str, Any]
) -> dict[str, float]:
    """Return {convolution: largest input} of those in 8 bits; none if the answers would change too much."""
    inner = _inner(architecture)
    inputs = {layer.name: layer.inputs[0] for layer in architecture.shown() if layer.name in inner}
    if not inputs:
        return {}
    first, second = np.split(_positions(game), 2)
    outputs = (*architecture.heads[:2], *inputs.values())
    exact = core().compile_model(openvino_graph(architecture, weights, len(first), outputs=outputs), "CPU", options)
    seen = exact([first])
    scales = {name: float(seen[2 + i].max()) for i, name in enumerate(inputs)}
    scales = {name: scale for name, scale in scales.items() if scale > 0}
    value, logits, *_ = (np.array(found) for found in exact([second]).values())
    graph = openvino_graph(architecture, weights, len(second), scales=scales)
    rough = core().compile_model(graph, "CPU", options)([second])
    error = float(np.abs(rough[0] - value).mean())
    same = float((rough[1].argmax(1) == logits.argmax(1)).mean())
    if error <= VALUE_ERROR and same >= SAME_MOVE:
        return scales
    _LOGGER.info("8 bits change the values by %.3f and keep %.0f %% of the moves: not used", error, 100 * same)
    return {}


def _inner(architecture: Architecture) -> set[str]:
    """Return the names of the convolutions of all blocks but the last."""
    blocks = sum(layer.name.startswith("block") and layer.name.endswith("_add") for layer in architecture.layers)
    return {f"block{i}{part}" for i in range(1, blocks) for part in "ab"}


@cache
def _positions(game: Game) -> np.ndarray:
    return random_positions(game, POSITIONS)
