"""The line of most visited moves, read from the tables' rows, equals the one along `Node` and `Edge`."""

import numpy as np
import pytest

import games
from agent import Agent
from support.search_cases import Projection, after_random_moves


def by_views(node, length=12):
    line = []
    while node is not None and len(line) < length:
        tried = [(action, edge) for action, edge in node.edges if edge.stats["N"]]
        if not tried:
            break
        kept = [pair for pair in tried if node.keeps_proof(pair[1])]
        action, edge = max(kept or tried, key=lambda pair: pair[1].stats["N"])
        line.append(action)
        node = edge.outNode
    return line


@pytest.mark.parametrize("spec", ["tictactoe", "connect4", "gomoku(size=7)", "othello(size=6)", "hex(size=5)"])
def test_a_line_read_from_rows_is_the_one_along_nodes_and_edges(spec):
    game, rng, compared = games.make(spec), np.random.default_rng(1), 0
    agent = Agent("machine", game, Projection(game), mcts_sims=200, leaves=4)
    for plies in range(8):
        state = after_random_moves(game, rng, plies)
        if state.isEndGame:
            continue
        agent.think(state)
        nodes = list(agent.MCTS.tree.values())
        for node in nodes[:: max(len(nodes) // 20, 1)]:
            line = by_views(node)
            assert agent.MCTS.principal_variation(node) == line
            assert agent.MCTS.principal_variation(node, 2) == line[:2]
            compared += len(line) > 1
    assert compared > 20
