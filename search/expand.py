"""Grows the tree: a child's position and node, what is proven of it at once, the network's evaluation.

A new node is WAITING. The network's evaluation makes it EXPANDED, with logits that search/priors.py turns into priors.
"""

from __future__ import annotations

import math

import numpy as np

from compiled import at, compiled, inlined
from game import NO_WIN, NOT_TOLD, ONLY, PLAYER
from games.bounds import FORCED_MOVE, LEGAL, SAFE_MOVES, WINNING_MOVE, break_rule, is_over, is_sound
from search.forced import NEW
from search.proofs import LOSS, UNPROVEN, WIN, proof_of
from search.tables import EXPANDED, NO_ROOM, TERMINAL, WAITING, copy_row, find, grouped, row_index

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
    count = np.int64(0) if over else list_moves(f, rules, row, first, edge_capacity - tree.edges)
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
    node.proven, node.late, node.logits = UNPROVEN, 0, 0
    if over and node.value in (-1.0, 0.0, 1.0):
        node.proven = proof_of(node.value)
    node.first = first
    node.count = count
    node.legal = count
    node.materialised = 0
    if tree.ahead > 0 and not over:
        look_ahead(f, rules, node, row, f.rows[np.uint64(t * (capacity + 1) + tree.nodes + 1)], tree)
    tree.nodes += 1
    tree.edges += grouped(count)
    f.table[np.uint64(-1 - free)] = index
    return index


@inlined
def list_moves(f, rules, row, first, room):
    """Write a position's legal moves from index `first` on; return their number.

    0: they break a rule, see games/bounds.py. NO_ROOM: there are more than `room`.
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

# ---- look-ahead: moves that win or lose at once


@inlined
def look_ahead(f, rules, node, row, room, tree):
    """Prove a position won when a move wins at once; that move comes first.

    Else, with two plies of look-ahead, leave out the moves after which the other player wins at once ("decisive" and
    "anti-decisive moves", Teytaud 2010).
    """
    move = winning_move(f, rules, node, row, room)
    if move == NO_WIN:
        if tree.ahead > 1:
            leave_out_losing(f, rules, node, row)
            if tree.forced > 0 and node.proven == UNPROVEN:
                find_forced_wins(f, node, row)
            if node.count == 1 and node.proven == UNPROVEN:
                pass_through(f, node)
        return
    prove_won(f, node, move, np.int64(WINNING_MOVE))


@compiled
def prove_won(f, node, move, broken):
    """Prove a new node won by a move, which comes first. broken: the rule that is, if there is no such move."""
    i, stop = np.int64(node.first), np.int64(node.first) + node.count
    while i < stop and f.moves[i].action != move:
        i += 1
    if i == stop:
        break_rule(f.bounds, broken)
        return
    f.moves[i].action, f.moves[node.first].action = f.moves[node.first].action, move
    node.proven = WIN


@compiled
def find_forced_wins(f, node, row):
    """Prove a new node won where a move wins by force; where the other threatens that, leave out what does not help."""
    found = f.forced(row, np.int64(NEW), f.room, f.legal)
    if found >= 0:
        prove_won(f, node, found, np.int64(FORCED_MOVE))
    elif found <= ONLY:
        keep_moves(f, node, ONLY - found, np.int64(FORCED_MOVE))


@inlined
def winning_move(f, rules, node, row, room):
    """Return the lowest move of a new node that wins at once, or NO_WIN; `room` is a row to try moves in."""
    known = rules.winning(row)
    if known != NOT_TOLD:
        return known
    for i in range(node.first, node.first + node.count):
        for k in range(row.shape[0]):
            room[k] = row[k]
        rules.play(room, f.moves[i].action)
        if is_over(rules, room, f.outcome, f.bounds):
            value = f.outcome[0] if room[PLAYER] == node.player else -f.outcome[0]
            if value == 1.0:
                return np.int64(f.moves[i].action)
    return np.int64(NO_WIN)


@inlined
def leave_out_losing(f, rules, node, row):
    """Keep the edges of the moves that do not lose at once, see `keep_moves`."""
    count = rules.safe(row, f.legal)
    if count != NOT_TOLD:
        keep_moves(f, node, count, np.int64(SAFE_MOVES))


@compiled
def keep_moves(f, node, count, broken):
    """Keep the edges of the moves f.legal[:count] of a new node; of none: prove the position lost and keep all.

    broken: the rule that is, if these are not some of its moves.
    """
    if count == 0:
        node.proven = LOSS
        return
    if count == node.legal:
        return
    if not (0 < count < node.legal):
        break_rule(f.bounds, broken)
        return
    first, k = np.int64(node.first), 0
    for i in range(node.legal):
        if k < count and f.moves[first + i].action == f.legal[k]:
            f.moves[first + i].action, f.moves[first + k].action = f.moves[first + k].action, f.legal[k]
            k += 1
    if k < count:
        break_rule(f.bounds, broken)
        return
    for e in range(first + count, first + node.legal):
        f.moves[e].P = 0.0
    node.count = count


@compiled
def pass_through(f, node):
    """Let simulations pass through a node with one move, without an evaluation: its value is NaN."""
    f.moves[node.first].P = 1.0
    node.value = math.nan
    node.status = EXPANDED

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
