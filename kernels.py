"""The compiled loops of the search: functions of arrays. None knows a network or a file.

Many trees lie side by side in one allocation (`Forest`); one tree is the case n = 1. Each tree owns a
range of nodes, of edges and of the hash from state key to node, so positions reached twice share a node.
The edges of a node are contiguous and stand for its legal moves only; a child is made when first visited.

Perspective: a node's value and W are for the player to move there; an edge's W is for the player who moves
along it. Indices are global in the forest. Random numbers come from one splitmix64 state a tree.

References: Silver et al. 2017 (AlphaGo Zero, "AGZ"), Wu 2019 (KataGo, arXiv 1902.10565).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import njit, typeof

from game import PLAYER
from games.boards import mix64

compiled = njit(cache=True, nogil=True, error_model="numpy")
inlined = njit(cache=True, nogil=True, error_model="numpy", inline="always")



def bind(function: Any, *args: Any) -> Callable[..., Any]:
    """Return the compiled code of `function` for arguments of exactly these types, without a check of later ones.

    Finding out the types of all tables costs 45 us a call, more than many a step; callers pass the same arrays anew.
    """
    signature = tuple(typeof(a) for a in args)
    function.compile(signature)
    code: Callable[..., Any] = function.get_overload(signature)
    return code


UNVISITED = -1
WAITING, EXPANDED, TERMINAL = 0, 1, 2
"""Status of a node: no priors yet; priors known; game over."""
LEAF, DONE, BLOCKED = 0, 1, 2
"""What a walk ends with: a leaf that needs the network; enough visits (or no room); a leaf already asked for."""
NO_ROOM = -2

NODE = np.dtype(
    [("key", "u8"), ("W", "f8"), ("total", "i4"), ("first", "i4"), ("count", "i4"), ("value", "f4"),
     ("player", "i4"), ("status", "i4")], align=True)  # fmt: skip
"""key: of the state; W: value + sum of the edges' W; total: sum of the edges' N; first, count: its edges."""
EDGE = np.dtype(
    [("W", "f8"), ("N", "i4"), ("child", "i4"), ("parent", "i4"), ("action", "i4"), ("P", "f4"), ("nu", "f4")],
    align=True)  # fmt: skip
"""nu: the root's Dirichlet noise, read only while the tree is `noisy`."""
TREE = np.dtype(
    [("rng", "u8"), ("root", "i4"), ("nodes", "i4"), ("edges", "i4"), ("budget", "i4"), ("noisy", "i4"),
     ("pending", "i4")], align=True)  # fmt: skip
"""nodes, edges: used so far; budget: visits of the root at which the search ends; pending: leaves asked for."""


class Forest(NamedTuple):
    """The tables of T trees with room for `capacity` nodes each and L leaves in the air each."""

    trees: np.ndarray
    """[T] TREE"""
    nodes: np.ndarray
    """[T * capacity] NODE"""
    edges: np.ndarray
    """[T * edge capacity] EDGE"""
    rows: np.ndarray
    """[T * (capacity + 1), row_size] int32: the positions; the last row of a tree is room to try a move."""
    table: np.ndarray
    """[T * table size] int32: open addressing, key -> node; the size is a power of two."""
    path: np.ndarray
    """[T * L, max depth] int32: the edges walked to each leaf in the air."""
    leaf: np.ndarray
    """[T * L] int32"""
    depth: np.ndarray
    """[T * L] int32"""
    legal: np.ndarray
    """[action_size] int32: room for one list of legal moves."""
    outcome: np.ndarray
    """[1] float32: room for one outcome."""
    remap: np.ndarray
    """[2, capacity] int32: room for pruning."""


class Cache(NamedTuple):
    """Evaluations by state key; one place a key, the newest stays. Emptied when weights change."""

    keys: np.ndarray
    """[C] uint64, 0 = free; C is a power of two"""
    values: np.ndarray
    """[C] float32"""
    logits: np.ndarray
    """[C, action_size] float32"""
    counts: np.ndarray
    """[3] int64: looked up, found, simulations"""


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


@compiled
def find(f, t, key):  # type: ignore[no-untyped-def]
    """Return the node of a key in tree t, or -1 - the free place in the table."""
    size = f.table.shape[0] // f.trees.shape[0]
    place = np.int64(key & np.uint64(size - 1))
    while True:
        node = f.table[t * size + place]
        if node < 0:
            return -1 - (t * size + place)
        if f.nodes[node].key == key:
            return node
        place = (place + 1) & (size - 1)


@compiled
def new_node(f, rules, t, key, free):  # type: ignore[no-untyped-def]
    """Make a node of the position in the tree's next free row; `free` as `find(key)` gave it. NO_ROOM when full."""
    tree = f.trees[t]
    capacity = f.nodes.shape[0] // f.trees.shape[0]
    edge_capacity = f.edges.shape[0] // f.trees.shape[0]
    if tree.nodes >= capacity:
        return NO_ROOM
    row = f.rows[t * (capacity + 1) + tree.nodes]
    over = rules.outcome(row, f.outcome)
    count = 0 if over else rules.legal(row, f.legal)
    if tree.edges + count > edge_capacity:
        return NO_ROOM
    index = t * capacity + tree.nodes
    node = f.nodes[index]
    node.key = key
    node.player = row[PLAYER]
    node.total = 0
    node.value = f.outcome[0] if over else 0.0
    node.W = node.value
    node.status = TERMINAL if over else WAITING
    node.first = t * edge_capacity + tree.edges
    node.count = count
    for i in range(count):
        edge = f.edges[node.first + i]
        edge.W = 0.0
        edge.N = 0
        edge.child = UNVISITED
        edge.parent = index
        edge.action = f.legal[i]
        edge.P = 0.0
        edge.nu = 0.0
    tree.nodes += 1
    tree.edges += count
    f.table[-1 - free] = index
    return index


@inlined
def row_index(f, t, node):  # type: ignore[no-untyped-def]
    """Return where the position of a node stands in f.rows (each tree has one row more than nodes)."""
    return node + t


@compiled
def clear_tree(f, t):  # type: ignore[no-untyped-def]
    """Forget a tree; its random state stays."""
    size = f.table.shape[0] // f.trees.shape[0]
    f.table[t * size : (t + 1) * size] = UNVISITED
    tree = f.trees[t]
    tree.nodes = 0
    tree.edges = 0
    tree.noisy = 0
    tree.pending = 0
    tree.root = UNVISITED


@compiled
def plant(f, rules, t, row):  # type: ignore[no-untyped-def]
    """Make tree t a single root."""
    clear_tree(f, t)
    capacity = f.nodes.shape[0] // f.trees.shape[0]
    f.rows[t * (capacity + 1)] = row
    key = rules.key(row)
    f.trees[t].root = new_node(f, rules, t, key, find(f, t, key))


@compiled
def make_child(f, rules, t, e):  # type: ignore[no-untyped-def]
    """Return the node behind edge e, made now or shared with another path; NO_ROOM when the tree is full."""
    capacity = f.nodes.shape[0] // f.trees.shape[0]
    edge = f.edges[e]
    room = f.rows[t * (capacity + 1) + f.trees[t].nodes]
    room[:] = f.rows[row_index(f, t, edge.parent)]
    rules.play(room, edge.action)
    key = rules.key(room)
    node = find(f, t, key)
    if node < 0:
        node = new_node(f, rules, t, key, node)
    if node >= 0:
        edge.child = node
    return node


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
    """Give a node its value and priors: the softmax of its legal moves' logits, shifted by the largest of them."""
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
    node.value = value
    node.W += node.value
    node.status = EXPANDED


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
        cache.keys[place] = node.key
        cache.values[place] = value
        cache.logits[place] = logits
        expand(f, index, value, logits)
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
def move_root(f, t, node):  # type: ignore[no-untyped-def]
    """Make a node the root and drop what cannot be reached from it. Nodes keep their order, so they slide down."""
    tree = f.trees[t]
    capacity = f.nodes.shape[0] // f.trees.shape[0]
    edge_capacity = f.edges.shape[0] // f.trees.shape[0]
    base, edge_base = t * capacity, t * edge_capacity
    remap, stack = f.remap[0], f.remap[1]
    remap[: tree.nodes] = UNVISITED
    top = 1
    stack[0] = node - base
    remap[node - base] = 0
    while top > 0:
        top -= 1
        parent = f.nodes[base + stack[top]]
        for e in range(parent.first, parent.first + parent.count):
            child = f.edges[e].child
            if child >= 0 and remap[child - base] == UNVISITED:
                remap[child - base] = 0
                stack[top] = child - base
                top += 1
    kept, kept_edges = 0, 0
    for i in range(tree.nodes):
        if remap[i] == UNVISITED:
            continue
        remap[i] = kept
        old_first = f.nodes[base + i].first
        if kept != i:
            f.nodes[base + kept] = f.nodes[base + i]
            f.rows[row_index(f, t, base + kept)] = f.rows[row_index(f, t, base + i)]
        moved = f.nodes[base + kept]
        moved.first = edge_base + kept_edges
        for k in range(moved.count):
            f.edges[moved.first + k] = f.edges[old_first + k]
            f.edges[moved.first + k].parent = base + kept
        kept_edges += moved.count
        kept += 1
    for e in range(edge_base, edge_base + kept_edges):
        if f.edges[e].child >= 0:
            f.edges[e].child = base + remap[f.edges[e].child - base]
    tree.root = base + remap[node - base]
    tree.nodes = kept
    tree.edges = kept_edges
    tree.noisy = 0
    tree.pending = 0
    size = f.table.shape[0] // f.trees.shape[0]
    f.table[t * size : (t + 1) * size] = UNVISITED
    for i in range(kept):
        f.table[-1 - find(f, t, f.nodes[base + i].key)] = base + i


@compiled
def re_root(f, rules, t, row, room):  # type: ignore[no-untyped-def]
    """Make a position the root: kept with what the tree knows of it when `room` more nodes still fit, else anew."""
    capacity = f.nodes.shape[0] // f.trees.shape[0]
    edge_capacity = f.edges.shape[0] // f.trees.shape[0]
    if f.trees[t].nodes > 0:
        node = find(f, t, rules.key(row))
        if node >= 0:
            move_root(f, t, node)
            missing = room - f.nodes[f.trees[t].root].total
            tree = f.trees[t]
            if tree.nodes + missing <= capacity and tree.edges + missing * f.legal.shape[0] <= edge_capacity:
                return
    plant(f, rules, t, row)


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
