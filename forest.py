"""The search's tables: nodes, edges, the hash from state key to node; making, sharing, pruning nodes.

Many trees lie side by side in one allocation (`Forest`); one tree is the case n = 1. Each tree owns a range of nodes,
of edges and of the hash, so positions reached twice share a node. The edges of a node are contiguous and stand for its
legal moves only; a child is made when first visited. Indices are global in the forest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from compiled import compiled, inlined
from game import PLAYER, Game

UNVISITED = -1
WAITING, EXPANDED, TERMINAL = 0, 1, 2
"""Status of a node: no priors yet; priors known; game over."""
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
    """[4] int64: looked up, found, simulations, answers of the network that were not finite"""


def capacity_for(sims: int, leaves: int) -> int:
    """Nodes for a search of `sims` visits: as many again for what is kept from the move before."""
    return 2 * sims + leaves + 2


def make_cache(size: int, action_size: int) -> Cache:
    """Return a cache with room for at least one position; sizes round up to powers of two."""
    room = 1 << max(size - 1, 0).bit_length()
    return Cache(
        np.zeros(room, np.uint64),
        np.zeros(room, np.float32),
        np.zeros((room, action_size), np.float32),
        np.zeros(4, np.int64),
    )


def forest_bytes(game: Game, trees: int, leaves: int, capacity: int) -> int:
    """Return the memory that `make_forest` takes."""
    edge = EDGE.itemsize * game.action_size
    table = 4 << (2 * capacity - 1).bit_length()
    node = NODE.itemsize + edge + 4 * row_size(game)
    return trees * (capacity * node + table + leaves * 4 * max_depth(game))


def row_size(game: Game) -> int:
    """Numbers in a row of a game."""
    if game.start_row is None:
        raise TypeError(f"{game.name} has no rows: derive it from games.plain.PlainGame or set `start_row`")
    return int(game.start_row.shape[0])


def max_depth(game: Game) -> int:
    """Longest walk from a root to a leaf."""
    return min(game.max_plies, 4096) + 1


def make_forest(game: Game, trees: int, leaves: int, capacity: int) -> Forest:
    """Allocate the tables; pages are touched when first used."""
    table = 1 << (2 * capacity - 1).bit_length()
    return Forest(
        trees=np.zeros(trees, TREE),
        nodes=np.zeros(trees * capacity, NODE),
        edges=np.zeros(trees * capacity * game.action_size, EDGE),
        rows=np.zeros((trees * (capacity + 1), row_size(game)), np.int32),
        table=np.full(trees * table, UNVISITED, np.int32),
        path=np.zeros((trees * leaves, max_depth(game)), np.int32),
        leaf=np.zeros(trees * leaves, np.int32),
        depth=np.zeros(trees * leaves, np.int32),
        legal=np.zeros(game.action_size, np.int32),
        outcome=np.zeros(1, np.float32),
        remap=np.zeros((2, capacity), np.int32),
    )


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
def copy_row(rows, index, row):  # type: ignore[no-untyped-def]
    """Write a position into the table of rows."""
    for i in range(row.shape[0]):
        rows[index, i] = row[i]


@inlined
def row_index(f, t, node):  # type: ignore[no-untyped-def]
    """Return where the position of a node stands in f.rows (each tree has one row more than nodes)."""
    return node + t


@compiled
def clear_tree(f, t):  # type: ignore[no-untyped-def]
    """Forget a tree; its random state stays."""
    size = f.table.shape[0] // f.trees.shape[0]
    for i in range(t * size, (t + 1) * size):
        f.table[i] = UNVISITED
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
    copy_row(f.rows, t * (capacity + 1), row)
    key = rules.key(row)
    f.trees[t].root = new_node(f, rules, t, key, find(f, t, key))


@compiled
def make_child(f, rules, t, e):  # type: ignore[no-untyped-def]
    """Return the node behind edge e, made now or shared with another path; NO_ROOM when the tree is full."""
    capacity = f.nodes.shape[0] // f.trees.shape[0]
    edge = f.edges[e]
    room = f.rows[t * (capacity + 1) + f.trees[t].nodes]
    copy_row(f.rows, t * (capacity + 1) + f.trees[t].nodes, f.rows[row_index(f, t, edge.parent)])
    rules.play(room, edge.action)
    key = rules.key(room)
    node = find(f, t, key)
    if node < 0:
        node = new_node(f, rules, t, key, node)
    if node >= 0:
        edge.child = node
    return node


@compiled
def move_root(f, t, node):  # type: ignore[no-untyped-def]
    """Make a node the root and drop what cannot be reached from it. Nodes keep their order, so they slide down."""
    tree = f.trees[t]
    capacity = f.nodes.shape[0] // f.trees.shape[0]
    edge_capacity = f.edges.shape[0] // f.trees.shape[0]
    base, edge_base = t * capacity, t * edge_capacity
    remap, stack = f.remap[0], f.remap[1]
    for i in range(tree.nodes):
        remap[i] = UNVISITED
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
            copy_row(f.rows, row_index(f, t, base + kept), f.rows[row_index(f, t, base + i)])
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
    for i in range(t * size, (t + 1) * size):
        f.table[i] = UNVISITED
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
