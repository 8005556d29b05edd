"""What the search does near the end of a game: positions are solved there instead of evaluated."""

from __future__ import annotations

import numpy as np

from compiled import compiled
from endgame import FEW, GIVEN_UP, MANY, solve
from forest import DRAW, EXPANDED, LOSS, OPEN, WAITING, copy_row, open_edge, row_index
from game import PLAYER, PLY


@compiled
def solve_leaf(f, rules, t, index):  # type: ignore[no-untyped-def]
    """Solve a position near the end of the game, if that takes no longer than the network's answer."""
    node, row = f.nodes[index], row_index(f, t, index)
    if node.status != WAITING or node.proven != OPEN or node.late or f.rows[row, PLY] < f.trees[t].late:
        return
    node.late = 1
    copy_row(f.line.rows, 0, f.rows[row])
    value = solve(f.line, rules, f.outcome, FEW)
    if value != GIVEN_UP:
        node.proven = np.int8(DRAW if value == 0 else value)


@compiled
def solve_root(f, rules, t):  # type: ignore[no-untyped-def]
    """Solve each move of a root near the end of the game: it is visited once, and nothing is left to search.

    Where all lose, the network is asked for its priors.
    """
    node, row = f.nodes[f.trees[t].root], row_index(f, t, f.trees[t].root)
    if node.status != WAITING or node.proven != OPEN or node.late or f.rows[row, PLY] < f.trees[t].late:
        return
    node.late = 1
    best = -1.0
    for i in range(node.count):
        copy_row(f.line.rows, 0, f.rows[row])
        rules.play(f.line.rows[0], f.moves[node.first + i])
        value = solve(f.line, rules, f.outcome, MANY)
        if value == GIVEN_UP:
            return
        f.odds[i] = value if f.line.rows[0, PLAYER] == node.player else -value
        best = max(best, f.odds[i])
    node.proven = np.int8(DRAW if best == 0.0 else best)
    if node.proven == LOSS:
        return
    for i in range(node.count):
        f.priors[node.first + i] = 1.0 / node.count
        edge = f.edges[open_edge(f, node, np.int64(node.first + i))]
        edge.N, edge.W, edge.proven = 1, f.odds[i], np.int8(DRAW if f.odds[i] == 0.0 else f.odds[i])
    node.total, node.value, node.status = node.count, best, EXPANDED
