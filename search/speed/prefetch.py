"""Requests memory from the CPU before it is read, so that it arrives while other games compute.

Each network call evicts the search tables from the CPU caches, so the next reads go to main memory. Loading one cache
line takes as long as some hundred operations.
"""

from __future__ import annotations

import numpy as np

from compiled import CACHE_LINE, at, inlined, prefetch
from search.evaluation_cache import cache_place
from search.tables import EDGE, STEP, row_index

AHEAD = 16
"""Memory is prefetched for the slot this many places further on."""
_EDGES, _STEPS, _NUMBERS = CACHE_LINE // EDGE.itemsize, CACHE_LINE // STEP.itemsize, CACHE_LINE // 4
"""Edges, steps and 4-byte numbers per cache line; a node's first edge begins a cache line."""


@inlined
def prefetch_edges(f, index):
    """Prefetch what `select` reads at a node."""
    node = at(f.nodes, index)
    first, materialised = np.int64(node.first), np.int64(node.materialised)
    prefetch(f.edges, first)
    if materialised >= _EDGES:
        prefetch(f.edges, first + _EDGES)
    prefetch(f.moves, first)


@inlined
def prefetch_place(f, t, key):
    """Prefetch what finding or making the node of a key reads and writes first."""
    prefetch(f.table, t * f.places + np.int64(key & np.uint64(f.places - 1)))
    prefetch(f.nodes, t * f.capacity + at(f.trees, t).nodes)
    prefetch(f.moves, t * f.edge_capacity + at(f.trees, t).edges)


@inlined
def prefetch_row(f, row):
    """Prefetch a position."""
    size = f.rows.shape[1]
    for i in range(0, min(size, 4 * _NUMBERS), _NUMBERS):
        prefetch(f.flat, row * size + i)


@inlined
def prefetch_steps(f, slot):
    """Prefetch the first steps of a simulation's path and its leaf."""
    prefetch(f.nodes, at(f.slots, slot).leaf)
    prefetch(f.steps, slot * f.reach)
    prefetch(f.steps, slot * f.reach + _STEPS)


@inlined
def prefetch_answer(cache, key):
    """Prefetch the numbers that the cache holds at a key's place."""
    width = cache.numbers.shape[1]
    first = np.int64(cache_place(cache, key)) * width
    prefetch(cache.flat, first)
    if width > _NUMBERS:
        prefetch(cache.flat, first + width - 1)


@inlined
def prefetch_path(f, cache, slot):
    """Prefetch what `expand_and_backup` writes to: the leaf's moves, its key in the cache, the edges of the path."""
    w = at(f.slots, slot)
    node = at(f.nodes, w.leaf)
    prefetch(f.moves, node.first)
    prefetch(cache.keys, np.int64(cache_place(cache, node.key)))
    for d in range(w.depth):
        prefetch(f.edges, at(f.steps, slot * f.reach + d).edge)


@inlined
def prefetch_node(f, t, index):
    """Prefetch a node's edges and position."""
    first = np.int64(at(f.nodes, index).first)
    prefetch(f.flat, row_index(f, t, index) * f.rows.shape[1])
    prefetch(f.moves, first)
    prefetch(f.edges, first)
    prefetch(f.edges, first + _EDGES)
