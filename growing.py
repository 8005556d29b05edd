"""A larger network that answers as a smaller one did: more filters, more blocks (Net2Net, Chen et al. 2016).

What was learned stays where it was. What is new hears the old from the first step on and is heard only when training
gives it weight: nothing that was there has a weight for a new filter, and a new block adds nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from config import UserError

Named = Sequence[tuple[str, np.ndarray]]
"""(name, weights) of a network, in the order of its layers."""


def enlarged(smaller: Named, fresh: Named) -> list[np.ndarray]:
    """Return the weights of the larger network `fresh`, changed so that it answers as `smaller`.

    Residual branches of `fresh` must start at zero. Raises `UserError` when a kernel of `smaller` does not fit.
    """
    known, weights = dict(smaller), []
    for name, start in fresh:
        old = known.pop(name, None)
        weights.append(start if old is None else _padded(name, old, start))
    if known:
        raise UserError(f"a network grows by filters and blocks: expected a place for {next(iter(known))}, got none")
    return weights


def _padded(name: str, old: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Return `start` with `old` in it: [out] of a bias, [..., in, out] of a kernel."""
    fits = old.ndim == start.ndim and all(a <= b for a, b in zip(old.shape, start.shape, strict=True))
    if not fits or old.shape[:-2] != start.shape[:-2]:
        raise UserError(f"a network grows by filters and blocks: {name} is {old.shape}, got {start.shape} to hold it")
    new = start.copy()
    new[..., : old.shape[-1]] = 0.0
    new[tuple(slice(n) for n in old.shape)] = old
    return new
