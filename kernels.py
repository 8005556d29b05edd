"""The compiled loops of the search: functions of arrays. None knows a network or a file.

Perspective: a node's value and W are for the player to move there; an edge's W is for the player who moves along it.

Reference for proofs: Winands, Björnsson, Saito 2008 (Monte-Carlo Tree Search Solver).
"""

from __future__ import annotations

import math

import numpy as np

from chance import soften
from compiled import compiled, inlined, prefetch
from forest import (
    DRAW,
    EDGE,
    EXPANDED,
    LOSS,
    NO_ROOM,
    OPEN,
    TERMINAL,
    UNVISITED,
    WAITING,
    WIN,
    make_child,
    row_index,
    sum_of_values,
)
from gumbel import GUMBEL, select_gumbel
from selection import select
from solving import solve_leaf, solve_root

LEAF, DONE, BLOCKED = 0, 1, 2
"""What a walk ends with: a leaf that needs the network; enough visits (or no room); a leaf already asked for."""
LINE = 64
"""Bytes of a cache line."""
_LINE_OF_EDGES, _LINE_OF_ROW = LINE // EDGE.itemsize, LINE // 4


@inlined
def ask_for_edges(f, slot):  # type: ignore[no-untyped-def]
    """Ask the processor for what `select` will read first at the node where a walk stands."""
    node = f.nodes[f.leaf[slot]]
    prefetch(f.edges, node.first)
    prefetch(f.edges, node.first + _LINE_OF_EDGES)
    prefetch(f.priors, node.first + node.opened)


@inlined
def ask_for_row(f, row):  # type: ignore[no-untyped-def]
    """Ask the processor for a position."""
    size = f.rows.shape[1]
    for i in range(0, min(size, 64), _LINE_OF_ROW):
        prefetch(f.flat, row * size + i)


@inlined
def step_down(f, rules, rule, slot):  # type: ignore[no-untyped-def]
    """Take a walk one edge further, counting the visit; return whether it may go on.

    A child to be made is made at the next step, when its parent's position has come from memory.
    """
    t = f.owner[slot]
    index, depth = f.leaf[slot], f.depth[slot]
    if depth > 0 and f.edges[f.path[slot, depth - 1]].child == UNVISITED:
        index = make_child(f, rules, np.int64(t), index, np.int64(f.path[slot, depth - 1]))
        f.leaf[slot] = index
        if index == NO_ROOM:
            return False
    node = f.nodes[index]
    if node.status != EXPANDED or depth == f.path.shape[1] or (node.proven != OPEN and depth > 0):
        return False
    if depth == 0 and f.trees[t].noisy == GUMBEL:
        e = select_gumbel(f, t)
    else:
        e = select(f, rule, t, index)
    edge = f.edges[e]
    edge.N += 1
    edge.W -= rule.virtual_loss
    node.total += 1
    f.path[slot, depth] = e
    f.turn[slot, depth] = node.player
    f.via[slot, depth] = index
    f.depth[slot] = depth + 1
    if edge.child == UNVISITED:
        ask_for_row(f, row_index(f, t, index))
    else:
        f.leaf[slot] = edge.child
        prefetch(f.nodes, edge.child)
    return True


@compiled
def walk(f, rules, rule, count):  # type: ignore[no-untyped-def]
    """Walk from the root to a leaf in each of the slots f.active[:count]; f.leaf then holds it, or NO_ROOM.

    All walks take a step in turn, so that the memory for one arrives while the others compute.
    """
    for i in range(count):
        slot = f.active[i]
        f.walking[i] = slot
        f.leaf[slot] = f.trees[f.owner[slot]].root
        f.depth[slot] = 0
        prefetch(f.nodes, f.leaf[slot])
    while count > 0:
        for i in range(count):
            ask_for_edges(f, f.walking[i])
        n = 0
        for i in range(count):
            slot = f.walking[i]
            if step_down(f, rules, rule, slot):
                f.walking[n] = slot
                n += 1
        count = n


@inlined
def backup(f, rule, slot, value, player):  # type: ignore[no-untyped-def]
    """Add a leaf's value, for `player`, to every edge of the path; the sign follows the player of each edge."""
    for d in range(f.depth[slot]):
        edge = f.edges[f.path[slot, d]]
        edge.W += rule.virtual_loss + (value if f.turn[slot, d] == player else -value)


@compiled
def undo(f, rule, slot):  # type: ignore[no-untyped-def]
    """Take back the visits of a walk that led to no evaluation."""
    for d in range(f.depth[slot]):
        edge = f.edges[f.path[slot, d]]
        edge.N -= 1
        edge.W += rule.virtual_loss
        f.nodes[f.via[slot, d]].total -= 1


@compiled
def prove(f, slot):  # type: ignore[no-untyped-def]
    """Carry what is proven of a leaf up its path, as far as it decides.

    A position is won when one move wins, lost when all lose, drawn when all are proven and the best draws.
    """
    leaf = f.nodes[f.leaf[slot]]
    proven, player = leaf.proven, leaf.player
    for d in range(f.depth[slot] - 1, -1, -1):
        node = f.nodes[f.via[slot, d]]
        if node.player != player and proven != DRAW:
            proven = -proven
        f.edges[f.path[slot, d]].proven = proven
        if proven != WIN:
            if node.opened < node.count:
                return
            proven = LOSS
            for e in range(node.first, node.first + node.opened):
                if f.edges[e].proven == OPEN:
                    return
                if f.edges[e].proven != LOSS:
                    proven = f.edges[e].proven
        node.proven = proven
        player = node.player


@inlined
def exp(x):  # type: ignore[no-untyped-def]
    """Return e^x for x <= 0 to the last bit or two, as operations that a processor does for many numbers at once.

    e^x = 2^k e^r with |r| <= ln(2) / 2 and Taylor's series of e^r; what is below e^-700 counts as that. NaN stays NaN.
    """
    x = -700.0 if x < -700.0 else x
    k = math.floor(x * 1.4426950408889634 + 0.5)
    r = x - k * 0.6931471803691238 - k * 1.9082149292705877e-10
    series = 1.0 / 479001600.0
    series = series * r + 1.0 / 39916800.0
    series = series * r + 1.0 / 3628800.0
    series = series * r + 1.0 / 362880.0
    series = series * r + 1.0 / 40320.0
    series = series * r + 1.0 / 5040.0
    series = series * r + 1.0 / 720.0
    series = series * r + 1.0 / 120.0
    series = series * r + 1.0 / 24.0
    series = series * r + 1.0 / 6.0
    series = series * r + 0.5
    series = series * r + 1.0
    series = series * r + 1.0
    return series * np.int64((np.int64(k) + 1023) << 52).view(np.float64)


@inlined
def expand(f, index, value, logits):  # type: ignore[no-untyped-def]
    """Give a node its value and priors: the softmax of its legal moves' logits, shifted by the largest of them.

    Returns False, with a neutral answer in place, when the network's was not finite.
    """
    node = f.nodes[index]
    first, count = np.int64(node.first), np.int64(node.count)
    top = -np.inf
    for i in range(count):
        f.odds[i] = logits[f.moves[first + i]]
        top = max(top, f.odds[i])
    for i in range(count):  # apart from the loop above, or a processor does it for one number at a time
        f.odds[i] = exp(f.odds[i] - top)
    total = 0.0
    for i in range(count):
        total += f.odds[i]
    for i in range(count):
        f.priors[first + i] = np.float32(f.odds[i]) / total
    sound = math.isfinite(total) and math.isfinite(value)
    if not sound:
        for e in range(first, first + count):
            f.priors[e] = 1.0 / count
    node.value = value if sound else 0.0
    node.status = EXPANDED
    return sound


@inlined
def proven_value(proven):  # type: ignore[no-untyped-def]
    """Return the value of a proven position for its player to move."""
    return 0.0 if proven == DRAW else np.float64(proven)


@inlined
def cache_place(cache, key):  # type: ignore[no-untyped-def]
    """Return where the cache keeps a key."""
    return np.int64(key & np.uint64(cache.words.shape[0] - 1))


@inlined
def ask_for_answer(cache, key):  # type: ignore[no-untyped-def]
    """Ask the processor for the two ends of what the cache holds at a key's place."""
    first = cache_place(cache, key) * cache.words.shape[1]
    prefetch(cache.flat, first)
    prefetch(cache.flat, first + cache.words.shape[1] - 1)


@inlined
def settle(f, rules, rule, cache, slot):  # type: ignore[no-untyped-def]
    """End a walk: back up what is known of its leaf; return whether the tree may walk on, else f.ended says why."""
    t = f.owner[slot]
    index = f.leaf[slot]
    if index == NO_ROOM:
        undo(f, rule, slot)
        f.ended[slot] = DONE
        return False
    node = f.nodes[index]
    cache.counts[2] += 1
    if f.depth[slot] > 0:
        solve_leaf(f, rules, t, index)
    decided = node.proven != OPEN and f.depth[slot] > 0
    if node.status != WAITING or decided:  # over, proven, or the path is as long as there is room for
        value = node.value if node.proven == OPEN else proven_value(node.proven)
        backup(f, rule, slot, 0.0 if math.isnan(value) else value, node.player)
        if rule.prove and node.proven != OPEN:
            prove(f, slot)
        return True
    for other in range(f.trees[t].pending):
        if f.leaf[slot - 1 - other] == index:
            undo(f, rule, slot)
            cache.counts[2] -= 1
            f.ended[slot] = BLOCKED
            return False
    place = cache_place(cache, node.key)
    cache.counts[0] += 1
    if cache.words[place, -1] == node.key and node.key != 0:
        cache.counts[1] += 1
        expand(f, index, cache.numbers[place, f.legal.shape[0]], cache.numbers[place])
        if f.depth[slot] == 0 and f.trees[t].temperature != 1.0:
            soften(f, t)
        backup(f, rule, slot, node.value, node.player)
        return True
    f.ended[slot] = LEAF
    return False


@compiled
def run_to_leaves(f, rules, rule, cache, count):  # type: ignore[no-untyped-def]
    """Simulate in each of the slots f.active[:count] until the network is needed there or the tree is done.

    Finished games and remembered positions are dealt with on the way. f.ended says how each ended: LEAF (f.leaf waits
    for its answer), DONE or BLOCKED. f.active is used up.
    """
    while count > 0:
        n = 0
        for i in range(count):
            slot = f.active[i]
            tree = f.trees[f.owner[slot]]
            root = f.nodes[tree.root]
            solve_root(f, rules, f.owner[slot])
            enough = root.total >= tree.budget and root.status == EXPANDED
            decided = root.proven != OPEN and root.status != WAITING  # a lost root waits for its priors: to choose by
            if root.status == TERMINAL or decided or enough:
                f.ended[slot] = DONE
            else:
                f.active[n] = slot
                n += 1
        walk(f, rules, rule, np.int64(n))
        for i in range(n):
            if f.leaf[f.active[i]] >= 0:
                ask_for_answer(cache, f.nodes[f.leaf[f.active[i]]].key)
        count = 0
        for i in range(n):
            if settle(f, rules, rule, cache, f.active[i]):
                f.active[count] = f.active[i]
                count += 1


@compiled
def absorb(f, rule, cache, asked, count, values, logits):  # type: ignore[no-untyped-def]
    """Take the network's answers for the leaves in the air at the slots asked[:count]."""
    for k in range(count):
        prefetch(f.nodes, f.leaf[asked[k]])
    for k in range(count):
        node = f.nodes[f.leaf[asked[k]]]
        prefetch(f.priors, node.first)
        prefetch(f.moves, node.first)
        ask_for_answer(cache, node.key)
        for d in range(f.depth[asked[k]]):
            prefetch(f.edges, f.path[asked[k], d])
    for k in range(count):
        slot = asked[k]
        index = f.leaf[slot]
        node = f.nodes[index]
        if node.status == WAITING:
            place = cache_place(cache, node.key)
            if expand(f, index, values[k], logits[k]):
                actions = logits.shape[1]
                for a in range(actions):
                    cache.numbers[place, a] = logits[k, a]
                cache.numbers[place, actions] = values[k]
                cache.words[place, -1] = node.key
            else:
                cache.counts[3] += 1
            if f.depth[slot] == 0 and f.trees[f.owner[slot]].temperature != 1.0:
                soften(f, f.owner[slot])
        backup(f, rule, slot, node.value, node.player)


@compiled
def search_step(f, rules, rule, cache, asked, count, values, logits, planes, which):  # type: ignore[no-untyped-def]
    """Take `count` answers for the slots in `asked`, then walk the trees in `which` until each needs the network.

    Writes planes[k] and asked[k] for each new question and returns their number; 0 = every tree is done.
    Up to L leaves of a tree may be in the air. values: [B], logits: [B, action_size], planes: [B, ...] flat.
    """
    leaves = f.leaves
    absorb(f, rule, cache, asked, count, values, logits)
    n = 0
    for i in range(which.shape[0]):
        f.trees[which[i]].pending = 0
    for leaf in range(leaves):
        count = 0
        for i in range(which.shape[0]):
            if f.trees[which[i]].pending == leaf:
                f.active[count] = which[i] * leaves + leaf
                count += 1
        run_to_leaves(f, rules, rule, cache, np.int64(count))
        for i in range(which.shape[0]):
            t = which[i]
            slot = t * leaves + leaf
            if f.trees[t].pending == leaf and f.ended[slot] == LEAF:
                rules.encode(f.rows[row_index(f, t, f.leaf[slot])], planes[n])
                asked[n] = slot
                n += 1
                f.trees[t].pending += 1
    return n


@compiled
def root_value(f, t):  # type: ignore[no-untyped-def]
    """Return the search's value of a root, for its player to move; what is proven is exact."""
    root = f.trees[t].root
    if f.nodes[root].proven != OPEN:
        return proven_value(f.nodes[root].proven)
    return sum_of_values(f, root) / (1.0 + f.nodes[root].total)
