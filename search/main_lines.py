"""Main lines: the most visited moves from a node on, as a search is shown."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from compiled import call, compiled
from search.solving.proofs import keeps_proof
from search.tables import EXPANDED, UNVISITED

LENGTH = 12
"""Moves of a main line at most."""


class MainLine(NamedTuple):
    """The most visited moves from a node on."""

    moves: list[int]
    visits: list[int]
    """Of each move."""


@compiled
def follow(f, index, moves, visits):
    """Write the most visited moves from a node on, at each node of those that keep its proof; return their number.

    Of moves with as many visits the one with the smallest number comes first.
    """
    length = 0
    while length < moves.shape[0] and index != UNVISITED and f.nodes[index].status == EXPANDED:
        node, best, best_kept = f.nodes[index], -1, False
        for e in range(node.first, node.first + node.materialised):
            if f.edges[e].N == 0:
                continue
            kept = keeps_proof(f, node, e)
            if best >= 0 and kept == best_kept:
                more = f.edges[e].N - f.edges[best].N
                better = more > 0 or (more == 0 and f.moves[e].action < f.moves[best].action)
            else:
                better = best < 0 or kept
            if better:
                best, best_kept = e, kept
        if best < 0:
            break
        moves[length], visits[length] = f.moves[best].action, f.edges[best].N
        length += 1
        index = f.edges[best].child
    return length


@compiled
def follow_all(f, nodes, moves, visits, lengths):
    """Write the main line of each node into a row of `moves` and `visits` [nodes, LENGTH], and its length."""
    for i in range(nodes.shape[0]):
        lengths[i] = follow(f, nodes[i], moves[i], visits[i])


def main_lines(forest: Any, nodes: np.ndarray, length: int = LENGTH) -> list[MainLine]:
    """Return the main line of each node [n] (UNVISITED: an empty one), of at most `length` moves.

    All are read by one compiled call: a search waits while it is shown.
    """
    moves, visits = (np.zeros((len(nodes), length), np.int32) for _ in range(2))
    lengths = np.zeros(len(nodes), np.int32)
    call(follow_all, forest, np.ascontiguousarray(nodes, np.int64), moves, visits, lengths)
    found = zip(moves.tolist(), visits.tolist(), lengths.tolist(), strict=True)
    return [MainLine(line[:n], counts[:n]) for line, counts, n in found]
