"""The compiled loops of the search: functions of arrays. None knows a network or a file.

Perspective: a node's value and W are for the player to move there; an edge's W is for the player who moves along it.

Reference for proofs: Winands, Björnsson, Saito 2008 (Monte-Carlo Tree Search Solver).
"""

from __future__ import annotations

import math

import numpy as np

from compiled import at, compiled, inlined, prefetch
from search.endgame import solve_leaf, solve_root
from search.evaluation_cache import cache_place
from search.expand import expand, link_child, make_priors, try_move
from search.gumbel import GUMBEL, select_gumbel
from search.sampling import apply_root_temperature
from search.select import select
from search.speed.prefetch import (
    prefetch_answer,
    prefetch_place,
    prefetch_row,
)
from search.tables import (
    DRAW,
    EXPANDED,
    LOSS,
    NO_ROOM,
    TERMINAL,
    UNPROVEN,
    UNVISITED,
    WAITING,
    WIN,
    row_index,
    sum_of_values,
)

LEAF, DONE, BLOCKED = 0, 1, 2
"""What a walk ends with: a leaf that needs the network; enough visits (or no room); a leaf already asked for."""
FINISH, SELECT, EXPAND = 0, 1, 2
"""What a walk does next: it has ended at a leaf; chooses an edge of the node it stands at; plays the move of an edge
without a child."""


@inlined
def select_child(f, rule, slot):  # type: ignore[no-untyped-def]
    """Take a walk along an edge of the node where it stands; return what it does next."""
    w = at(f.slots, slot)
    t, index, depth = np.int64(w.tree), np.int64(w.leaf), np.int64(w.depth)
    if not is_interior(f, index, depth):
        return FINISH
    make_priors(f, index)
    if depth == 0 and at(f.trees, t).noisy == GUMBEL:
        e = select_gumbel(f, t)
    else:
        e = select(f, rule, t, index)
    node, edge, taken = at(f.nodes, index), at(f.edges, e), at(f.steps, slot * f.reach + depth)
    edge.N += 1
    edge.W -= rule.virtual_loss
    node.total += 1
    taken.edge, taken.node, taken.player = e, index, node.player
    w.depth = depth + 1
    if edge.child == UNVISITED:
        prefetch_row(f, row_index(f, t, index))
        prefetch_row(f, t * (f.capacity + 1) + at(f.trees, t).nodes)
        return EXPAND
    w.leaf = edge.child
    prefetch(f.nodes, edge.child)
    return SELECT


@inlined
def last_edge(f, slot):  # type: ignore[no-untyped-def]
    """Return the edge that a walk took last."""
    return np.int64(at(f.steps, slot * f.reach + at(f.slots, slot).depth - 1).edge)


@inlined
def make_child_position(f, rules, cache, slot):  # type: ignore[no-untyped-def]
    """Make the position that a walk comes to, in its tree's next free row."""
    w = at(f.slots, slot)
    t = np.int64(w.tree)
    w.key = try_move(f, rules, t, np.int64(w.leaf), last_edge(f, slot))
    prefetch_place(f, t, w.key)
    prefetch(cache.keys, np.int64(cache_place(cache, w.key)))


@inlined
def enter_child(f, rules, cache, slot):  # type: ignore[no-untyped-def]
    """Find or make the node of the position made, where the walk then stands, or NO_ROOM; return what it does next."""
    w = at(f.slots, slot)
    index = np.int64(link_child(f, rules, np.int64(w.tree), w.key, last_edge(f, slot)))
    w.leaf = index
    if index != NO_ROOM and is_interior(f, index, np.int64(w.depth)):
        return SELECT
    if index != NO_ROOM and at(cache.keys, cache_place(cache, w.key)) == w.key:
        prefetch_answer(cache, w.key)
    return FINISH


@inlined
def is_interior(f, index, depth):  # type: ignore[no-untyped-def]
    """Return whether a walk goes on through a node."""
    node = at(f.nodes, index)
    return node.status == EXPANDED and depth < f.reach and (node.proven == UNPROVEN or depth == 0)


@inlined
def start_at_root(f, slot):  # type: ignore[no-untyped-def]
    """Put a walk at the root."""
    w = at(f.slots, slot)
    w.leaf = at(f.trees, w.tree).root
    w.depth = 0


@compiled
def select_leaf(f, rules, rule, cache, slot):  # type: ignore[no-untyped-def]
    """Walk from the root to a leaf, which is then told, or NO_ROOM."""
    start_at_root(f, slot)
    phase = SELECT
    while phase != FINISH:
        phase = select_child(f, rule, slot)
        if phase == EXPAND:
            make_child_position(f, rules, cache, slot)
            phase = enter_child(f, rules, cache, slot)


@inlined
def backup(f, rule, slot, value, player):  # type: ignore[no-untyped-def]
    """Add a leaf's value, for `player`, to every edge of the path; the sign follows the player of each edge."""
    for d in range(at(f.slots, slot).depth):
        taken = at(f.steps, slot * f.reach + d)
        at(f.edges, taken.edge).W += rule.virtual_loss + (value if taken.player == player else -value)


@compiled
def revert_visit(f, rule, slot):  # type: ignore[no-untyped-def]
    """Take back the visits of a walk that led to no evaluation."""
    for d in range(f.slots[slot].depth):
        taken = f.steps[slot * f.reach + d]
        edge = f.edges[taken.edge]
        edge.N -= 1
        edge.W += rule.virtual_loss
        f.nodes[taken.node].total -= 1


@compiled
def prove(f, slot):  # type: ignore[no-untyped-def]
    """Carry what is proven of a leaf up its path, as far as it decides.

    A position is won when one move wins, lost when all lose, drawn when all are proven and the best draws.
    """
    leaf = f.nodes[f.slots[slot].leaf]
    proven, player = leaf.proven, leaf.player
    for d in range(f.slots[slot].depth - 1, -1, -1):
        taken = f.steps[slot * f.reach + d]
        node = f.nodes[taken.node]
        if node.player != player and proven != DRAW:
            proven = -proven
        f.moves[taken.edge].proven = proven
        if proven != WIN:
            if node.materialised < node.count:
                return
            proven = LOSS
            for e in range(node.first, node.first + node.materialised):
                if f.moves[e].proven == UNPROVEN:
                    return
                if f.moves[e].proven != LOSS:
                    proven = f.moves[e].proven
        node.proven = proven
        player = node.player


@inlined
def make_root_priors(f, t):  # type: ignore[no-untyped-def]
    """Make priors of a root's answer, softened where that is wanted."""
    make_priors(f, np.int64(at(f.trees, t).root))
    if at(f.trees, t).temperature != 1.0:
        apply_root_temperature(f, t)


@inlined
def proven_value(proven):  # type: ignore[no-untyped-def]
    """Return the value of a proven position for its player to move."""
    return 0.0 if proven == DRAW else np.float64(proven)


@inlined
def finish_simulation(f, rules, rule, cache, slot):  # type: ignore[no-untyped-def]
    """End a walk: back up what is known of its leaf; return whether the tree may walk on, else it is told why not."""
    w = at(f.slots, slot)
    t, index, depth = np.int64(w.tree), np.int64(w.leaf), np.int64(w.depth)
    if index == NO_ROOM:
        revert_visit(f, rule, slot)
        w.ended = DONE
        return False
    node = at(f.nodes, index)
    cache.counts[2] += 1
    if depth > 0:
        solve_leaf(f, rules, t, index)
    decided = node.proven != UNPROVEN and depth > 0
    if node.status != WAITING or decided:  # over, proven, or the path is as long as there is room for
        value = node.value if node.proven == UNPROVEN else proven_value(node.proven)
        backup(f, rule, slot, 0.0 if math.isnan(value) else value, node.player)
        if rule.prove and node.proven != UNPROVEN:
            prove(f, slot)
        return True
    for other in range(at(f.trees, t).pending):
        if at(f.slots, slot - 1 - other).leaf == index:
            revert_visit(f, rule, slot)
            cache.counts[2] -= 1
            w.ended = BLOCKED
            return False
    place = cache_place(cache, node.key)
    cache.counts[0] += 1
    if at(cache.keys, place) == node.key and node.key != 0:
        cache.counts[1] += 1
        known = cache.numbers[place]
        expand(f, index, at(known, f.legal.shape[0]), known)
        if depth == 0:
            make_root_priors(f, t)
        backup(f, rule, slot, node.value, node.player)
        return True
    w.ended = LEAF
    return False


@inlined
def start_simulation(f, rules, slot):  # type: ignore[no-untyped-def]
    """Put a walk at the root, if there is something to be searched; return whether there is, else DONE is told."""
    w = at(f.slots, slot)
    tree = at(f.trees, w.tree)
    solve_root(f, rules, np.int64(w.tree))
    root = at(f.nodes, tree.root)
    enough = root.total >= tree.budget and root.status == EXPANDED
    decided = root.proven != UNPROVEN and root.status != WAITING  # a lost root waits for its priors: to choose by
    if root.status == TERMINAL or decided or enough:
        w.ended = DONE
        return False
    start_at_root(f, slot)
    return True


@compiled
def root_value(f, t):  # type: ignore[no-untyped-def]
    """Return the search's value of a root, for its player to move; what is proven is exact."""
    root = f.trees[t].root
    if f.nodes[root].proven != UNPROVEN:
        return proven_value(f.nodes[root].proven)
    return sum_of_values(f, root) / (1.0 + f.nodes[root].total)
