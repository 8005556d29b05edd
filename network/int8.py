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
from network.openvino_graph import core, openvino_graph
from network.residual_layers import Layers

POSITIONS = 512
"""Positions of random games: the first half sets the scales, the second judges the answers."""
VALUE_ERROR, SAME_MOVE = 0.03, 0.95
"""Largest mean difference of values, and smallest share of positions with the same best move, that are accepted."""
_LOGGER = logging.getLogger("alphazero.int8")


def find_scales(layers: Layers, weights: Sequence[np.ndarray], options: dict[str, Any]) -> dict[str, float]:
    """Return {convolution: largest input} of those in 8 bits; none if the answers would change too much."""
    inputs = {layer.name: layer.inputs[0] for layer in layers.shown() if _inner(layers, layer.name)}
    if not inputs:
        return {}
    first, second = np.split(_positions(layers.game), 2)
    exact = core().compile_model(
        openvino_graph(layers, weights, len(first), outputs=(*layers.heads[:2], *inputs.values())), "CPU", options
    )
    seen = exact([first])
    scales = {name: float(seen[2 + i].max()) for i, name in enumerate(inputs)}
    scales = {name: scale for name, scale in scales.items() if scale > 0}
    value, logits, *_ = (np.array(found) for found in exact([second]).values())
    rough = core().compile_model(openvino_graph(layers, weights, len(second), scales=scales), "CPU", options)([second])
    error = float(np.abs(rough[0] - value).mean())
    same = float((rough[1].argmax(1) == logits.argmax(1)).mean())
    if error <= VALUE_ERROR and same >= SAME_MOVE:
        return scales
    _LOGGER.info("8 bits change the values by %.3f and keep %.0f %% of the moves: not used", error, 100 * same)
    return {}


def _inner(layers: Layers, name: str) -> bool:
    """Return whether a layer is in a block that is not the last."""
    last = len(layers.settings.hidden_cnn_layers) - 1
    return any(name in (f"block{i}a", f"block{i}b") for i in range(1, last))


@cache
def _positions(game: Game) -> np.ndarray:
    """Return planes [POSITIONS, rows, columns, planes] of positions from random games."""
    found: list[np.ndarray] = []
    rng, state = np.random.default_rng(0), game.start()
    while len(found) < POSITIONS:
        found.append(state.planes())
        state = state.takeAction(int(rng.choice(state.allowedActions)))[0]
        if state.isEndGame:
            state = game.start()
    return np.stack(found)
