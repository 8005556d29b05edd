"""The search's random choices: noise at the root, the move that is played. One splitmix64 state a tree.

References: Silver et al. 2017 (AlphaGo Zero, "AGZ"), Wu 2019 (KataGo, arXiv 1902.10565).
"""

from __future__ import annotations

import math

import numpy as np

from compiled import compiled
from games.boards import mix64
from search.proofs import keeps_proof
from search.tables import DIRICHLET, EXPANDED


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
    """Return the logarithm of a Gamma(alpha, 1) draw (Marsaglia and Tsang 2000): draws of a small alpha may be tiny."""
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


@compiled
def draw_noise(f, t, alpha):
    """Draw Dirichlet noise over the root's edges (AGZ, Methods); alpha <= 0: 10.83 / their number (KataGo)."""
    root = f.nodes[f.trees[t].root]
    a = alpha if alpha > 0.0 else 10.83 / max(root.count, 1)
    most, total = -np.inf, 0.0
    for e in range(root.first, root.first + root.count):
        f.noise[t, f.moves[e].action] = log_gamma(f.trees[t], a)
        most = max(most, f.noise[t, f.moves[e].action])
    for e in range(root.first, root.first + root.count):
        f.noise[t, f.moves[e].action] = math.exp(f.noise[t, f.moves[e].action] - most)
        total += f.noise[t, f.moves[e].action]
    for e in range(root.first, root.first + root.count):
        f.noise[t, f.moves[e].action] /= total
    f.trees[t].noisy = DIRICHLET


@compiled
def apply_root_temperature(f, t):
    """Give the root priors ~ P^(1 / temperature), above 1 less sure of the best (KataGo's root policy temperature)."""
    root, power = f.nodes[f.trees[t].root], 1.0 / f.trees[t].temperature
    total = 0.0
    for e in range(root.first, root.first + root.count):
        total += f.moves[e].P ** power
    for e in range(root.first, root.first + root.count):
        f.moves[e].P = f.moves[e].P ** power / total


@compiled
def choose(f, t, tau):
    """Return an edge of the root drawn with probability ~ N^(1/tau); tau = 0: most visited, ties at random.

    Moves proven to be worse than others are left out. Without a visit priors stand for N; where the network was not
    asked or gives nothing to those left, each move is as likely.
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
    """Return an edge of the root, each as likely; those that are proven to be worse than others only where all are."""
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
    """Return N of a root's edge, or its prior; 0 of one that is proven to be worse than others."""
    if e < root.first + root.materialised and not keeps_proof(f, root, e):
        return 0.0
    return np.float64(f.moves[e].P) if by_prior else np.float64(f.edges[e].N)


@compiled
def weight(n, top, tau):
    """Return (n / top)^(1/tau), its limit at tau = 0."""
    if tau == 0.0:
        return 1.0 if n == top else 0.0
    return (n / top) ** (1.0 / tau)
