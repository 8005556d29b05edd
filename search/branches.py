"""The part of a tree that a picture of it shows: its most visited moves, each after the one before it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from compiled import call, compiled
from search.expand import make_priors
from search.solving.proofs import UNPROVEN, proven_value
from search.tables import EXPANDED, UNVISITED

MOST, WIDE, DEEP = 40, 7, 6
"""Moves in all, moves of a position and plies at most."""
PARENT, ACTION, VISITS, CHILD, DEPTH, BELOW = range(6)
"""Columns of `rows`: the row of the move before, -1 at the root; the move; N; then what the walk needs: the node after
the move, its depth, how many moves after it have a row."""
VALUE, PRIOR = range(2)
"""Columns of `worths`: Q, or the proven value, for the player to move at the root; P."""


@compiled
def write_branches(f, t, rows, worths):
    """Write the most visited moves of a tree, at most MOST, and return how many.

    Each row is the most visited move that the rows before it lead to and that has no row yet.
    """
    root, count = np.int64(f.trees[t].root), np.int64(0)
    first = np.int64(0)  # moves of the root that have a row
    while count < rows.shape[0]:
        best, under, most = np.int64(-1), np.int64(-1), 0
        for parent in range(-1, count):
            index = root if parent < 0 else np.int64(rows[parent, CHILD])
            depth, below = (0, first) if parent < 0 else (rows[parent, DEPTH], rows[parent, BELOW])
            if index == UNVISITED or depth >= DEEP or below >= WIDE or f.nodes[index].status != EXPANDED:
                continue
            node = f.nodes[index]
            for e in range(node.first, node.first + node.materialised):
                if f.edges[e].N > most and not has_row(rows, count, parent, f.moves[e].action):
                    best, under, most = np.int64(e), np.int64(parent), f.edges[e].N
        if best < 0:
            break
        write_row(f, t, rows[count], worths[count], best, root if under < 0 else np.int64(rows[under, CHILD]))
        rows[count, PARENT] = under
        if under < 0:
            first += 1
        else:
            rows[count, DEPTH] += rows[under, DEPTH]
            rows[under, BELOW] += 1
        count += 1
    return count


@compiled
def has_row(rows, count, parent, action):
    """Return whether a move after a row is among the rows."""
    for i in range(count):
        if rows[i, PARENT] == parent and rows[i, ACTION] == action:
            return True
    return False


@compiled
def write_row(f, t, row, worth, e, index):
    """Write the numbers of a node's edge."""
    make_priors(f, index)
    node, edge, move = f.nodes[index], f.edges[e], f.moves[e]
    value = edge.W / edge.N if move.proven == UNPROVEN else proven_value(move.proven)
    row[ACTION], row[VISITS], row[CHILD], row[DEPTH], row[BELOW] = move.action, edge.N, edge.child, 1, 0
    worth[VALUE] = value if node.player == f.nodes[f.trees[t].root].player else -value
    worth[PRIOR] = move.P


class Branch(NamedTuple):
    """A move of a tree."""

    parent: int
    """The number of the branch before it, -1 at the root."""
    action: int
    visits: int
    value: float
    """For the player to move at the root."""
    prior: float


def branches(forest: Any, tree: int = 0) -> list[Branch]:
    """Return the most visited moves of a tree, read by one compiled call."""
    rows, worths = np.zeros((MOST, 6), np.int32), np.zeros((MOST, 2), np.float32)
    count = call(write_branches, forest, np.int64(tree), rows, worths)
    found = zip(rows[:count].tolist(), worths[:count].tolist(), strict=True)
    return [Branch(*row[:CHILD], *worth) for row, worth in found]
