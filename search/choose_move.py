"""Chooses the move to play: drawn from the visits of a searched root with a temperature, or the most visited.

Reference: Silver et al. 2017 (AlphaGo Zero), Methods, "Play".
"""

from __future__ import annotations

import numpy as np

from compiled import compiled
from search.random_numbers import uniform
from search.solving.proofs import keeps_proof
from search.tables import EXPANDED


@compiled
def choose(f, t, tau):
    """Return an edge of the root drawn with probability ~ N^(1/tau); tau = 0: most visited, ties at random.

    Moves proven to be worse than others are left out. Without visits, priors are used in place of N; without priors,
    every move is equally likely.
    """
    root = f.nodes[f.trees[t].root]
    by_prior, stop, top = False, root.first + root.materialised, 0.0
    for e in range(root.first, stop):
        top = max(top, worth(f, root, e, by_prior))
    if top == 0.0:
        by_prior, stop = True, root.first + (root.count if root.status == EXPANDED else 0)
        for e in range(root.first, stop):
            top = max(top, worth(f, root, e, by_prior))
    if top == 0.0:
        return any_move(f, t)
    total = 0.0
    for e in range(root.first, stop):
        total += weight(worth(f, root, e, by_prior), top, tau)
    x, last = uniform(f.trees[t]) * total, np.int64(root.first)
    for e in range(root.first, stop):
        w = weight(worth(f, root, e, by_prior), top, tau)
        if w > 0.0:
            last = np.int64(e)
            x -= w
            if x < 0.0:
                return last
    return last


@compiled
def any_move(f, t):
    """Return a uniformly random edge of the root; edges proven to be worse than others only where all are."""
    root, left = f.nodes[f.trees[t].root], 0
    for e in range(root.first, root.first + root.count):
        left += e >= root.first + root.materialised or keeps_proof(f, root, e)
    x = np.int64(uniform(f.trees[t]) * (left if left > 0 else root.count))
    for e in range(root.first, root.first + root.count):
        if left == 0 or e >= root.first + root.materialised or keeps_proof(f, root, e):
            if x == 0:
                return np.int64(e)
            x -= 1
    return np.int64(root.first)


@compiled
def worth(f, root, e, by_prior):
    """Return N of a root's edge, or its prior; 0 if the edge is proven to be worse than others."""
    if e < root.first + root.materialised and not keeps_proof(f, root, e):
        return 0.0
    return np.float64(f.moves[e].P) if by_prior else np.float64(f.edges[e].N)


@compiled
def weight(n, top, tau):
    """Return (n / top)^(1/tau), or its limit at tau = 0."""
    if tau == 0.0:
        return 1.0 if n == top else 0.0
    return (n / top) ** (1.0 / tau)
