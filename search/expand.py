"""Grows the tree: a child's position and node, the network's evaluation of it, its moves' priors.

A new node is WAITING. The network's evaluation makes it EXPANDED, with logits. `make_priors` replaces them by priors
when a simulation first passes through the node: most nodes of a search with some hundred visits stay leaves.
"""

from __future__ import annotations

import math

import numpy as np

from compiled import at, compiled, inlined
from game import PLAYER
from games.returned_values import LEGAL, break_rule, is_over, is_sound
from search import solver
from search.solving.proofs import UNPROVEN
from search.speed.fast_exp import exp
from search.tables import EXPANDED, NO_ROOM, TERMINAL, WAITING, copy_row, edge_room, find, grouped, row_index

# ---- a child


@inlined
def try_move(f, rules, t, parent, e):
    """Write the position behind edge e of `parent` into the tree's next free row; return its key."""
    free = t * (f.capacity + 1) + at(f.trees, t).nodes
    row = f.rows[np.uint64(free)]
    copy_row(f.rows, free, f.rows[np.uint64(row_index(f, t, parent))])
    rules.play(row, at(f.moves, e).action)
    return rules.key(row)


@inlined
def link_child(f, rules, t, key, e):
    """Return the node behind edge e, whose position is in the tree's next free row; NO_ROOM in a full tree.

    The node is new, or shared with another path that reached the position before.
    """
    node = find(f, t, key)
    if node < 0:
        node = new_node(f, rules, t, key, node)
    if node >= 0:
        at(f.edges, e).child = node
    return node


@inlined
def new_node(f, rules, t, key, free):
    """Make a node for the position in the tree's next free row; `free` is `find(key)`'s result. NO_ROOM if full."""
    tree = at(f.trees, t)
    capacity, edge_capacity = f.capacity, f.edge_capacity
    if tree.nodes >= capacity:
        return NO_ROOM
    row = f.rows[np.uint64(t * (capacity + 1) + tree.nodes)]
    over = is_over(rules, row, f.outcome, f.bounds)
    first = np.int64(t * edge_capacity + tree.edges)
    count = np.int64(0) if over else list_moves(f, rules, row, first, edge_room(f, tree))
    if count < 0:
        return NO_ROOM
    if not is_sound(row, over, count, f.bounds):
        over, count = True, np.int64(0)
        f.outcome[0] = 0.0
    index = t * capacity + tree.nodes
    node = at(f.nodes, index)
    node.key = key
    node.player = row[PLAYER]
    node.total = 0
    node.value = f.outcome[0] if over else 0.0
    node.status = TERMINAL if over else WAITING
    node.logits = 0
    node.first = first
    node.count = count
    node.legal = count
    node.materialised = 0
    solver.at_new_node(f, rules, t, node, row, over)
    tree.nodes += 1
    tree.edges += grouped(count)
    f.table[np.uint64(-1 - free)] = index
    return index


@inlined
def list_moves(f, rules, row, first, room):
    """Write a position's legal moves from index `first` on; return their number.

    0: they break a rule, see games/returned_values.py. NO_ROOM: there are more than `room`.
    """
    count, size = rules.legal(row, f.legal), f.legal.shape[0]
    if grouped(count) > room and count <= size:
        return np.int64(NO_ROOM)
    signs, before = np.int64(0 < count <= size) - 1, np.int64(-1)  # negative as soon as a rule is broken
    for i in range(count if signs == 0 else 0):
        action, move = np.int64(at(f.legal, i)), at(f.moves, first + i)
        move.action, move.proven = action, UNPROVEN
        signs |= action - before - 1
        before = action
    if signs < 0 or before >= size:
        break_rule(f.bounds, LEGAL)
        return np.int64(0)
    return count


# ---- the network's evaluation


@inlined
def expand(f, index, value, logits):
    """Give a node its value and the logits of its moves, which `make_priors` turns into priors when they are needed.

    Returns False, with equal priors and the value 0 in place, when the evaluation was not finite.
    """
    node = at(f.nodes, index)
    first, count = np.int64(node.first), np.int64(node.count)
    top, wrong = -np.inf, False
    for i in range(count):
        logit = at(logits, at(f.moves, first + i).action)
        at(f.moves, first + i).P = logit
        wrong |= math.isnan(logit)
        top = max(top, logit)
    sound = math.isfinite(top) and math.isfinite(value) and not wrong
    if not sound:
        for e in range(first, first + count):
            f.moves[e].P = 1.0 / count
    node.value = value if sound else 0.0
    node.status, node.logits = EXPANDED, sound
    return sound


@inlined
def make_priors(f, index):
    """Compute a node's priors if it still has logits."""
    if at(f.nodes, index).logits:
        softmax(f, at(f.nodes, index))


@compiled
def softmax(f, node):
    """Replace the logits of a node's legal moves by their softmax, shifted by the largest of them."""
    first, count = np.int64(node.first), np.int64(node.count)
    top = -np.inf
    for i in range(count):
        f.odds[np.uint64(i)] = at(f.moves, first + i).P
        top = max(top, at(f.odds, i))
    for i in range(count):  # a loop of its own, so that it is vectorised
        f.odds[np.uint64(i)] = exp(at(f.odds, i) - top)
    total = 0.0
    for i in range(count):
        total += at(f.odds, i)
    for i in range(count):
        at(f.moves, first + i).P = np.float32(at(f.odds, i)) / total
    node.logits = 0


def legal_softmax(logits: np.ndarray) -> np.ndarray:
    """Return the softmax [n] of the logits of the legal moves, shifted by the largest so that nothing overflows."""
    odds = np.exp(logits.astype(np.float64) - float(logits.max()))
    probabilities: np.ndarray = odds / odds.sum()
    return probabilities
