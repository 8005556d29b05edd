"""Gumbel search at the root, for few simulations: moves drawn without replacement, then sequential halving.

Reference: Danihelka et al. 2022, "Policy improvement by planning with Gumbel" (ICLR). In sigma, Q runs from 0, lost, to
1, won.
"""

from __future__ import annotations

import math

import numpy as np

from compiled import compiled, inlined
from search.random_numbers import uniform
from search.solver import exact_q
from search.solving.proofs import UNPROVEN, keeps_proof
from search.tables import GUMBEL, materialise_edge

C_VISIT, C_SCALE = 50.0, 1.0
"""Constants of sigma (the paper's values for board games)."""
WEIGHT = 10_000
"""Sum of the weights of a policy target, up to rounding."""


@compiled
def draw_gumbel(f, t, moves):
    """Draw a Gumbel(0) number for each of the root's moves; at most `moves` of them are considered."""
    tree = f.trees[t]
    root = f.nodes[tree.root]
    for e in range(root.first, root.first + root.count):
        f.noise[t, f.moves[e].action] = -math.log(-math.log(uniform(tree) + 1e-18) + 1e-18)
    tree.considered = min(moves, root.count)
    tree.noisy = GUMBEL


@inlined
def visits_due(n, width, sims):
    """Return how many visits a move still considered has before simulation n (from 0) of sequential halving."""
    if width == 1:
        return n
    phases, visits, start = math.ceil(math.log2(width)), 0, 0
    while True:
        each = max(1, int(sims / (phases * width)))
        if n < start + each * width:
            return visits + (n - start) // width
        start += each * width
        visits += each
        width = max(2, width // 2)


@inlined
def sigma(q, most):
    """Return a value as a logit; with more visits it counts for more against the prior."""
    return (C_VISIT + most) * C_SCALE * 0.5 * (1.0 + min(max(q, -1.0), 1.0))


@inlined
def most_visits(f, node):
    most = 0
    for e in range(node.first, node.first + node.materialised):
        most = max(most, f.edges[e].N)
    return most


@inlined
def gumbel_score(f, t, e, most):
    """Return g + logit of the prior + sigma(Q) of a materialised edge of the root; without a visit sigma(Q) is 0."""
    edge = f.edges[e]
    known = sigma(exact_q(f, e), most) if edge.N > 0 else 0.0
    return f.noise[t, f.moves[e].action] + math.log(f.moves[e].P + 1e-30) + known


@inlined
def select_gumbel(f, t):
    """Return the root's edge for the next simulation, materialised: the best score among the moves with the due visits.

    If there is none (moves were proven to lose in between), the best score among the moves not proven to lose.
    """
    tree = f.trees[t]
    node = f.nodes[tree.root]
    considered = min(tree.considered, node.count)  # a root that was solved in part has left out the moves that lose
    due, most = visits_due(node.total, considered, tree.budget), most_visits(f, node)
    best, best_e, other, other_e = -1e300, np.int64(-1), -1e300, np.int64(-1)
    for e in range(node.first, node.first + node.materialised):
        edge = f.edges[e]
        if keeps_proof(f, node, e):
            score = gumbel_score(f, t, e, most)
            if edge.N == due and score > best:
                best, best_e = score, np.int64(e)
            if score > other:
                other, other_e = score, np.int64(e)
    if due == 0 or other_e < 0:
        for e in range(node.first + node.materialised, node.first + node.count):
            score = f.noise[t, f.moves[e].action] + math.log(f.moves[e].P + 1e-30)
            if score > best:
                best, best_e = score, np.int64(e)
        if best_e >= node.first + node.materialised:
            return materialise_edge(f, node, best_e)
    return best_e if best_e >= 0 else other_e


@compiled
def choose_gumbel(f, t):
    """Return the root's edge to play: the best score among the most visited edges that keep the proof; -1 = none."""
    node = f.nodes[f.trees[t].root]
    most, top = most_visits(f, node), 0
    for e in range(node.first, node.first + node.materialised):
        if keeps_proof(f, node, e):
            top = max(top, f.edges[e].N)
    best, best_e = -1e300, np.int64(-1)
    for e in range(node.first, node.first + node.materialised):
        if f.edges[e].N == top and top > 0 and keeps_proof(f, node, e):
            score = gumbel_score(f, t, e, most)
            if score > best:
                best, best_e = score, np.int64(e)
    return best_e


@compiled
def improve(f, t):
    """Write the root's improved policy, softmax(logits + sigma(completed Q)), into f.odds; return its value.

    The Q of an unvisited move is the mean of the network's value and of the visited moves' Q, weighted by their priors.
    The value is that of a move drawn from the policy. It stands in the place of the visits' mean, which PUCT's visits
    to good moves bring near the value of the position: sequential halving visits 16 moves alike, most of them bad. With
    no move to draw from, all odds are 0.
    """
    node = f.nodes[f.trees[t].root]
    most, materialised = most_visits(f, node), node.first + node.materialised
    prior, weighted = 0.0, 0.0
    for e in range(node.first, materialised):
        edge = f.edges[e]
        if edge.N > 0:
            prior += f.moves[e].P
            weighted += f.moves[e].P * min(max(exact_q(f, e), -1.0), 1.0)
    mixed = np.float64(node.value)
    if prior > 0.0:
        mixed = (mixed + node.total * weighted / prior) / (1.0 + node.total)
    top = -1e300
    for i in range(node.count):
        e = node.first + i
        f.odds[i] = -1e300
        if e >= materialised:
            if node.proven == UNPROVEN:
                f.odds[i] = math.log(f.moves[e].P + 1e-30) + sigma(mixed, most)
        elif keeps_proof(f, node, e):
            q = exact_q(f, e) if f.edges[e].N > 0 else mixed
            f.odds[i] = math.log(f.moves[e].P + 1e-30) + sigma(q, most)
        top = max(top, f.odds[i])
    total, value = 0.0, 0.0
    for i in range(node.count):
        e = node.first + i
        f.odds[i] = math.exp(max(f.odds[i] - top, -700.0)) if f.odds[i] > -1e300 else 0.0
        q = min(max(exact_q(f, e), -1.0), 1.0) if e < materialised and f.edges[e].N > 0 else mixed
        total += f.odds[i]
        value += f.odds[i] * q
    if total == 0.0:
        return mixed
    for i in range(node.count):
        f.odds[i] /= total
    return value / total


@compiled
def write_improved(f, t, target):
    """Write the improved policy as whole numbers into `target`; return whether any is positive."""
    improve(f, t)
    node = f.nodes[f.trees[t].root]
    written = 0.0
    for i in range(node.count):
        target[f.moves[node.first + i].action] = int(WEIGHT * f.odds[i] + 0.5)
        written += f.odds[i]
    return written > 0.0
