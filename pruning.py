"""Keeps the part of a tree that the next move needs and drops the rest."""

from __future__ import annotations

import numpy as np

from compiled import compiled
from forest import UNVISITED, copy_row, find, plant, row_index, set_root


@compiled
def close_unvisited(f, index):  # type: ignore[no-untyped-def]
    """Take back the rows of a node's unvisited edges, as if none had been about to be visited."""
    node = f.nodes[index]
    e = node.first
    while e < node.first + node.opened:
        if f.edges[e].N > 0:
            e += 1
            continue
        last = node.first + node.opened - 1
        move, prior = f.moves[e], f.priors[e]
        f.moves[e], f.priors[e] = f.moves[last], f.priors[last]
        f.moves[last], f.priors[last] = move, prior
        f.edges[e] = f.edges[last]
        node.opened -= 1


@compiled
def move_root(f, t, node):  # type: ignore[no-untyped-def]
    """Make a node the root and drop what cannot be reached from it. Nodes keep their order, so they slide down."""
    tree = f.trees[t]
    base, edge_base = t * f.capacity, t * f.edge_capacity
    remap, stack = f.remap[0], f.remap[1]
    for i in range(tree.nodes):
        remap[i] = UNVISITED
    top = 1
    stack[0] = node - base
    remap[node - base] = 0
    while top > 0:
        top -= 1
        parent = f.nodes[base + stack[top]]
        for e in range(parent.first, parent.first + parent.opened):
            child = f.edges[e].child
            if child >= 0 and remap[child - base] == UNVISITED:
                remap[child - base] = 0
                stack[top] = child - base
                top += 1
    kept, kept_edges = 0, 0
    for i in range(tree.nodes):
        if remap[i] != UNVISITED:
            remap[i] = kept
            kept += 1
    kept = 0
    for i in range(tree.nodes):
        if remap[i] == UNVISITED:
            continue
        old_first = np.int64(f.nodes[base + i].first)
        if kept != i:
            f.nodes[base + kept] = f.nodes[base + i]
            copy_row(f.rows, row_index(f, t, base + kept), f.rows[row_index(f, t, base + i)])
        moved = f.nodes[base + kept]
        first = edge_base + kept_edges
        moved.first = first
        for k in range(np.int64(moved.legal)):
            f.moves[first + k] = f.moves[old_first + k]
            f.priors[first + k] = f.priors[old_first + k]
        for k in range(np.int64(moved.opened)):
            f.edges[first + k] = f.edges[old_first + k]
            child = f.edges[first + k].child
            if child >= 0:
                f.edges[first + k].child = base + remap[child - base]
        kept_edges += moved.legal
        kept += 1
    set_root(f, t, base + remap[node - base])
    tree.nodes = kept
    tree.edges = kept_edges
    tree.noisy = 0
    tree.temperature = 1.0
    tree.pending = 0
    close_unvisited(f, tree.root)  # noise may have opened edges out of the order of their priors
    for i in range(t * f.places, (t + 1) * f.places):
        f.table[i] = UNVISITED
    for i in range(kept):
        f.table[-1 - find(f, t, f.nodes[base + i].key)] = base + i


@compiled
def re_root(f, rules, t, row, room):  # type: ignore[no-untyped-def]
    """Make a position the root: kept with what the tree knows of it when `room` more nodes still fit, else anew."""
    if f.trees[t].nodes > 0:
        node = find(f, t, rules.key(row))
        if node >= 0:
            move_root(f, t, node)
            missing = room - f.nodes[f.trees[t].root].total
            tree = f.trees[t]
            if tree.nodes + missing <= f.capacity and tree.edges + missing * f.legal.shape[0] <= f.edge_capacity:
                return
    plant(f, rules, t, row)
