"""Which move a walk takes: PUCT with a network's priors, UCB1 for rollouts.

An edge's W is for the player who moves along it.
References: Silver et al. 2017 (AlphaGo Zero, "AGZ"), Wu 2019 (KataGo, arXiv 1902.10565).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from compiled import at, inlined
from config import SearchSettings
from search.tables import DRAW, UNPROVEN, materialise_edge

SURE = 1e6
"""Q of a proven win; a proven loss has the negative, so that it is taken only when every other move loses too."""


FORCED = 1e12
"""Score of a move that is owed a visit (forced playouts, KataGo 3.2)."""


class Rule(NamedTuple):
    """Numbers of the selection rule, made by `rule_of`."""

    cpuct: float
    """Weight of exploration: c of PUCT or of UCB1."""
    epsilon: float
    fpu: float
    """Reduction for unvisited moves; negative: they count as 0 (the article)."""
    virtual_loss: float
    """Subtracted from W on the way to a leaf in the air, given back with its answer."""
    ucb: bool = False
    """UCB1 instead of PUCT."""
    prove: bool = False
    """Keep what is proven: won, lost and drawn positions are not searched again (see `simulate.prove`)."""
    forced: float = 0.0
    """k of forced playouts: a visited root move gets at least sqrt(k P sum N) visits while there is noise."""


def rule_of(search: SearchSettings, *, leaves: int = 1, ucb: bool = False) -> Rule:
    """Return the selection rule of a search with up to so many leaves of a tree in the air."""
    return Rule(
        cpuct=float(search.cpuct),
        epsilon=float(search.epsilon),
        fpu=float(search.fpu_reduction),
        virtual_loss=float(leaves > 1),
        ucb=ucb,
        prove=search.proofs,
        forced=float(search.forced_playouts),
    )


@inlined
def known_q(f, e):  # type: ignore[no-untyped-def]
    """Return Q of a visited edge: its mean value, or what is proven of it."""
    proven = at(f.moves, e).proven
    if proven == UNPROVEN:
        return at(f.edges, e).W / at(f.edges, e).N
    return 0.0 if proven == DRAW else proven * SURE


@inlined
def unvisited_q(rule, node, W, is_root, visited_prior):  # type: ignore[no-untyped-def]
    """Return Q for moves not yet visited (first-play urgency; KataGo 3.2 with the reduction 0 at the root)."""
    if rule.fpu < 0.0:
        return 0.0
    q = W / (1.0 + node.total)
    return q if is_root else q - rule.fpu * math.sqrt(visited_prior)


@inlined
def select_puct(f, rule, t, index):  # type: ignore[no-untyped-def]
    """Return the edge with the largest Q + U, of equals the one with the smallest action; it is opened.

    U = cpuct * P * sqrt(1 + sum N) / (1 + N) (AGZ, Methods, with 1 + so that the first descent follows the prior).
    Of the unvisited moves the one with the largest prior is best, and it is among the opened ones unless all of these
    are visited; only noise, at the root, can change that.
    """
    node = at(f.nodes, index)
    if node.count == 1:
        return materialise_edge(f, node, np.int64(node.first))
    tree = at(f.trees, t)
    is_root = index == tree.root
    noisy = is_root and tree.noisy == 1
    eps, forced = (rule.epsilon, rule.forced) if noisy else (0.0, 0.0)
    noise = f.noise[np.uint64(t)]
    scale = rule.cpuct * math.sqrt(1.0 + node.total)
    best, best_e, best_action = -1e300, np.int64(-1), 0
    fresh, fresh_e, fresh_action = -1.0, np.int64(-1), 0
    visited_prior, W = 0.0, np.float64(node.value)
    first = np.int64(node.first)
    materialised, stop = first + node.materialised, first + node.count
    for e in range(first, materialised):
        edge, move = at(f.edges, e), at(f.moves, e)
        p = (1.0 - eps) * move.P + eps * at(noise, move.action) if noisy else np.float64(move.P)
        if edge.N == 0:
            if p > fresh or (p == fresh and move.action < fresh_action):
                fresh, fresh_e, fresh_action = p, np.int64(e), move.action
        else:
            visited_prior += move.P
            W += edge.W
            score = known_q(f, e) + scale * p / (1.0 + edge.N)
            if forced > 0.0 and edge.N * edge.N < forced * p * node.total and move.proven == UNPROVEN:
                score = FORCED
            if score > best or (score == best and move.action < best_action):
                best, best_e, best_action = score, np.int64(e), move.action
    if materialised < stop and (noisy or fresh_e < 0):
        for e in range(materialised, stop):
            move = at(f.moves, e)
            p = (1.0 - eps) * move.P + eps * at(noise, move.action) if noisy else np.float64(move.P)
            if p > fresh or (p == fresh and move.action < fresh_action):
                fresh, fresh_e, fresh_action = p, np.int64(e), move.action
        fresh_e = materialise_edge(f, node, fresh_e)
    if fresh_e >= 0:
        score = unvisited_q(rule, node, W, is_root, visited_prior) + scale * fresh
        if score > best or (score == best and fresh_action < best_action):
            return fresh_e
    return best_e


@inlined
def select_ucb(f, rule, index):  # type: ignore[no-untyped-def]
    """Return the first edge without a visit, else the one with the largest Q + c sqrt(ln(sum N) / N); it is opened.

    UCB1 (Auer et al. 2002) in a tree (Kocsis, Szepesvari 2006). Edges stand in random order, so ties go to chance.
    """
    node = f.nodes[index]
    best, best_e = -1e300, np.int64(-1)
    log_total = math.log(node.total + 1.0)
    for e in range(node.first, node.first + node.materialised):
        edge = f.edges[e]
        if edge.N == 0:
            return np.int64(e)
        score = known_q(f, e)
        if f.moves[e].proven == UNPROVEN:  # what is proven needs no more visits to be known better
            score += rule.cpuct * math.sqrt(log_total / edge.N)
        if score > best:
            best, best_e = score, np.int64(e)
    if node.materialised < node.count:
        return materialise_edge(f, node, np.int64(node.first + node.materialised))
    return best_e


@inlined
def select(f, rule, t, index):  # type: ignore[no-untyped-def]
    """Return the edge to walk along, opened."""
    if rule.ucb:
        return select_ucb(f, rule, index)
    return select_puct(f, rule, t, index)
