"""The search's tables: nodes, edges, the hash from state key to node.

Many trees are stored in one allocation (`Forest`); one tree is the case n = 1. Each tree owns a range of nodes, of
edges and of the hash, so positions reached twice share a node. The edges of a node are contiguous and exist for its
legal moves only; moves that lose at once are left out and stand behind the edges. A child is made at its first visit.
Indices are global.

Only the first `materialised` edges of a node have a row in `edges`: the visited ones and the next to be visited. Each
other edge is just a prior and a move; `materialise_edge` gives it a row behind those. So a simulation that visits few
of many moves reads one or two cache lines per node, whatever the number of legal moves.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from compiled import at, compiled, inlined, up_to
from compiling.records import record
from config import PLAIN_SEARCH, SearchSettings, UserError
from game import Game
from games.returned_values import MAX_ACTIONS
from search.solving.work_space import Solver, make_solver
from search.speed.aligned_arrays import allocate

UNVISITED = -1
WAITING, EXPANDED, TERMINAL = 0, 1, 2
"""Status of a node: no priors yet; priors known; game over."""
NO_ROOM = -2
NO_NOISE, DIRICHLET, GUMBEL = 0, 1, 2
"""Noise at a root: none, on the priors, or a Gumbel number for each move."""

NODE = np.dtype(
    [
        ("key", "u8"),  # of the state
        ("value", "f4"),  # for the player to move: the network's, or the result
        ("total", "i4"),  # sum of the edges' N
        ("first", "i4"),  # the first of its edges
        ("count", "u2"),  # number of its edges
        ("materialised", "u2"),  # how many of them have a row in `edges`
        ("legal", "u2"),  # number of legal moves: those that look-ahead leaves out stand behind the edges
        ("player", "i1"),  # who is to move: 1 or -1
        ("status", "i1"),
        ("proven", "i1"),  # the solver's: what is proven (search/solving/proofs.py)
        ("late", "i1"),  # the solver's: attempts to solve it (search/solving/solved_endings.py)
        ("logits", "i1"),  # whether its moves still hold logits in place of priors
    ],
    align=True,
)
MOVE = np.dtype([("P", "f4"), ("action", "u2"), ("proven", "i1")], align=True)
EDGE = np.dtype([("W", "f8"), ("N", "i4"), ("child", "i4")], align=True)
"""MOVE: a legal move, its prior and its proof. EDGE: the statistics of a move that was or will next be selected."""
STEP = np.dtype([("edge", "i4"), ("node", "i4"), ("player", "i1")], align=True)
"""One step of a simulation's path: the edge taken, the node it leaves, the player who moved."""
SLOT = np.dtype([("key", "u8"), ("tree", "i4"), ("leaf", "i4"), ("depth", "i4"), ("ended", "i4")], align=True)
"""A simulation. key: of the child's position while that is made; leaf: the current node, in the end the leaf; ended:
how it ended (see search/simulate.py)."""
GROUP = 8
"""A node's edges begin at a multiple of this, so that its `edges` and its `moves` begin at a CPU cache line."""
TABLE_SHARE = 4
"""Places of the hash table for each node, at most."""
REMAP = 2
"""Numbers for each node in `Forest.remap`."""
PASSED = 64
"""Extra nodes of a tree, for positions with one move, which visits pass through."""
MAX_EDGES = 2**31 - 1
TREE = np.dtype(
    [
        ("rng", "u8"),
        ("root", "i4"),
        ("nodes", "i4"),  # used so far
        ("edges", "i4"),
        ("budget", "i4"),  # visits of the root at which the search ends
        ("noisy", "i4"),  # kind of noise at the root
        ("considered", "i4"),  # moves that a Gumbel search considers
        ("pending", "i4"),  # leaves that wait for the network
        ("temperature", "f4"),  # of the root's priors (`noise.apply_root_temperature`)
        ("full", "i4"),  # whether there was no room for a node
        ("dropped", "i8"),  # nodes dropped to make room (`reroot.drop_far`)
    ],
    align=True,
)


@record
class Forest(NamedTuple):
    """The tables of T trees with room for `capacity` nodes each and for L leaves each that wait for the network."""

    trees: np.ndarray
    """[T] TREE"""
    nodes: np.ndarray
    """[T * capacity] NODE"""
    edges: np.ndarray
    """[T * edge capacity] EDGE; rows of edges that are not materialised are unused."""
    moves: np.ndarray
    """[T * edge capacity] MOVE: the moves of the edges"""
    noise: np.ndarray
    """[T, action_size] float32: noise of the root by action; `noisy` of the tree says which kind"""
    rows: np.ndarray
    """[T * (capacity + 1), row_size] int32: the positions; a tree's last row is room to try a move."""
    flat: np.ndarray
    """The same memory as a 1-D array."""
    table: np.ndarray
    """[T * table size] int32: open addressing, key -> node; the size is a power of two."""
    steps: np.ndarray
    """[T * L * reach] STEP: the path of each simulation"""
    slots: np.ndarray
    """[T * L] SLOT"""
    active: np.ndarray
    """[T * L] int32: the slots with a running simulation"""
    making: np.ndarray
    entering: np.ndarray
    finishing: np.ndarray
    """[T * L] int32: the slots about to make a child's position, to enter the child, to finish"""
    legal: np.ndarray
    """[action_size] int32: room for one list of legal moves."""
    outcome: np.ndarray
    """[1] float32: room for one outcome."""
    odds: np.ndarray
    """[action_size rounded up to GROUP] float64: room for the odds of one node's moves."""
    remap: np.ndarray
    """[2, capacity] int32: room for re-rooting."""
    solver: Solver
    """What search/solver.py needs"""
    bounds: np.ndarray
    """[2] int32: the first rule that the game broke, and its max_plies (games/returned_values.py)"""
    leaves: int
    """L"""
    reach: int
    """Largest depth of a leaf."""
    capacity: int
    edge_capacity: int
    """Nodes and edges that each tree has room for."""
    node_price: int
    """What a node takes of the room for edges, where both share a limit of bytes; else 0."""
    places: int
    """Size of a tree's part of `table`, a power of two."""


ENDLESS = 10**9
"""Visits of a search that ends by a clock or a command; its trees are as large as their limit of memory."""


def capacity_for(sims: int, leaves: int) -> int:
    """Return the node capacity for a search of `sims` visits.

    Of the three nodes per visit two are for what is kept from the previous move and for positions with one safe move,
    which visits pass through (`look_ahead.pass_through`). PASSED more, because even a few visits can pass through many
    of these.
    Memory that is not needed is never touched, except for the hash table.
    """
    return 3 * sims + leaves + PASSED


def forest_bytes(game: Game, trees: int, leaves: int, capacity: int) -> int:
    """Return the memory that `make_forest` takes at most, in bytes."""
    edge = (EDGE.itemsize + MOVE.itemsize) * up_to(GROUP, game.action_size)
    table = 4 << (2 * capacity - 1).bit_length()
    node = NODE.itemsize + edge + 4 * row_size(game)
    return trees * (capacity * node + table + leaves * STEP.itemsize * max_depth(game) + 4 * game.action_size)


def trees_in(room: int, game: Game, sims: int) -> int:
    """Return how many trees for searches of `sims` simulations fit into `room` bytes."""
    return room // forest_bytes(game, 1, 1, capacity_for(sims, 1))


class Room(NamedTuple):
    """What a tree has room for, see `Forest`."""

    capacity: int
    edge_capacity: int
    node_price: int


def tree_room(game: Game, capacity: int, most: int | None) -> Room:
    """Return the room of a tree with `capacity` nodes, or with as many as fit into `most` bytes.

    How many edges come with a node is not known before, so under a limit a node takes the room of `node_price` edges,
    and the tree is full when nodes and edges together take the limit. Of both there is address space for more.
    """
    edges = capacity * up_to(GROUP, game.action_size)
    node, edge = NODE.itemsize + 4 * (row_size(game) + TABLE_SHARE + REMAP), EDGE.itemsize + MOVE.itemsize
    if most is None or capacity * node + edges * edge <= most:
        return Room(capacity, edges, 0)
    edges, price = min(edges, most // edge), -(-node // edge)
    return Room(max(min(capacity, edges // (price + GROUP)), 2), edges, price)


def row_size(game: Game) -> int:
    """Return how many numbers a row of the game has."""
    if game.start_row is None:
        raise TypeError(f"{game.name} has no rows: derive it from games.plain.PlainGame or set `start_row`")
    return int(game.start_row.shape[0])


def max_depth(game: Game) -> int:
    """Return the largest depth of a leaf below a root."""
    return min(game.max_plies, 4096) + 1


def make_forest(
    game: Game,
    trees: int,
    leaves: int,
    capacity: int,
    search: SearchSettings = PLAIN_SEARCH,
    *,
    most: int | None = None,
) -> Forest:
    """Allocate the tables; memory pages are touched when first used.

    search: what its solver does. most: bytes that the trees may take; `reroot.make_room` makes them do with less.
    """
    if game.action_size > MAX_ACTIONS:
        raise UserError(f"{game.spec}: expected at most {MAX_ACTIONS:,} actions, got {game.action_size:,}")
    room = tree_room(game, capacity, most and min(most, MAX_EDGES * (EDGE.itemsize + MOVE.itemsize)) // trees)
    capacity = room.capacity
    table = 1 << (2 * capacity - 1).bit_length()
    edges, slots = trees * room.edge_capacity, trees * leaves
    if edges > MAX_EDGES:
        wanted = f"{trees:,} trees of {capacity:,} positions with {game.action_size:,} moves"
        raise UserError(f"expected room for at most {MAX_EDGES:,} moves, got {wanted}; take fewer simulations or games")
    tables: dict[str, Any] = dict(
        trees=(trees, TREE),
        nodes=(trees * capacity, NODE),
        edges=(edges, EDGE),
        moves=(edges, MOVE),
        rows=((trees * (capacity + 1), row_size(game)), np.int32),
        table=(trees * table, np.int32),
        steps=(slots * max_depth(game), STEP),
        slots=(slots, SLOT),
    )
    try:
        found = allocate(**tables)
    except MemoryError:
        one = "a tree" if trees == 1 else f"{trees:,} trees"
        gib = forest_bytes(game, trees, leaves, capacity) / 2**30
        needs = f"{one} of {game.spec} for up to {capacity:,} positions needs {gib:.1f} GiB"
        less = "fewer simulations" if trees == 1 else "fewer simulations or games side by side"
        raise UserError(f"not enough memory: {needs}; take {less}") from None
    found["table"][:] = UNVISITED
    found["slots"]["tree"] = np.repeat(np.arange(trees), leaves)
    solver = make_solver(game, search)
    return Forest(
        **found,
        flat=found["rows"].reshape(-1),
        noise=np.zeros((trees, game.action_size), np.float32),
        active=np.zeros(slots, np.int32),
        making=np.zeros(slots, np.int32),
        entering=np.zeros(slots, np.int32),
        finishing=np.zeros(slots, np.int32),
        legal=np.zeros(game.action_size, np.int32),
        outcome=np.zeros(1, np.float32),
        odds=np.zeros(up_to(GROUP, game.action_size), np.float64),
        remap=np.zeros((REMAP, capacity), np.int32),
        solver=solver,
        bounds=solver.line.bounds,
        leaves=leaves,
        reach=max_depth(game),
        capacity=capacity,
        edge_capacity=room.edge_capacity,
        node_price=room.node_price,
        places=table,
    )


@inlined
def find(f, t, key):
    """Return the node of a key in tree t, or -1 - the free place in the hash table."""
    place = np.int64(key & np.uint64(f.places - 1))
    while True:
        node = np.int64(at(f.table, t * f.places + place))
        if node < 0:
            return -1 - (t * f.places + place)
        if at(f.nodes, node).key == key:
            return node
        place = (place + 1) & (f.places - 1)


@inlined
def grouped(count):
    """Return `count` rounded up to a multiple of GROUP."""
    return (count + GROUP - 1) & ~(GROUP - 1)


@inlined
def edge_room(f, tree):
    """Return how many more edges a tree has room for."""
    return f.edge_capacity - tree.edges - f.node_price * np.int64(tree.nodes)


@inlined
def materialise_edge(f, node, e):
    """Give edge e a row, behind the node's materialised ones, and return its new index."""
    place = np.int64(node.first) + node.materialised
    if e < place:
        return np.int64(e)
    move, other = at(f.moves, e), at(f.moves, place)
    action, prior = move.action, move.P
    move.action, move.P = other.action, other.P
    other.action, other.P = action, prior
    edge = at(f.edges, place)
    edge.W = 0.0
    edge.N = 0
    edge.child = UNVISITED
    node.materialised += 1
    return np.int64(place)


@compiled
def sum_of_values(f, index):
    """Return a node's value plus W of its edges, for its player to move; over 1 + total it is the search's value."""
    node = f.nodes[index]
    W = 0.0
    for e in range(node.first, node.first + node.materialised):
        W += f.edges[e].W
    if math.isnan(node.value):  # not evaluated: the mean of the visits stands in
        return W + W / max(node.total, 1)
    return W + node.value


@inlined
def copy_row(rows, index, row):
    """Write a position into the table of rows."""
    to = rows[np.uint64(index)]
    for i in range(row.shape[0]):
        to[np.uint64(i)] = at(row, i)


@inlined
def row_index(f, t, node):
    """Return the index of a node's position in f.rows (each tree has one row more than nodes)."""
    return node + t
