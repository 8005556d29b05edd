"""What a network keeps, the one of model.py and one of your own; without Keras.

`check_contract` looks at a network's inputs and outputs each time one is made. `faults_of` is the public test: it also
evaluates and trains (`python main.py check GAME --network FILE.py:CLASS`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from config import UserError
from memory import Batch
from network.predictor import TOLERANCE, random_positions

HEADS = "value_head", "policy_head"
"""Outputs that every network has, in this order."""
LARGER, ROUNDING = 10.0, 1e-3
"""Factor of the weights with which a value has to stay in [-1, 1]; what counts as the same number."""


def check_contract(network: Any) -> None:
    """Raise `UserError` with one line unless a `Gen_Model` takes and gives what it should."""
    game, many = network.game, network.config.many_sizes
    name = type(network).__name__
    rows, columns, planes = game.input_shape
    for model, more in ((network.model, many), (network.plain, False)):
        if [tuple(each.shape) for each in model.inputs] != [(None, rows, columns, planes + more)]:
            got = ", ".join(_words(each.shape) for each in model.inputs)
            why = "; for many sizes _build_for_training takes one more plane than _build" if many else ""
            wanted = _words((None, rows, columns, planes + more))
            raise UserError(f"{name}: expected one input, planes {wanted}, got {got}{why}")
        if tuple(model.output_names[:2]) != HEADS:
            got = ", ".join(model.output_names)
            raise UserError(f"{name}: expected the outputs value_head, policy_head and then others, got {got}")
        shapes = {"value_head": (1,), "policy_head": (game.action_size,), "soft_policy_head": (game.action_size,),
                  "ownership_head": (rows, columns, 3)}  # fmt: skip
        for head, output in zip(model.output_names, model.outputs, strict=True):
            shape = (None, *shapes.get(head, output.shape[1:]))
            if tuple(output.shape) != shape:
                raise UserError(f"{name}: expected {head} {_words(shape)}, got {_words(output.shape)}")
    if [w.shape for w in network.model.weights] != [w.shape for w in network.plain.weights]:
        raise UserError(f"{name}: expected the same weights of _build and _build_for_training, got others")


def _words(shape: Any) -> str:
    """Return the shape of a batch in words; B: any number of boards."""
    return f"[{', '.join('B' if size is None else str(size) for size in shape)}]"


def faults_of(network: Any, *, steps: int = 30, seed: int = 0) -> list[str]:
    """Return what is wrong with a network, one line for each fault; empty = none. It is trained on random positions.

    Its evaluations must be numbers, the value in [-1, 1] whatever the weights are, the policy logits and no
    probabilities; a board's must not depend on the others of its batch; those of the predictor that plays must be near
    to Keras's. Training must lower the loss on a few positions.
    """
    from network.choose_predictor import make_predictor

    faults, planes = [], random_positions(network.game, 24, seed)
    value, logits = network.predict(planes)
    if not (np.isfinite(value).all() and np.isfinite(logits).all()):
        faults.append("expected numbers, got some that are not finite")
    if np.abs(value).max() > 1.0:
        faults.append(f"value_head: expected values in [-1, 1], got {value[np.abs(value).argmax()]:.3g}")
    elif (most := _largest_value(network, planes)) > 1.0 + ROUNDING:
        faults.append(f"value_head: expected values in [-1, 1], as of tanh, got {most:.3g} with larger weights")
    if network.game.action_size > 1 and (logits >= 0).all() and np.abs(logits.sum(axis=1) - 1).max() < ROUNDING:
        faults.append("policy_head: expected logits, got probabilities, which add up to 1: leave the softmax out")
    pairs = [("alone and in a batch", [np.concatenate(each) for each in _one_by_one(network, planes)])]
    pairs.append(("by the predictor and by Keras", list(make_predictor(network)(planes))))
    for what, found in pairs:
        for head, ours, theirs, near in zip(HEADS, (value, logits), found, TOLERANCE[network.precision], strict=True):
            if (difference := float(np.abs(ours - theirs).max())) > near:
                faults.append(f"{head}: expected the same {what}, got a difference of {difference:.2g}")
    try:
        losses = [network.fit(lambda step: _lesson(network, planes, seed), steps)["loss"] for _ in range(2)]
    except ArithmeticError as error:
        return [*faults, f"expected training to lower the loss: {error}"]
    if not losses[1] < losses[0]:
        faults.append(f"expected training to lower the loss, got {losses[0]:.4g} and then {losses[1]:.4g}")
    return faults


def _largest_value(network: Any, planes: np.ndarray) -> float:
    """Return the largest absolute value that the network gives when all weights are larger than they are.

    One without tanh, or another bound, stays within [-1, 1] as long as it has learned little.
    """
    weights = network.get_weights()
    try:
        network.set_weights([LARGER * w for w in weights])
        value, _ = network.predict(planes)
    finally:
        network.set_weights(weights)
    return float(np.abs(value[np.isfinite(value)]).max(initial=0.0))


def _one_by_one(network: Any, planes: np.ndarray) -> Any:
    return zip(*(network.predict(each[None]) for each in planes), strict=True)


def _lesson(network: Any, planes: np.ndarray, seed: int) -> Batch:
    """Return a batch of these positions with results and policies drawn at random, the same for the same seed."""
    rng, game, count = np.random.default_rng(seed), network.game, len(planes)
    if network.config.many_sizes:
        planes = np.concatenate([planes, np.ones_like(planes[..., :1])], axis=3)
    policy = rng.dirichlet(np.full(game.action_size, 0.3), count).astype(np.float32)
    owners = rng.integers(-1, 2, (count, *game.grid_shape)).astype(np.int8)
    return Batch(planes, rng.choice([-1.0, 1.0], count).astype(np.float32), policy, owners)
