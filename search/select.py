"""Selects the move of a simulation: PUCT with a network's priors, UCB1 for rollouts.

An edge's W is for the player who moves along it.
References: Silver et al. 2017 (AlphaGo Zero, "AGZ"), Wu 2019 (KataGo, arXiv 1902.10565).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from compiled import at, inlined
from compiling.records import record
from config import SearchSettings
from search import solver
from search.tables import DIRICHLET, materialise_edge

FORCED = 1e12
"""Score of a move that is owed a visit (forced playouts, KataGo 3.2)."""


@record
class Puct(NamedTuple):
    """Parameters of PUCT, the rule that selects a move, made by `puct_of`."""

    cpuct: float
    """Weight of exploration: c of PUCT or of UCB1."""
    epsilon: float
    fpu: float
    """Reduction for unvisited moves; negative: their Q is 0 (the article)."""
    virtual_loss: float
    """Subtracted from W on the path to a leaf that waits for the network, added back in the backup."""
    ucb: bool = False
    """UCB1 instead of PUCT."""
    forced_playouts: float = 0.0
    """k: with noise, a visited root move gets at least sqrt(k P sum N) visits."""


class Best(NamedTuple):
    """The best edge so far."""

    score: float
    """Q + U of a visited move, the prior of an unvisited one."""
    edge: int
    """-1: none."""


def puct_of(search: SearchSettings, *, leaves: int = 1, ucb: bool = False) -> Puct:
    """Return the selection rule of a search with up to `leaves` leaves per tree waiting for the network."""
    return Puct(
        cpuct=float(search.cpuct),
        epsilon=float(search.epsilon),
        fpu=float(search.fpu_reduction),
        virtual_loss=float(leaves > 1),
        ucb=ucb,
        forced_playouts=float(search.forced_playouts),
    )


@inlined
def unvisited_q(puct, node, W, is_root, visited_prior):
    """Return Q of unvisited moves (first-play urgency; KataGo 3.2 with the reduction 0 at the root)."""
    if puct.fpu < 0.0:
        return 0.0
    q = W / (1.0 + node.total)
    return q if is_root else q - puct.fpu * math.sqrt(visited_prior)


@inlined
def exploration(cpuct, total):
    """Return cpuct * sqrt(1 + sum N), the part of U that all moves of a node share (AGZ, Methods).

    The paper has sqrt(sum N); with 1 + the first visit of a node follows the prior.
    """
    return cpuct * math.sqrt(1.0 + total)


@inlined
def puct_bonus(scale, P, N):
    """Return U = cpuct * P * sqrt(1 + sum N) / (1 + N), with `scale` from `exploration` (AGZ, Methods)."""
    return scale * P / (1.0 + N)


@inlined
def with_noise(epsilon, P, nu):
    """Return the prior of a root move mixed with Dirichlet noise (AGZ, Methods)."""
    return (1.0 - epsilon) * P + epsilon * nu


@inlined
def prior_of(f, puct, t, e, noisy):
    """Return P of a move, mixed with the noise of its root if `noisy`."""
    move = at(f.moves, e)
    if noisy:
        return with_noise(puct.epsilon, move.P, at(f.noise[np.uint64(t)], move.action))
    return np.float64(move.P)


@inlined
def better(f, best, score, e):
    """Return (score, e) or `best`, another such pair: the one with the larger score, then with the smaller action."""
    if score > best.score or (score == best.score and at(f.moves, e).action < at(f.moves, best.edge).action):
        return Best(score, np.int64(e))
    return best


@inlined
def select_puct(f, puct, t, index):
    """Return the edge with the largest Q + U, among equals the one with the smallest action; it is materialised."""
    node, tree = at(f.nodes, index), at(f.trees, t)
    if node.count == 1:
        return materialise_edge(f, node, np.int64(node.first))
    is_root = index == tree.root
    noisy = is_root and tree.noisy == DIRICHLET
    visited, W, visited_prior = best_visited(f, puct, t, node, noisy)
    fresh = best_fresh(f, puct, t, node, noisy)
    if fresh.edge < 0:
        return visited.edge
    bonus = puct_bonus(exploration(puct.cpuct, node.total), fresh.score, 0)
    score = unvisited_q(puct, node, W, is_root, visited_prior) + bonus
    return better(f, visited, score, materialise_edge(f, node, fresh.edge)).edge


@inlined
def best_visited(f, puct, t, node, noisy):
    """Return the visited edge with the largest Q + U, the sum of W with the node's value, the sum of the priors."""
    first, scale = np.int64(node.first), exploration(puct.cpuct, node.total)
    best, W, prior = Best(-1e300, np.int64(-1)), np.float64(node.value), 0.0
    for e in range(first, first + node.materialised):
        edge = at(f.edges, e)
        if edge.N == 0:
            continue
        W += edge.W
        prior += at(f.moves, e).P
        P = prior_of(f, puct, t, e, noisy)
        score = solver.exact_q(f, e) + puct_bonus(scale, P, edge.N)
        owed = noisy and edge.N * edge.N < puct.forced_playouts * P * node.total
        if owed and not solver.is_proven(f, e):
            score = FORCED
        best = better(f, best, score, e)
    return best, W, prior


@inlined
def best_fresh(f, puct, t, node, noisy):
    """Return the unvisited edge with the largest prior, -1 where all moves are visited.

    Without noise, edges are materialised by prior: an unvisited one that is materialised has the largest prior left.
    """
    first = np.int64(node.first)
    stop = first + node.materialised
    best = Best(-1.0, np.int64(-1))
    for e in range(first, stop):
        if at(f.edges, e).N == 0:
            best = better(f, best, prior_of(f, puct, t, e, noisy), e)
    if noisy or best.edge < 0:
        for e in range(stop, first + node.count):
            best = better(f, best, prior_of(f, puct, t, e, noisy), e)
    return best


@inlined
def select_ucb(f, puct, index):
    """Return the first unvisited edge, else the one with the largest Q + c sqrt(ln(sum N) / N); it is materialised.

    UCB1 (Auer et al. 2002) in a tree (Kocsis, Szepesvari 2006). Edges are in random order, so ties are random.
    """
    node = f.nodes[index]
    best, best_e = -1e300, np.int64(-1)
    log_total = math.log(node.total + 1.0)
    for e in range(node.first, node.first + node.materialised):
        edge = f.edges[e]
        if edge.N == 0:
            return np.int64(e)
        score = solver.exact_q(f, e)
        if not solver.is_proven(f, e):  # a proven move needs no exploration
            score += puct.cpuct * math.sqrt(log_total / edge.N)
        if score > best:
            best, best_e = score, np.int64(e)
    if node.materialised < node.count:
        return materialise_edge(f, node, np.int64(node.first + node.materialised))
    return best_e


@inlined
def select(f, puct, t, index):
    """Return the edge that a simulation takes from a node; it is materialised."""
    if puct.ucb:
        return select_ucb(f, puct, index)
    return select_puct(f, puct, t, index)
