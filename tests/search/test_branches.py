"""The branches of a tree's picture, read from the tables' rows, equal those found along `Node` and `Edge`."""

import numpy as np
import pytest

import games
from agent import Agent
from search.branches import DEEP, MOST, WIDE, branches
from support.search_cases import Projection, after_random_moves


def by_views(root):
    """Return the branches without tables: of all moves that follow those that were taken, the most visited."""
    found, nodes = [], [(-1, root, 1)]  # nodes that moves are taken from: (row of the move to it, node, depth of these)
    while len(found) < MOST:
        best = None
        for parent, node, depth in nodes:
            taken = {row[1] for row in found if row[0] == parent}
            if node is None or len(taken) == WIDE or depth > DEEP:
                continue
            for action, edge in node.edges:
                if action not in taken and edge.stats["N"] > (best[1].stats["N"] if best else 0):
                    best = parent, edge, depth
        if best is None:
            break
        parent, edge, depth = best
        stats, sign = edge.stats, 1 if edge.playerTurn == root.playerTurn else -1
        value = sign * (stats["Q"] if edge.proven is None else edge.proven)
        nodes.append((len(found), edge.outNode, depth + 1))
        found.append((parent, edge.action, int(stats["N"]), value, stats["P"]))
    return found


@pytest.mark.parametrize(("spec", "sims"), [("tictactoe", 60), ("connect4", 300), ("othello(size=6)", 200), ("go", 50)])
def test_branches_read_from_rows_are_those_along_nodes_and_edges(spec, sims):
    game, rng = games.make(spec), np.random.default_rng(1)
    agent = Agent("machine", game, Projection(game), mcts_sims=sims, leaves=1)
    for plies in (0, 3, 6):
        state = after_random_moves(game, rng, plies)
        if state.isEndGame:
            continue
        agent.think(state)
        found, expected = branches(agent.MCTS.forest), by_views(agent.MCTS.root)
        counts = [row[2] for row in expected]
        assert [row.visits for row in found] == counts, "of branches with as many visits others may be taken"
        by_moves, others = lines(found), lines(expected)
        least = counts[-1]
        for moves, row in by_moves.items():
            if row[2] > least:
                assert others[moves][2:] == pytest.approx(row[2:], abs=1e-6)
        assert all(-1 <= row.parent < i for i, row in enumerate(found)) and len(by_moves) == len(found) > 1


def lines(rows):
    """Return {moves that lead to a branch: its row}."""
    found = []
    for row in rows:
        found.append((*(found[row[0]] if row[0] >= 0 else ()), row[1]))
    return dict(zip(found, rows, strict=True))
