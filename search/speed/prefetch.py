"""Asks the processor for memory a while before it is read: it comes while other games compute.

Between two questions to the network whatever the search had at hand is gone from the processor's caches, and a line of
them takes as long to come as some hundred operations.
"""

from __future__ import annotations

import numpy as np

from compiled import CACHE_LINE, at, inlined, prefetch
from search.evaluation_cache import cache_place
from search.tables import EDGE, STEP, row_index

AHEAD = 16
"""So many games further on memory is asked for."""
_EDGES, _STEPS, _NUMBERS = CACHE_LINE // EDGE.itemsize, CACHE_LINE // STEP.itemsize, CACHE_LINE // 4
"""How many begin in a line; the first of a node's edges begins one."""


@inlined
def prefetch_edges(f, index):
    """Ask the processor for what `select` reads at a node."""
    node = at(f.nodes, index)
    first, materialised = np.int64(node.first), np.int64(node.materialised)
    prefetch(f.edges, first)
    if materialised >= _EDGES:
        prefetch(f.edges, first + _EDGES)
    prefetch(f.moves, first)


@inlined
def prefetch_place(f, t, key):
    """Ask the processor for what finding or making the node of a key reads and writes first."""
    prefetch(f.table, t * f.places + np.int64(key & np.uint64(f.places - 1)))
    prefetch(f.nodes, t * f.capacity + at(f.trees, t).nodes)
    prefetch(f.moves, t * f.edge_capacity + at(f.trees, t).edges)


@inlined
def prefetch_row(f, row):
    """Ask the processor for a position."""
    size = f.rows.shape[1]
    for i in range(0, min(size, 4 * _NUMBERS), _NUMBERS):
        prefetch(f.flat, row * size + i)


@inlined
def prefetch_steps(f, slot):
    """Ask the processor for the first steps of a walk and its leaf."""
    prefetch(f.nodes, at(f.slots, slot).leaf)
    prefetch(f.steps, slot * f.reach)
    prefetch(f.steps, slot * f.reach + _STEPS)


@inlined
def prefetch_answer(cache, key):
    """Ask the processor for the numbers that the cache holds at a key's place."""
    width = cache.numbers.shape[1]
    first = np.int64(cache_place(cache, key)) * width
    prefetch(cache.flat, first)
    if width > _NUMBERS:
        prefetch(cache.flat, first + width - 1)


@inlined
def prefetch_path(f, cache, slot):
    """Ask the processor for what an answer is written to."""
    w = at(f.slots, slot)
    node = at(f.nodes, w.leaf)
    prefetch(f.moves, node.first)
    prefetch(cache.keys, np.int64(cache_place(cache, node.key)))
    for d in range(w.depth):
        prefetch(f.edges, at(f.steps, slot * f.reach + d).edge)


@inlined
def prefetch_node(f, t, index):
    """Ask the processor for a node's edges and position."""
    first = np.int64(at(f.nodes, index).first)
    prefetch(f.flat, row_index(f, t, index) * f.rows.shape[1])
    prefetch(f.moves, first)
    prefetch(f.edges, first)
    prefetch(f.edges, first + _EDGES)
