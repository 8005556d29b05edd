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


class RootNoise(NamedTuple):
    """The noise of a node's priors, which only a root may have."""

    on: bool
    epsilon: float
    nu: np.ndarray
    """[action_size] float32"""


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
    """Return U = cpuct * P * sqrt(1 + sum N) / (1 + N), with `scale` from `exploration` (AGZ, Methods).

    Two places rest on its form: `select_puct` on U rising with P, `training.policy_target.pruned` inverts it.
    """
    return scale * P / (1.0 + N)


@inlined
def with_noise(epsilon, P, nu):
    """Return the prior of a root move mixed with Dirichlet noise (AGZ, Methods)."""
    return (1.0 - epsilon) * P + epsilon * nu


@inlined
def is_better(score, action, best, best_action):
    """Return whether a move comes before another: larger score, then smaller action."""
    return score > best or (score == best and action < best_action)


@inlined
def prior_of(move, noise):
    """Return P of a move, mixed with noise where there is some."""
    return with_noise(noise.epsilon, move.P, at(noise.nu, move.action)) if noise.on else np.float64(move.P)


@inlined
def likelier(f, noise, e, other):
    """Return the one of two edges that has the larger prior, then the smaller action; `e` may be -1, for none."""
    if e < 0:
        return other
    move, rival = at(f.moves, e), at(f.moves, other)
    return other if is_better(prior_of(rival, noise), rival.action, prior_of(move, noise), move.action) else e


@inlined
def select_puct(f, puct, t, index):
    """Return the edge with the largest Q + U, among equals the one with the smallest action; it is materialised."""
    node, tree = at(f.nodes, index), at(f.trees, t)
    first = np.int64(node.first)
    if node.count == 1:
        return materialise_edge(f, node, first)
    is_root = index == tree.root
    noise = RootNoise(is_root and tree.noisy == DIRICHLET, puct.epsilon, f.noise[np.uint64(t)])
    forced = puct.forced_playouts if noise.on else 0.0
    scale = exploration(puct.cpuct, node.total)
    best, best_action, best_score = np.int64(-1), 0, -1e300  # of the visited moves
    fresh = np.int64(-1)  # of the unvisited ones, which all have the same Q and N: the one with the largest prior
    W, visited_prior = np.float64(node.value), 0.0
    for e in range(first, first + node.materialised):
        edge, move = at(f.edges, e), at(f.moves, e)
        if edge.N == 0:
            fresh = likelier(f, noise, fresh, np.int64(e))
            continue
        P = prior_of(move, noise)
        visited_prior += move.P
        W += edge.W
        score = solver.exact_q(f, e) + puct_bonus(scale, P, edge.N)
        if forced > 0.0 and edge.N * edge.N < forced * P * node.total and not solver.is_proven(f, e):
            score = FORCED
        if is_better(score, move.action, best_score, best_action):
            best, best_action, best_score = np.int64(e), move.action, score
    fresh = best_fresh(f, node, noise, fresh)
    if fresh < 0:
        return best
    move = at(f.moves, fresh)
    score = unvisited_q(puct, node, W, is_root, visited_prior) + puct_bonus(scale, prior_of(move, noise), 0)
    return fresh if is_better(score, move.action, best_score, best_action) else best


@inlined
def best_fresh(f, node, noise, fresh):
    """Return the unvisited edge with the largest prior, materialised; -1: all moves are visited.

    fresh: the best of those that have a row. Without noise it is the best of all: rows are given by prior.
    """
    stop, end = np.int64(node.first) + node.materialised, np.int64(node.first) + node.count
    if stop == end or (fresh >= 0 and not noise.on):
        return fresh
    best, best_action = -1.0, 0
    if fresh >= 0:
        best, best_action = prior_of(at(f.moves, fresh), noise), at(f.moves, fresh).action
    for e in range(stop, end):
        move = at(f.moves, e)
        P = prior_of(move, noise)
        if is_better(P, move.action, best, best_action):
            fresh, best, best_action = np.int64(e), P, move.action
    return materialise_edge(f, node, fresh)


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
