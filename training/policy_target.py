"""The policy target that self-play records for a searched root.

References: Wu 2019 (KataGo, arXiv 1902.10565), section 3.2, for forced playouts and their pruning.
"""

from __future__ import annotations

import math

import numpy as np

from compiled import compiled
from search.gumbel import WEIGHT, write_improved
from search.select import exploration, puct_bonus, with_noise
from search.solver import exact_q
from search.solving.proofs import LOSS, UNPROVEN, keeps_proof
from search.solving.solved_endings import ROOT_TRIED
from search.tables import DIRICHLET, GUMBEL

MAX_VISITS = 65534
"""Largest number of visits that a target holds; the next number marks an illegal move."""


@compiled
def write_target(f, puct, t, target):
    """Write the weight of each root move into target, [action_size] uint16; at least one is positive.

    Weights are visits, without those that only forced playouts explain, and only of moves that keep the proven value.
    Playouts are forced under Dirichlet noise alone (`select.select_puct`): without it all visits count.
    After a Gumbel search they are those of its improved policy. If every move loses and the root was proven near the
    end of the game, the network's priors are written: visits from before the proof mean nothing.
    """
    for a in range(target.shape[0]):
        target[a] = 0
    if f.trees[t].noisy == GUMBEL and write_improved(f, t, target):
        return
    root = f.nodes[f.trees[t].root]
    searched = root.proven != LOSS or root.late != ROOT_TRIED
    stop = root.first + root.materialised
    forced = puct.forced_playouts > 0.0 and f.trees[t].noisy == DIRICHLET
    best, most, written = root.first, 0, 0
    for e in range(root.first, stop):
        if f.edges[e].N > most and keeps_proof(f, root, e):
            best, most = e, f.edges[e].N
    for e in range(root.first, stop if searched else root.first):
        edge = f.edges[e]
        if edge.N > 0 and keeps_proof(f, root, e):
            n = edge.N
            if forced and e != best and root.proven == UNPROVEN:
                n = pruned(f, t, puct, e, best)
            target[f.moves[e].action] = min(n, MAX_VISITS)
            written += n
    if written == 0:  # every move tried is proven lost, or all are: take the priors, of the untried moves or of all
        total, temperature = 0.0, f.trees[t].temperature
        for i in range(root.first, root.first + root.count):
            total += f.moves[i].P ** temperature
        scale = WEIGHT / total if temperature != 1.0 else float(WEIGHT)
        for i in range(root.first, root.first + root.count):
            if i >= stop or keeps_proof(f, root, i):
                target[f.moves[i].action] = max(1, int(scale * f.moves[i].P ** temperature + 0.5))


@compiled
def pruned(f, t, puct, e, best):
    """Return a move's visits less those that the noised prior forced, while PUCT without noise prefers the best
    move."""
    root, edge, move = f.nodes[f.trees[t].root], f.edges[e], f.moves[e]
    scale = exploration(puct.cpuct, root.total)
    gap = exact_q(f, best) + puct_bonus(scale, f.moves[best].P, f.edges[best].N) - exact_q(f, e)
    if gap <= 0.0:
        return edge.N
    p = with_noise(puct.epsilon, np.float64(move.P), f.noise[t, move.action])
    deserved = math.ceil(scale * move.P / gap - 1.0)
    forced = math.sqrt(puct.forced_playouts * p * root.total)
    n = max(edge.N - forced, deserved, 0.0)
    return 0 if n <= 1.0 else min(int(n), edge.N)
