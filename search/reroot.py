"""Moves the root: makes a position the root of a tree, with its subtree or as a new tree, and drops the rest."""

from __future__ import annotations

import numpy as np

from compiled import at, compiled, inlined, prefetch
from search import solver
from search.expand import link_child, make_priors, new_node, try_move
from search.solving.proofs import UNPROVEN
from search.speed.prefetch import prefetch_node
from search.tables import NO_NOISE, UNVISITED, copy_row, find, grouped, row_index


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
def mark(f, t, node):
    """Mark in f.remap[0] the nodes that can be reached from `node`, UNVISITED for others; prefetch the next ones."""
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
                remap[np.uint64(child)] = 0
                queue[np.uint64(found)] = child
                found += 1
                prefetch(f.nodes, base + child)


@compiled
def move_root(f, t, node):
    """Make a node the root and drop what cannot be reached from it. Nodes keep their order, so they only move down."""
    tree = at(f.trees, t)
    base, edge_base = t * f.capacity, t * f.edge_capacity
    remap, order = f.remap[0], f.remap[1]
    mark(f, t, np.int64(node))
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
                edge.child = base + at(remap, edge.child - base)
        kept_edges += grouped(np.int64(now.legal))
    tree.nodes = kept
    tree.edges = kept_edges
    adopt_root(f, t, base + remap[node - base])
    forget_keys(f, t)
    for k in range(kept):
        f.table[np.uint64(-1 - find(f, t, at(f.nodes, base + k).key))] = base + k


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
            if tree.nodes + missing <= f.capacity and tree.edges + edges <= f.edge_capacity:
                return
    plant(f, rules, t, row)


@compiled
def make_child(f, rules, t, parent, e):
    """Make the child behind edge e: `try_move`, then `link_child`."""
    return link_child(f, rules, t, try_move(f, rules, t, parent, e), e)
