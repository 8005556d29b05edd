"""Moves the root: makes a position the root of a tree, with its subtree or as a new tree, and drops the rest.

A tree that is full before its search ends drops what is far from its main lines instead (`make_room`).
"""

from __future__ import annotations

import numpy as np

from compiled import at, compiled, inlined, prefetch
from search import solver
from search.expand import link_child, make_priors, new_node, try_move
from search.solving.proofs import UNPROVEN
from search.speed.prefetch import prefetch_node
from search.tables import NO_NOISE, UNVISITED, copy_row, edge_room, find, grouped, row_index


@inlined
def forget_keys(f, t):
    """Empty a tree's part of the hash table."""
    for i in range(f.places):
        f.table[np.uint64(t * f.places + i)] = UNVISITED


@compiled
def clear_tree(f, t):
    """Drop a tree; its random state stays."""
    forget_keys(f, t)
    tree = f.trees[t]
    tree.nodes = 0
    tree.edges = 0
    tree.noisy = NO_NOISE
    tree.temperature = 1.0
    tree.pending = 0
    tree.full, tree.dropped = 0, 0
    tree.root = UNVISITED


@inlined
def set_root(f, t, index):
    """Make a node the root."""
    f.trees[t].root = index
    make_priors(f, index)
    solver.at_new_root(f, index)


@compiled
def plant(f, rules, t, row):
    """Make tree t a single root."""
    clear_tree(f, t)
    copy_row(f.rows, t * (f.capacity + 1), row)
    key = rules.key(row)
    set_root(f, t, new_node(f, rules, t, key, find(f, t, key)))


@compiled
def drop_unvisited_edges(f, index):
    """Take back the rows of a node's unvisited edges, so that only its visited edges are materialised."""
    node = f.nodes[index]
    e = node.first
    while e < node.first + node.materialised:
        if f.edges[e].N > 0:
            e += 1
            continue
        last = node.first + node.materialised - 1
        action, prior = f.moves[e].action, f.moves[e].P
        f.moves[e] = f.moves[last]
        f.moves[last].action, f.moves[last].P, f.moves[last].proven = action, prior, UNPROVEN
        f.edges[e] = f.edges[last]
        node.materialised -= 1


@inlined
def adopt_root(f, t, index):
    """Make a node of the tree the root, without noise.

    Noise at the old root may have materialised edges out of the order of their priors, so unvisited ones are taken
    back.
    """
    tree = at(f.trees, t)
    set_root(f, t, index)
    tree.noisy = NO_NOISE
    tree.temperature = 1.0
    tree.pending = 0
    drop_unvisited_edges(f, tree.root)


@compiled
def mark(f, t, node, least):
    """Mark in f.remap[0] the nodes that can be reached from `node`, UNVISITED for others; prefetch the next ones.

    least: a node with fewer visits is not reached.
    """
    base = t * f.capacity
    remap, queue = f.remap[0], f.remap[1]
    for i in range(at(f.trees, t).nodes):
        remap[np.uint64(i)] = UNVISITED
    queue[0], remap[node - base], looked, found = node - base, 0, 0, 1
    while looked < found:
        if looked + 2 < found:
            prefetch_node(f, t, base + at(queue, looked + 2))
        parent = at(f.nodes, base + at(queue, looked))
        looked += 1
        first = np.int64(parent.first)
        for e in range(first, first + parent.materialised):
            child = np.int64(at(f.edges, e).child) - base
            if child >= 0 and at(remap, child) == UNVISITED:
                if least > 0 and at(f.nodes, base + child).total < least:
                    continue
                remap[np.uint64(child)] = 0
                queue[np.uint64(found)] = child
                found += 1
                prefetch(f.nodes, base + child)


@compiled
def drop_unmarked(f, t):
    """Drop the nodes that `mark` left out; f.remap[0] then says where the others are.

    Nodes keep their order, so they only move down. A move to a dropped node keeps its visits and its value.
    """
    tree = at(f.trees, t)
    base, edge_base = t * f.capacity, t * f.edge_capacity
    remap, order = f.remap[0], f.remap[1]
    kept, kept_edges = np.int64(0), np.int64(0)
    for i in range(tree.nodes):
        if at(remap, i) != UNVISITED:
            remap[np.uint64(i)] = kept
            order[np.uint64(kept)] = i
            kept += 1
    for k in range(kept):
        if k + 4 < kept:
            prefetch_node(f, t, base + at(order, k + 4))
        old, now = base + at(order, k), at(f.nodes, base + k)
        old_first, first = np.int64(at(f.nodes, old).first), edge_base + kept_edges
        if old != base + k:
            f.nodes[base + k] = f.nodes[old]
            copy_row(f.rows, row_index(f, t, base + k), f.rows[np.uint64(row_index(f, t, old))])
        now.first = first
        for j in range(now.legal):
            f.moves[first + j] = f.moves[old_first + j]
        for j in range(now.materialised):
            f.edges[first + j] = f.edges[old_first + j]
            edge = at(f.edges, first + j)
            if edge.child >= 0:
                place = np.int64(at(remap, edge.child - base))
                edge.child = base + place if place != UNVISITED else UNVISITED
        kept_edges += grouped(np.int64(now.legal))
    tree.nodes = kept
    tree.edges = kept_edges
    tree.full = 0
    forget_keys(f, t)
    for k in range(kept):
        f.table[np.uint64(-1 - find(f, t, at(f.nodes, base + k).key))] = base + k


@compiled
def move_root(f, t, node):
    """Make a node the root and drop what cannot be reached from it."""
    base = t * f.capacity
    mark(f, t, np.int64(node), np.int64(0))
    drop_unmarked(f, t)
    adopt_root(f, t, base + f.remap[0][node - base])


@inlined
def take_half(f, t):
    """Return whether the marked nodes take more than half of a tree's room."""
    nodes, edges = np.int64(0), np.int64(0)
    for i in range(at(f.trees, t).nodes):
        if at(f.remap[0], i) != UNVISITED:
            nodes += 1
            edges += grouped(np.int64(at(f.nodes, t * f.capacity + i).legal))
    return 2 * nodes > f.capacity or 2 * (edges + f.node_price * nodes) > f.edge_capacity


@compiled
def drop_far(f, t):
    """Drop the nodes of a tree with the fewest visits, until at most half of its room is taken.

    The moves to them keep their visits and values; the next visit makes the node again. Of a tree's nodes about half
    have no visits, as leaves; `least` doubles where dropping these is not enough.
    """
    tree = at(f.trees, t)
    root, base = np.int64(tree.root), t * f.capacity
    before, least = tree.nodes, np.int64(1)
    mark(f, t, root, least)
    while take_half(f, t) and least <= at(f.nodes, root).total:
        least *= 2
        mark(f, t, root, least)
    drop_unmarked(f, t)
    tree.root = base + f.remap[0][root - base]
    tree.dropped += before - tree.nodes


@inlined
def make_room(f, t):
    """Make room in a tree that is full before its search ends."""
    tree = at(f.trees, t)
    root = at(f.nodes, tree.root)
    if tree.full and root.total < tree.budget and root.proven == UNPROVEN:
        drop_far(f, t)


@compiled
def advance_root(f, t, node, room):
    """Make a node the root. Drop what cannot be reached from it only once fewer than `room` more nodes would fit.

    Dropping costs as much as some visits, and until then positions reached another way are still in the tree.
    """
    tree = at(f.trees, t)
    if tree.nodes + room > f.capacity:
        move_root(f, t, node)
        return
    drop_unvisited_edges(f, tree.root)
    adopt_root(f, t, node)


@compiled
def re_root(f, rules, t, row, room):
    """Make a position the root: with its subtree when `room` more nodes still fit, else as a new tree."""
    if f.trees[t].nodes > 0:
        node = find(f, t, rules.key(row))
        if node >= 0:
            move_root(f, t, node)
            tree, missing = f.trees[t], room - f.nodes[f.trees[t].root].total
            edges = missing * grouped(f.legal.shape[0])
            if tree.nodes + missing <= f.capacity and edges <= edge_room(f, tree):
                return
    plant(f, rules, t, row)


@compiled
def make_child(f, rules, t, parent, e):
    """Make the child behind edge e: `try_move`, then `link_child`."""
    return link_child(f, rules, t, try_move(f, rules, t, parent, e), e)
