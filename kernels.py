"""The compiled loops of the search: functions of arrays. None knows a network or a file.

Perspective: a node's value and W are for the player to move there; an edge's W is for the player who moves along it.
Random numbers come from one splitmix64 state a tree.

References: Silver et al. 2017 (AlphaGo Zero, "AGZ"), Wu 2019 (KataGo, arXiv 1902.10565).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import typeof

from compiled import compiled, inlined
from forest import EXPANDED, NO_ROOM, TERMINAL, UNVISITED, WAITING, make_child, row_index
from games.boards import mix64

LEAF, DONE, BLOCKED = 0, 1, 2
"""What a walk ends with: a leaf that needs the network; enough visits (or no room); a leaf already asked for."""


def bind(function: Any, *args: Any) -> Callable[..., Any]:
    """Return the compiled code of `function` for arguments of exactly these types, without a check of later ones.

    Finding out the types of all tables costs 45 us a call, more than many a step; callers pass the same arrays anew.
    """
    signature = tuple(typeof(a) for a in args)
    function.compile(signature)
    code: Callable[..., Any] = function.get_overload(signature)
    return code


class Rule(NamedTuple):
    """Numbers of the selection rule."""

    cpuct: float
    epsilon: float
    fpu: float
    """Reduction for unvisited moves; negative: they count as 0 (the article)."""
    virtual_loss: float
    """Subtracted from W on the way to a leaf in the air, given back with its answer."""


@compiled
def uniform(tree):  # type: ignore[no-untyped-def]
    """Return the next random number of a tree, in [0, 1)."""
    tree.rng = tree.rng + np.uint64(0x9E3779B97F4A7C15)
    return (mix64(tree.rng) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@compiled
def gamma(tree, alpha):  # type: ignore[no-untyped-def]
    """Return a Gamma(alpha, 1) draw (Marsaglia and Tsang 2000)."""
    boost = 1.0
    if alpha < 1.0:
        boost = (1.0 - uniform(tree)) ** (1.0 / alpha)
        alpha += 1.0
    d = alpha - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = math.sqrt(-2.0 * math.log(1.0 - uniform(tree))) * math.cos(2.0 * math.pi * uniform(tree))
        v = (1.0 + c * x) ** 3
        if v > 0.0 and math.log(1.0 - uniform(tree)) < 0.5 * x * x + d - d * v + d * math.log(v):
            return boost * d * v


@compiled
def draw_noise(f, t, alpha):  # type: ignore[no-untyped-def]
    """Draw Dirichlet noise over the root's legal moves (AGZ, Methods); alpha <= 0: 10.83 / their number (KataGo)."""
    root = f.nodes[f.trees[t].root]
    a = alpha if alpha > 0.0 else 10.83 / max(root.count, 1)
    total = 0.0
    for e in range(root.first, root.first + root.count):
        f.edges[e].nu = gamma(f.trees[t], a) + 1e-30
        total += f.edges[e].nu
    for e in range(root.first, root.first + root.count):
        f.edges[e].nu /= total
    f.trees[t].noisy = 1


@inlined
def unvisited_q(f, rule, node, is_root, visited_prior):  # type: ignore[no-untyped-def]
    """Return Q for moves not yet visited (first-play urgency; KataGo 3.2 with the reduction 0 at the root)."""
    if rule.fpu < 0.0:
        return 0.0
    q = node.W / (1.0 + node.total)
    return q if is_root else q - rule.fpu * math.sqrt(visited_prior)


@inlined
def select(f, rule, index, is_root, noisy):  # type: ignore[no-untyped-def]
    """Return the edge with the largest Q + U, the first of equals.

    U = cpuct * P * sqrt(1 + sum N) / (1 + N) (AGZ, Methods, with 1 + so that the first descent follows the prior).
    """
    node = f.nodes[index]
    eps = rule.epsilon if noisy else 0.0
    scale = rule.cpuct * math.sqrt(1.0 + node.total)
    best, best_e = -1e300, -1
    fresh, fresh_e = -1.0, -1
    visited_prior = 0.0
    for e in range(node.first, node.first + node.count):
        edge = f.edges[e]
        p = (1.0 - eps) * edge.P + eps * edge.nu if noisy else np.float64(edge.P)
        if edge.N == 0:
            if p > fresh:
                fresh, fresh_e = p, e
        else:
            visited_prior += edge.P
            score = edge.W / edge.N + scale * p / (1.0 + edge.N)
            if score > best:
                best, best_e = score, e
    if fresh_e >= 0:
        score = unvisited_q(f, rule, node, is_root, visited_prior) + scale * fresh
        if score > best or (score == best and fresh_e < best_e):
            return fresh_e
    return best_e


@inlined
def descend(f, rules, rule, t, slot):  # type: ignore[no-untyped-def]
    """Walk from the root to a leaf, counting visits on the way; return the leaf, or NO_ROOM."""
    tree = f.trees[t]
    index = tree.root
    depth = 0
    while f.nodes[index].status == EXPANDED and depth < f.path.shape[1]:
        e = select(f, rule, index, index == tree.root, index == tree.root and tree.noisy == 1)
        edge = f.edges[e]
        edge.N += 1
        edge.W -= rule.virtual_loss
        f.nodes[index].total += 1
        f.nodes[index].W -= rule.virtual_loss
        f.path[slot, depth] = e
        depth += 1
        f.depth[slot] = depth
        index = edge.child
        if index == UNVISITED:
            index = make_child(f, rules, t, e)
            if index < 0:
                return index
    f.leaf[slot] = index
    f.depth[slot] = depth
    return index


@inlined
def backup(f, rule, slot, value, player):  # type: ignore[no-untyped-def]
    """Add a leaf's value, for `player`, to every edge of the path; the sign follows the player of each edge."""
    for d in range(f.depth[slot]):
        edge = f.edges[f.path[slot, d]]
        parent = f.nodes[edge.parent]
        v = rule.virtual_loss + (value if parent.player == player else -value)
        edge.W += v
        parent.W += v


@compiled
def undo(f, rule, slot):  # type: ignore[no-untyped-def]
    """Take back the visits of a walk that led to no evaluation."""
    for d in range(f.depth[slot]):
        edge = f.edges[f.path[slot, d]]
        edge.N -= 1
        edge.W += rule.virtual_loss
        f.nodes[edge.parent].total -= 1
        f.nodes[edge.parent].W += rule.virtual_loss


@compiled
def expand(f, index, value, logits):  # type: ignore[no-untyped-def]
    """Give a node its value and priors: the softmax of its legal moves' logits, shifted by the largest of them.

    Returns False, with a neutral answer in place, when the network's was not finite.
    """
    node = f.nodes[index]
    top = -np.inf
    for e in range(node.first, node.first + node.count):
        top = max(top, logits[f.edges[e].action])
    total = 0.0
    for e in range(node.first, node.first + node.count):
        odds = math.exp(logits[f.edges[e].action] - top)
        f.edges[e].P = odds
        total += odds
    for e in range(node.first, node.first + node.count):
        f.edges[e].P /= total
    sound = math.isfinite(total) and math.isfinite(value)
    if not sound:
        for e in range(node.first, node.first + node.count):
            f.edges[e].P = 1.0 / node.count
    node.value = value if sound else 0.0
    node.W += node.value
    node.status = EXPANDED
    return sound


@compiled
def run_to_leaf(f, rules, rule, cache, t, slot):  # type: ignore[no-untyped-def]
    """Simulate until the network is needed; finished games and remembered positions are dealt with on the way.

    Returns LEAF (f.leaf[slot] waits for its answer), DONE or BLOCKED.
    """
    tree = f.trees[t]
    while True:
        root = f.nodes[tree.root]
        if root.status == TERMINAL or (root.total >= tree.budget and root.status == EXPANDED):
            return DONE
        f.depth[slot] = 0
        index = descend(f, rules, rule, t, slot)
        if index == NO_ROOM:
            undo(f, rule, slot)
            return DONE
        node = f.nodes[index]
        cache.counts[2] += 1
        if node.status == TERMINAL:
            backup(f, rule, slot, node.value, node.player)
            continue
        if node.status == EXPANDED:  # the path is as long as there is room for: a game without end
            backup(f, rule, slot, node.value, node.player)
            continue
        for other in range(tree.pending):
            if f.leaf[slot - 1 - other] == index:
                undo(f, rule, slot)
                cache.counts[2] -= 1
                return BLOCKED
        place = np.int64(node.key & np.uint64(cache.keys.shape[0] - 1))
        cache.counts[0] += 1
        if cache.keys[place] == node.key and node.key != 0:
            cache.counts[1] += 1
            expand(f, index, cache.values[place], cache.logits[place])
            backup(f, rule, slot, node.value, node.player)
            continue
        return LEAF


@compiled
def absorb(f, rule, cache, slot, value, logits):  # type: ignore[no-untyped-def]
    """Take the network's answer for the leaf in the air at `slot`."""
    index = f.leaf[slot]
    node = f.nodes[index]
    if node.status == WAITING:
        place = np.int64(node.key & np.uint64(cache.keys.shape[0] - 1))
        if expand(f, index, value, logits):
            cache.keys[place] = node.key
            cache.values[place] = value
            for a in range(logits.shape[0]):
                cache.logits[place, a] = logits[a]
        else:
            cache.counts[3] += 1
    backup(f, rule, slot, node.value, node.player)


@compiled
def search_step(f, rules, rule, cache, asked, count, values, logits, planes, which):  # type: ignore[no-untyped-def]
    """Take `count` answers for the slots in `asked`, then walk the trees in `which` until each needs the network.

    Writes planes[k] and asked[k] for each new question and returns their number; 0 = every tree is done.
    Up to L leaves of a tree may be in the air. values: [B], logits: [B, action_size], planes: [B, ...] flat.
    """
    leaves = f.leaf.shape[0] // f.trees.shape[0]
    for k in range(count):
        absorb(f, rule, cache, asked[k], values[k], logits[k])
    n = 0
    for i in range(which.shape[0]):
        t = which[i]
        f.trees[t].pending = 0
        while f.trees[t].pending < leaves:
            slot = t * leaves + f.trees[t].pending
            if run_to_leaf(f, rules, rule, cache, t, slot) != LEAF:
                break
            rules.encode(f.rows[row_index(f, t, f.leaf[slot])], planes[n])
            asked[n] = slot
            n += 1
            f.trees[t].pending += 1
    return n


@compiled
def choose(f, t, tau):  # type: ignore[no-untyped-def]
    """Return an edge of the root drawn with probability ~ N^(1/tau); tau = 0: most visited, ties at random."""
    root = f.nodes[f.trees[t].root]
    top = 0
    for e in range(root.first, root.first + root.count):
        top = max(top, f.edges[e].N)
    total = 0.0
    for e in range(root.first, root.first + root.count):
        total += weight(f.edges[e].N, top, tau)
    x = uniform(f.trees[t]) * total
    last = root.first
    for e in range(root.first, root.first + root.count):
        w = weight(f.edges[e].N, top, tau)
        if w > 0.0:
            last = e
            x -= w
            if x < 0.0:
                return e
    return last


@compiled
def weight(n, top, tau):  # type: ignore[no-untyped-def]
    """Return (n / top)^(1/tau), its limit at tau = 0."""
    if tau == 0.0 or top == 0:
        return 1.0 if n == top else 0.0
    return (n / top) ** (1.0 / tau)
