"""Random numbers of the compiled search: one splitmix64 state per tree, so a tree's draws depend on its seed only."""

from __future__ import annotations

import math

import numpy as np

from compiled import compiled
from games.boards import mix64


@compiled
def random_word(tree):
    """Return the next 64 random bits of a tree."""
    tree.rng = tree.rng + np.uint64(0x9E3779B97F4A7C15)
    return mix64(tree.rng)


@compiled
def uniform(tree):
    """Return the next random number of a tree, in [0, 1)."""
    return (random_word(tree) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@compiled
def log_gamma(tree, alpha):
    """Return the logarithm of a Gamma(alpha, 1) draw (Marsaglia and Tsang 2000).

    The logarithm, because for small alpha the draw itself may be too tiny for a float.
    """
    boost = 0.0
    if alpha < 1.0:
        boost = math.log(1.0 - uniform(tree)) / alpha
        alpha += 1.0
    d = alpha - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = math.sqrt(-2.0 * math.log(1.0 - uniform(tree))) * math.cos(2.0 * math.pi * uniform(tree))
        v = (1.0 + c * x) ** 3
        if v > 0.0 and math.log(1.0 - uniform(tree)) < 0.5 * x * x + d - d * v + d * math.log(v):
            return boost + math.log(d * v)
