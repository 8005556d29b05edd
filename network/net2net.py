"""A larger network with the outputs of a smaller one: more filters, further blocks.

In the spirit of Net2Net (Chen, Goodfellow, Shlens 2016): the function is preserved. New filters start at random, with
outgoing weights of zero to the old filters; a further block, after the old ones, starts as the identity.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Named = Sequence[tuple[str, np.ndarray]]
"""(name, weights) of a network, in the order of its layers."""


def holds(larger: Sequence[tuple[int, int]], smaller: Sequence[tuple[int, int]]) -> bool:
    """Return whether a larger tower can contain a smaller one; towers: (filters, kernel size) of each entry.

    >>> holds([(96, 3), (96, 3), (96, 3)], [(64, 3), (64, 3)]), holds([(96, 5)], [(64, 3)])
    (True, False)
    """
    pairs = zip(larger, smaller, strict=False)
    return len(larger) >= len(smaller) and all(a[0] >= b[0] and a[1] == b[1] for a, b in pairs)


def enlarged(smaller: Named, fresh: Named) -> list[np.ndarray]:
    """Return the weights of the larger network `fresh`, changed so that its outputs are those of `smaller`.

    The tower of `fresh` must hold the smaller one (see `holds`), residual branches must start at zero, heads must be
    alike.
    """
    known = dict(smaller)
    return [_placed(name, known[name], start) if name in known else start for name, start in fresh]


def _placed(name: str, old: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Return `start` with `old` in it; what a block pools over the board (`many_sizes`) has three parts, all padded."""
    if not (name.startswith("block") and name.endswith("_bias/kernel")):
        return _padded(old, start)
    return np.concatenate([_padded(*parts) for parts in zip(np.split(old, 3), np.split(start, 3), strict=True)])


def _padded(old: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Return `start` with `old` in it: [out] of a bias, [..., in, out] of a kernel."""
    new = start.copy()
    new[..., : old.shape[-1]] = 0.0
    new[tuple(slice(n) for n in old.shape)] = old
    return new
