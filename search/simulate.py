"""Runs one simulation in four phases: select, expand, evaluate, back up. Each phase is a small function of arrays.

`select_leaf` combines the first two, `finish_simulation` the last two. A simulation belongs to a slot (a row of
`f.slots`) of one tree; search/pipeline.py runs the same phases for many trees at once. There is no network and no file
here: where the network is needed, the simulation ends with LEAF, and `pipeline.expand_and_backup` resumes it.

Perspective: a node's value is for the player to move there; an edge's W is for the player who moves along it.
Calls of `solver` only matter where a value is exact (search/solver.py), calls of `prefetch` only make it faster
(search/speed/prefetch.py): both can be skipped.
"""

from __future__ import annotations

import numpy as np

from compiled import at, compiled, inlined, prefetch
from search import solver
from search.evaluation_cache import SIMULATIONS, cache_place, look_up
from search.expand import expand, link_child, make_priors, try_move
from search.gumbel import improve, select_gumbel
from search.noise import apply_root_temperature
from search.select import select
from search.speed.prefetch import prefetch_answer, prefetch_place, prefetch_row
from search.tables import (
    EXPANDED,
    GUMBEL,
    NO_ROOM,
    TERMINAL,
    UNVISITED,
    WAITING,
    row_index,
    sum_of_values,
)

FINISH, SELECT, EXPAND = 0, 1, 2
"""Next phase of a simulation: it is at a leaf; it is at a node with priors; it has chosen an edge without a child."""
LEAF, DONE, BLOCKED, KNOWN = 0, 1, 2, 3
"""`ended` of a slot: the leaf needs the network; enough visits, or no room for more; another simulation of the tree
waits for the same leaf; the leaf's value was known."""


# ---- a simulation begins


@inlined
def start_simulation(f, rules, slot):
    """Put a slot at the root; return False, with DONE, if there is nothing to search."""
    w = at(f.slots, slot)
    tree = at(f.trees, w.tree)
    decided = solver.at_root(f, rules, np.int64(w.tree))
    root = at(f.nodes, tree.root)
    enough = root.total >= tree.budget and root.status == EXPANDED
    if root.status == TERMINAL or decided or enough:
        w.ended = DONE
        return False
    start_at_root(f, slot)
    return True


@inlined
def start_at_root(f, slot):
    """Put a slot at its tree's root."""
    w = at(f.slots, slot)
    w.leaf = at(f.trees, w.tree).root
    w.depth = 0


@compiled
def select_leaf(f, rules, puct, cache, slot):
    """Descend from the root to a leaf (phases 1 and 2); the slot then holds its node, or NO_ROOM."""
    start_at_root(f, slot)
    phase = SELECT
    while phase != FINISH:
        phase = select_child(f, puct, slot)
        if phase == EXPAND:
            make_child_position(f, rules, cache, slot)
            phase = enter_child(f, rules, cache, slot)


# ---- 1. select


@inlined
def select_child(f, puct, slot):
    """Choose an edge of the current node, count the visit, and descend along it; return the next phase."""
    w = at(f.slots, slot)
    t, index, depth = np.int64(w.tree), np.int64(w.leaf), np.int64(w.depth)
    if not is_interior(f, index, depth):
        return FINISH
    make_priors(f, index)
    if depth == 0 and at(f.trees, t).noisy == GUMBEL:
        e = select_gumbel(f, t)
    else:
        e = select(f, puct, t, index)
    node, edge, taken = at(f.nodes, index), at(f.edges, e), at(f.steps, slot * f.reach + depth)
    edge.N += 1
    edge.W -= puct.virtual_loss
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
def is_interior(f, index, depth):
    """Return whether a simulation passes through a node: it is expanded, and its value is not exact."""
    node = at(f.nodes, index)
    return node.status == EXPANDED and depth < f.reach and not solver.is_end(node, depth)


# ---- 2. expand


@inlined
def last_edge(f, slot):
    """Return the last edge that a simulation took."""
    return np.int64(at(f.steps, slot * f.reach + at(f.slots, slot).depth - 1).edge)


@inlined
def make_child_position(f, rules, cache, slot):
    """Play the chosen move: the child's position goes into the tree's next free row, its key into the slot."""
    w = at(f.slots, slot)
    t = np.int64(w.tree)
    w.key = try_move(f, rules, t, np.int64(w.leaf), last_edge(f, slot))
    prefetch_place(f, t, w.key)
    prefetch(cache.keys, np.int64(cache_place(cache, w.key)))


@inlined
def enter_child(f, rules, cache, slot):
    """Go to the node of the position just made, a new node or one shared with another path; return the next phase."""
    w = at(f.slots, slot)
    index = np.int64(link_child(f, rules, np.int64(w.tree), w.key, last_edge(f, slot)))
    w.leaf = index
    if index != NO_ROOM and is_interior(f, index, np.int64(w.depth)):
        return SELECT
    if index != NO_ROOM and at(cache.keys, cache_place(cache, w.key)) == w.key:
        prefetch_answer(cache, w.key)
    return FINISH


# ---- 3. evaluate


@inlined
def evaluate_leaf(f, rules, cache, slot):
    """Find a leaf's value without the network: from a result, a proof, a solved ending or the cache.

    Returns KNOWN; LEAF where the network is needed; BLOCKED where the leaf already waits for the network; DONE in a
    full tree.
    """
    w = at(f.slots, slot)
    t, index, depth = np.int64(w.tree), np.int64(w.leaf), np.int64(w.depth)
    if index == NO_ROOM:
        at(f.trees, t).full = 1
        return DONE
    node = at(f.nodes, index)
    if node.status != WAITING or solver.at_leaf(f, rules, t, index, depth):  # EXPANDED: a path of largest length
        return KNOWN
    for other in range(at(f.trees, t).pending):
        if at(f.slots, slot - 1 - other).leaf == index:
            return BLOCKED
    if not look_up(cache, node.key):
        return LEAF
    known = cache.numbers[cache_place(cache, node.key)]
    expand(f, index, at(known, f.legal.shape[0]), known)
    if depth == 0:
        make_root_priors(f, t)
    return KNOWN


@inlined
def make_root_priors(f, t):
    """Compute the priors of a root and apply its temperature."""
    make_priors(f, np.int64(at(f.trees, t).root))
    if at(f.trees, t).temperature != 1.0:
        apply_root_temperature(f, t)


# ---- 4. back up


@inlined
def backup(f, puct, slot, value, player):
    """Add a leaf's value, for `player`, to every edge of the path; the sign follows the player of each edge."""
    for d in range(at(f.slots, slot).depth):
        taken = at(f.steps, slot * f.reach + d)
        at(f.edges, taken.edge).W += puct.virtual_loss + (value if taken.player == player else -value)


@compiled
def revert_visit(f, puct, slot):
    """Undo the visits of a simulation that led to no evaluation."""
    for d in range(f.slots[slot].depth):
        taken = f.steps[slot * f.reach + d]
        edge = f.edges[taken.edge]
        edge.N -= 1
        edge.W += puct.virtual_loss
        f.nodes[taken.node].total -= 1


@inlined
def finish_simulation(f, rules, puct, cache, slot):
    """Evaluate the leaf and back its value up (phases 3 and 4); return whether the tree may simulate again."""
    w = at(f.slots, slot)
    ended = evaluate_leaf(f, rules, cache, slot)
    w.ended = ended
    if ended == KNOWN:
        node = at(f.nodes, w.leaf)
        backup(f, puct, slot, solver.leaf_value(node), node.player)
        solver.after_backup(f, slot)
    if ended == KNOWN or ended == LEAF:
        cache.counts[SIMULATIONS] += 1
    else:
        revert_visit(f, puct, slot)
    return ended == KNOWN


@compiled
def root_value(f, t):
    """Return the search's value of a root, for its player to move; a proven value is exact.

    It is the mean of the visits, after a Gumbel search the value of the improved policy.
    """
    index = f.trees[t].root
    root = f.nodes[index]
    value = improve(f, t) if f.trees[t].noisy == GUMBEL else sum_of_values(f, index) / (1.0 + root.total)
    return solver.exact_value(root, value)
