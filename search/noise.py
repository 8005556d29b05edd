"""Exploration at the root in self-play: Dirichlet noise mixed with the priors, and a temperature of the priors.

References: Silver et al. 2017 (AlphaGo Zero, "AGZ"), Wu 2019 (KataGo, arXiv 1902.10565).
"""

from __future__ import annotations

import math

import numpy as np

from compiled import compiled
from search.random_numbers import log_gamma
from search.tables import DIRICHLET


@compiled
def draw_noise(f, t, alpha):
    """Draw Dirichlet noise over the root's edges (AGZ, Methods); alpha <= 0: 10.83 / number of edges (KataGo)."""
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
    """Set the root priors to ~ P^(1 / temperature); above 1 they become flatter (KataGo's root policy temperature)."""
    root, power = f.nodes[f.trees[t].root], 1.0 / f.trees[t].temperature
    total = 0.0
    for e in range(root.first, root.first + root.count):
        total += f.moves[e].P ** power
    for e in range(root.first, root.first + root.count):
        f.moves[e].P = f.moves[e].P ** power / total
