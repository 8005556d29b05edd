"""The search's tables: nodes, edges, the hash from state key to node; making and sharing nodes.

Many trees lie side by side in one allocation (`Forest`); one tree is the case n = 1. Each tree owns a range of nodes,
of edges and of the hash, so positions reached twice share a node. The edges of a node are contiguous and stand for its
legal moves only, those that lose at once left out behind them; a child is made when first visited. Indices are global.

Of a node's edges only the first `opened` have a row in `edges`: those visited and the next to be. The others are a
prior and a move; `open_edge` puts the chosen one behind the opened ones. Where few of many moves are visited, a
walk so reads a line of memory or two a node, whatever the number of legal moves.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from compiled import compiled, inlined
from config import UserError
from endgame import Line, make_line
from game import NO_WIN, NOT_TOLD, PLAYER, Game

UNVISITED = -1
WAITING, EXPANDED, TERMINAL = 0, 1, 2
"""Status of a node: no priors yet; priors known; game over."""
NO_ROOM = -2
OPEN, WIN, LOSS, DRAW = 0, 1, -1, 2
"""What is proven of a node for its player to move, of an edge for who moves along it; OPEN = nothing."""

NODE = np.dtype(
    [("key", "u8"), ("value", "f4"), ("total", "i4"), ("first", "i4"), ("count", "u2"), ("opened", "u2"),
     ("legal", "u2"), ("player", "i1"), ("status", "i1"), ("proven", "i1"), ("late", "i1")], align=True)  # fmt: skip
"""key: of the state; total: sum of the edges' N; first, count: its edges; opened: of these, how many have a row; legal:
its legal moves: after the edges may stand moves that are left out because they lose at once (see `look_ahead`);
late: attempts to solve it (see solving.py)."""
EDGE = np.dtype(
    [("W", "f8"), ("N", "i4"), ("P", "f4"), ("child", "i4"), ("action", "u2"), ("proven", "i1")], align=True
)
MAX_ACTIONS, MAX_EDGES = 32_767, 2**31 - 1
TREE = np.dtype(
    [("rng", "u8"), ("root", "i4"), ("nodes", "i4"), ("edges", "i4"), ("budget", "i4"), ("noisy", "i4"),
     ("considered", "i4"), ("pending", "i4"), ("ahead", "i4"), ("late", "i4"), ("temperature", "f4")],
    align=True)  # fmt: skip
"""nodes, edges: used so far; budget: visits of the root at which the search ends; considered: moves that
a Gumbel search looks at; pending: leaves asked for; ahead: the plies that a new position is looked ahead; late: the
ply from which on one is to be solved; temperature: temperature of the root's priors (`chance.soften`)."""


class Forest(NamedTuple):
    """The tables of T trees with room for `capacity` nodes each and L leaves in the air each."""

    trees: np.ndarray
    """[T] TREE"""
    nodes: np.ndarray
    """[T * capacity] NODE"""
    edges: np.ndarray
    """[T * edge capacity] EDGE; those not yet opened hold nothing."""
    priors: np.ndarray
    """[T * edge capacity] float32: P of every edge"""
    moves: np.ndarray
    """[T * edge capacity] int32: the action of every edge"""
    noise: np.ndarray
    """[T, action_size] float32: noise of the root by action, Dirichlet's (`noisy` 1) or Gumbel's (2)"""
    rows: np.ndarray
    """[T * (capacity + 1), row_size] int32: the positions; the last row of a tree is room to try a move."""
    flat: np.ndarray
    """The same rows as one long array."""
    table: np.ndarray
    """[T * table size] int32: open addressing, key -> node; the size is a power of two."""
    path: np.ndarray
    """[T * L, max depth] int32: the edges walked to each leaf in the air."""
    turn: np.ndarray
    """[T * L, max depth] int8: who moved along them."""
    via: np.ndarray
    """[T * L, max depth] int32: the nodes they leave."""
    leaf: np.ndarray
    """[T * L] int32: where a walk stands, at its end the leaf"""
    depth: np.ndarray
    """[T * L] int32"""
    ended: np.ndarray
    """[T * L] int32: what the last walk ended with (see kernels)"""
    active: np.ndarray
    """[T * L] int32: the slots to be walked"""
    walking: np.ndarray
    """[T * L] int32: those still under way"""
    legal: np.ndarray
    """[action_size] int32: room for one list of legal moves."""
    outcome: np.ndarray
    """[1] float32: room for one outcome."""
    odds: np.ndarray
    """[action_size] float64: room for the odds of one node's moves."""
    remap: np.ndarray
    """[2, capacity] int32: room for pruning."""
    line: Line
    """Room for solving positions."""
    owner: np.ndarray
    """[T * L] int32: the tree of each slot"""
    leaves: int
    """L"""
    capacity: int
    edge_capacity: int
    """Nodes and edges that a tree has room for."""
    places: int
    """Those of a tree in `table`, a power of two."""


def capacity_for(sims: int, leaves: int) -> int:
    """Nodes for a search of `sims` visits: twice as many again for what is kept from the move before and for positions
    with one safe move, which a visit passes through (`pass_through`); of these a line of some even for a few visits.
    But for the table of keys memory that is not needed is not touched."""
    return 3 * sims + leaves + 64


def forest_bytes(game: Game, trees: int, leaves: int, capacity: int) -> int:
    """Return the memory that `make_forest` takes."""
    edge = (EDGE.itemsize + 8) * game.action_size
    table = 4 << (2 * capacity - 1).bit_length()
    node = NODE.itemsize + edge + 4 * row_size(game)
    return trees * (capacity * node + table + leaves * 9 * max_depth(game) + 4 * game.action_size)


def trees_in(room: int, game: Game, sims: int) -> int:
    """Return how many trees for searches of so many simulations fit into so many bytes."""
    return room // forest_bytes(game, 1, 1, capacity_for(sims, 1))


def row_size(game: Game) -> int:
    """Numbers in a row of a game."""
    if game.start_row is None:
        raise TypeError(f"{game.name} has no rows: derive it from games.plain.PlainGame or set `start_row`")
    return int(game.start_row.shape[0])


def max_depth(game: Game) -> int:
    """Longest walk from a root to a leaf."""
    return min(game.max_plies, 4096) + 1


def make_forest(game: Game, trees: int, leaves: int, capacity: int, endgame: int = 0) -> Forest:
    """Allocate the tables; pages are touched when first used."""
    if game.action_size > MAX_ACTIONS:
        raise UserError(f"{game.spec}: expected at most {MAX_ACTIONS:,} actions, got {game.action_size:,}")
    table = 1 << (2 * capacity - 1).bit_length()
    edges, slots = trees * capacity * game.action_size, trees * leaves
    if edges > MAX_EDGES:
        asked = f"{trees:,} trees of {capacity:,} positions with {game.action_size:,} moves"
        raise UserError(f"expected room for at most {MAX_EDGES:,} moves, got {asked}; take fewer simulations or games")
    rows = np.zeros((trees * (capacity + 1), row_size(game)), np.int32)
    return Forest(
        trees=np.zeros(trees, TREE),
        nodes=np.zeros(trees * capacity, NODE),
        edges=np.zeros(edges, EDGE),
        priors=np.zeros(edges, np.float32),
        moves=np.zeros(edges, np.int32),
        noise=np.zeros((trees, game.action_size), np.float32),
        rows=rows,
        flat=rows.reshape(-1),
        table=np.full(trees * table, UNVISITED, np.int32),
        path=np.zeros((slots, max_depth(game)), np.int32),
        turn=np.zeros((slots, max_depth(game)), np.int8),
        via=np.zeros((slots, max_depth(game)), np.int32),
        leaf=np.zeros(slots, np.int32),
        depth=np.zeros(slots, np.int32),
        ended=np.zeros(slots, np.int32),
        active=np.zeros(slots, np.int32),
        walking=np.zeros(slots, np.int32),
        legal=np.zeros(game.action_size, np.int32),
        outcome=np.zeros(1, np.float32),
        odds=np.zeros(game.action_size, np.float64),
        remap=np.zeros((2, capacity), np.int32),
        line=make_line(game, endgame),
        owner=np.repeat(np.arange(trees, dtype=np.int32), leaves),
        leaves=leaves,
        capacity=capacity,
        edge_capacity=capacity * game.action_size,
        places=table,
    )


@compiled
def find(f, t, key):  # type: ignore[no-untyped-def]
    """Return the node of a key in tree t, or -1 - the free place in the table."""
    place = np.int64(key & np.uint64(f.places - 1))
    while True:
        node = f.table[t * f.places + place]
        if node < 0:
            return -1 - (t * f.places + place)
        if f.nodes[node].key == key:
            return node
        place = (place + 1) & (f.places - 1)


@compiled
def new_node(f, rules, t, key, free):  # type: ignore[no-untyped-def]
    """Make a node of the position in the tree's next free row; `free` as `find(key)` gave it. NO_ROOM when full."""
    tree = f.trees[t]
    capacity, edge_capacity = f.capacity, f.edge_capacity
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
    node.status = TERMINAL if over else WAITING
    node.proven, node.late = OPEN, 0
    if over and node.value in (-1.0, 0.0, 1.0):
        node.proven = DRAW if node.value == 0.0 else np.int8(node.value)
    node.first = t * edge_capacity + tree.edges
    node.count = count
    node.legal = count
    node.opened = 0
    first = np.int64(node.first)
    for i in range(count):
        f.moves[first + i] = f.legal[i]
    if tree.ahead > 0 and not over:
        look_ahead(f, rules, node, row, f.rows[t * (capacity + 1) + tree.nodes + 1], tree.ahead)
    tree.nodes += 1
    tree.edges += count
    f.table[-1 - free] = index
    return index


@compiled
def winning_move(f, rules, node, row, room):  # type: ignore[no-untyped-def]
    """Return the lowest move of a new node that wins at once, or NO_WIN; `room` is a row to try moves in."""
    told = rules.winning(row)
    if told != NOT_TOLD:
        return told
    for i in range(node.first, node.first + node.count):
        for k in range(row.shape[0]):
            room[k] = row[k]
        rules.play(room, f.moves[i])
        if rules.outcome(room, f.outcome):
            value = f.outcome[0] if room[PLAYER] == node.player else -f.outcome[0]
            if value == 1.0:
                return np.int64(f.moves[i])
    return np.int64(NO_WIN)


@compiled
def look_ahead(f, rules, node, row, room, plies):  # type: ignore[no-untyped-def]
    """Prove a position won when a move wins at once; that move comes first. Else, with two plies, leave out the moves
    after which the other wins at once ("decisive" and "anti-decisive moves", Teytaud 2010).
    """
    move = winning_move(f, rules, node, row, room)
    if move == NO_WIN:
        if plies > 1:
            leave_out_losing(f, rules, node, row)
            if node.count == 1 and node.proven == OPEN:
                pass_through(f, node)
        return
    i = np.int64(node.first)
    while f.moves[i] != move:
        i += 1
    f.moves[i], f.moves[node.first] = f.moves[node.first], f.moves[i]
    node.proven = WIN


@compiled
def leave_out_losing(f, rules, node, row):  # type: ignore[no-untyped-def]
    """Keep the edges of the moves that do not lose at once; where all do, the position is proven lost and keeps all."""
    count = rules.safe(row, f.legal)
    if count == NOT_TOLD:
        return
    if count == 0:
        node.proven = LOSS
        return
    first, k = np.int64(node.first), 0
    for i in range(node.legal):
        if k < count and f.moves[first + i] == f.legal[k]:
            f.moves[first + i], f.moves[first + k] = f.moves[first + k], f.moves[first + i]
            k += 1
    for e in range(first + count, first + node.legal):
        f.priors[e] = 0.0
    node.count = count


@compiled
def pass_through(f, node):  # type: ignore[no-untyped-def]
    """Let walks go on through a node with one move: the network is asked where there is a choice. Its value is NaN."""
    f.priors[node.first] = 1.0
    node.value = math.nan
    node.status = EXPANDED


@compiled
def take_win(f, index):  # type: ignore[no-untyped-def]
    """Visit the winning move of a root that `look_ahead` proved won: it needs no other search."""
    node = f.nodes[index]
    for e in range(node.first, node.first + node.count):
        f.priors[e] = 1.0 / node.count
    edge = f.edges[open_edge(f, node, np.int64(node.first))]
    edge.N, edge.W, edge.proven = 1, 1.0, WIN
    node.total, node.value, node.status = 1, 1.0, EXPANDED


@inlined
def open_edge(f, node, e):  # type: ignore[no-untyped-def]
    """Give edge e a row, behind the node's opened ones, and return where it is now."""
    place = node.first + node.opened
    if e < place:
        return np.int64(e)
    move, prior = f.moves[e], f.priors[e]
    f.moves[e], f.priors[e] = f.moves[place], f.priors[place]
    f.moves[place], f.priors[place] = move, prior
    edge = f.edges[place]
    edge.W = 0.0
    edge.N = 0
    edge.P = prior
    edge.child = UNVISITED
    edge.action = move
    edge.proven = OPEN
    node.opened += 1
    return np.int64(place)


@compiled
def sum_of_values(f, index):  # type: ignore[no-untyped-def]
    """Return a node's value plus W of its edges, for its player to move: over 1 + total it is the search's value."""
    node = f.nodes[index]
    W = 0.0
    for e in range(node.first, node.first + node.opened):
        W += f.edges[e].W
    if math.isnan(node.value):  # nobody was asked: the mean of the visits stands for it
        return W + W / max(node.total, 1)
    return W + node.value


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
    for i in range(t * f.places, (t + 1) * f.places):
        f.table[i] = UNVISITED
    tree = f.trees[t]
    tree.nodes = 0
    tree.edges = 0
    tree.noisy = 0
    tree.temperature = 1.0
    tree.pending = 0
    tree.root = UNVISITED


@inlined
def set_root(f, t, index):  # type: ignore[no-untyped-def]
    """Make a node the root; one that is won at once has its winning move visited, one that is lost asks the network for
    its priors, and no more. Of one that was solved the moves are still to be known (`solving.solve_root`).
    """
    f.trees[t].root = index
    node = f.nodes[index]
    if node.status == WAITING and node.proven == WIN and not node.late:
        take_win(f, index)


@compiled
def plant(f, rules, t, row):  # type: ignore[no-untyped-def]
    """Make tree t a single root."""
    clear_tree(f, t)
    copy_row(f.rows, t * (f.capacity + 1), row)
    key = rules.key(row)
    set_root(f, t, new_node(f, rules, t, key, find(f, t, key)))


@compiled
def make_child(f, rules, t, parent, e):  # type: ignore[no-untyped-def]
    """Return the node behind edge e of `parent`, made now or shared with another path; NO_ROOM in a full tree."""
    edge = f.edges[e]
    room = f.rows[t * (f.capacity + 1) + f.trees[t].nodes]
    copy_row(f.rows, t * (f.capacity + 1) + f.trees[t].nodes, f.rows[row_index(f, t, parent)])
    rules.play(room, edge.action)
    key = rules.key(room)
    node = find(f, t, key)
    if node < 0:
        node = new_node(f, rules, t, key, node)
    if node >= 0:
        edge.child = node
    return node
