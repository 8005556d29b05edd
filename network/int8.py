"""8-bit answers of a residual network, faster than those in bfloat16.

The convolutions of the blocks compute with 8-bit inputs and kernels; the first convolution and the heads stay in
floating point. An input's scale is its largest value in positions that the network's own games reach, a kernel's that
of each filter. A network whose answers change too much stays in floating point altogether.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from game import Game, GameState
from network.architecture import Architecture
from network.openvino_graph import core, openvino_graph

GAMES, MOVES = 64, 8
"""Games that are played at once, and the moves of each: the positions of every second one set the scales, the others
judge."""
OPENING = 16
"""Most random moves before these."""
VALUE_ERROR, SAME_MOVE, DIVERGENCE = 0.03, 0.9, 0.02
"""What is accepted: the mean difference of values, the share of positions with the same best move, and the mean
divergence of the policies (Kullback and Leibler 1951), in nats."""
_LOGGER = logging.getLogger("alphazero.int8")


class Answers(NamedTuple):
    """What the network says of GAMES positions."""

    planes: np.ndarray
    """[GAMES, rows, columns, planes] uint8"""
    legal: np.ndarray
    """[GAMES, actions] bool"""
    values: np.ndarray
    """[GAMES, 1]"""
    policies: np.ndarray
    """[GAMES, actions]"""
    largest: list[float]
    """The largest input of each convolution that may compute in 8 bits."""


def find_scales(
    architecture: Architecture, weights: Sequence[np.ndarray], game: Game, options: dict[str, Any]
) -> dict[str, float]:
    """Return {convolution: largest input} of those in 8 bits; none if the answers would change too much."""
    layers = [layer for layer in architecture.shown() if layer.kind == "conv" and layer.name.startswith("block")]
    if not layers:
        return {}
    rounded = options["INFERENCE_PRECISION_HINT"] == "bf16"

    def compiled(**more: Any) -> Any:
        graph = openvino_graph(architecture, weights, GAMES, rounded=rounded, **more)
        return core().compile_model(graph, "CPU", options)

    outputs = (*architecture.heads[:2], *(layer.inputs[0] for layer in layers))
    answers = list(_answers(game, compiled(outputs=outputs)))
    if len(answers) < MOVES:
        return {}
    largest = np.max([found.largest for found in answers[::2]], axis=0)
    scales = {layer.name: float(most) for layer, most in zip(layers, largest, strict=True) if most > 0}
    rough = compiled(scales=scales)
    changes = [_changes(found, *rough([found.planes]).values()) for found in answers[1::2]]
    error, same, divergence = np.mean(changes, axis=0)
    if error <= VALUE_ERROR and same >= SAME_MOVE and divergence <= DIVERGENCE:
        return scales
    _LOGGER.warning(
        "8 bits would change values by %.3f and policies by %.3f nats, and keep %.0f %% of the best moves: not used",
        error,
        divergence,
        100 * same,
    )
    return {}


def _answers(game: Game, network: Any) -> Iterator[Answers]:
    """Play GAMES games at once, moves drawn from the network's policy, and yield what it says before each move.

    Ends early where an answer is not finite; whoever plays by this network finds that.
    """
    rng = np.random.default_rng(0)
    states = [_opening(game, rng) for _ in range(GAMES)]
    for _ in range(MOVES):
        planes, legal = np.stack([state.planes() for state in states]), np.zeros((GAMES, game.action_size), bool)
        for i, state in enumerate(states):
            legal[i, state.allowedActions] = True
        values, logits, *inputs = network([planes]).values()
        if not np.isfinite(values).all() or not np.isfinite(logits).all():
            return
        policies = _masked_softmax(logits, legal)
        yield Answers(planes, legal, values.copy(), policies, [float(array.max()) for array in inputs])
        for i, state in enumerate(states):
            state = state.takeAction(int(rng.choice(game.action_size, p=policies[i])))[0]
            states[i] = _opening(game, rng) if state.isEndGame else state


def _opening(game: Game, rng: np.random.Generator) -> GameState:
    """Return a position after random moves that is not the end of a game."""
    while True:
        state = game.start()
        for _ in range(rng.integers(OPENING + 1)):
            if state.isEndGame:
                break
            state = state.takeAction(int(rng.choice(state.allowedActions)))[0]
        if not state.isEndGame:
            return state


def _masked_softmax(logits: np.ndarray, legal: np.ndarray) -> np.ndarray:
    shown = np.where(legal, logits, -np.inf).astype(np.float64)
    weights = np.exp(shown - shown.max(1, keepdims=True))
    policies: np.ndarray = weights / weights.sum(1, keepdims=True)
    return policies


def _changes(exact: Answers, values: np.ndarray, logits: np.ndarray) -> tuple[float, float, float]:
    """Return (mean difference of values, share of the same best move, mean divergence of the policies)."""
    policies = _masked_softmax(logits, exact.legal)
    p, q = np.maximum(exact.policies, 1e-12), np.maximum(policies, 1e-12)
    divergence = (exact.policies * np.log(p / q)).sum(1)
    same = policies.argmax(1) == exact.policies.argmax(1)
    return float(np.abs(values - exact.values).mean()), float(same.mean()), float(divergence.mean())
