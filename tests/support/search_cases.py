"""What the tests of the search share: positions, a deterministic network, what to compare of two trees."""

import dataclasses

import numpy as np

import games
from config import PLAIN_SEARCH, SearchSettings
from game import LAST, PLAYER
from MCTS import MCTS, Node
from support.corridor import Corridor

GAMES = {"connect4": games.make("connect4"), "tictactoe": games.make("tictactoe"), "corridor": Corridor()}
POSITIONS = [
    ("connect4", ""),
    ("connect4", "4 4 4 4 4 2 5 5"),
    ("connect4", "1 1 1 1 1 1 2 2 2 2 2 2 4 3 3 3 3 3 3"),
    ("tictactoe", ""),
    ("tictactoe", "b2 a3 c1"),
    ("corridor", ""),
    ("corridor", "b2 c1 pass"),
]


class Projection:
    """A deterministic network: whole numbers projected from the planes, so that no batch can change a bit.

    Values are multiples of 1/128 and logits of 1/8, so equal ones occur.
    """

    def __init__(self, game, seed=0):
        inputs = int(np.prod(game.input_shape))
        self.weights = np.random.default_rng(seed).integers(-1000, 1000, (inputs, 1 + game.action_size))
        self.rows = 0

    def __call__(self, planes):
        self.rows += len(planes)
        sums = planes.reshape(len(planes), -1).astype(np.int64) @ self.weights
        value, logits = (sums[:, 0] % 257 - 128) / 128, (sums[:, 1:] % 49 - 24) / 8
        return value.astype(np.float32), logits.astype(np.float32)


def always(value, logits):
    """A network with one answer."""
    logits = np.asarray(logits, np.float32)
    return lambda planes: (np.full(len(planes), value, np.float32), np.tile(logits, (len(planes), 1)))


def drawn(game, text):
    """Return the position of a drawing; who began is to move when both have equally many stones."""
    cells = [" -XO".index(mark) for mark in text.split()]
    row, columns = game.start_row.copy(), game.grid_shape[1]
    for i in reversed(range(len(cells))):  # from the lowest row up
        if cells[i] != 1:
            row[PLAYER] = 1 if cells[i] == 2 else -1
            game.rules.play(row, i % columns if game.policy_layout == "columns" else i)
    row[LAST] = -1
    row[PLAYER] = 1 if cells.count(2) == cells.count(3) else -1
    return game.state_of(row)


def plain_search(**changes):
    """Return the settings of a plain search but for these."""
    return dataclasses.replace(PLAIN_SEARCH, **changes)


def rooted(game, state=None, **options):
    """Return a tree with a position at its root; the options are settings of a search or arguments of `MCTS`."""
    changes = {f.name: options.pop(f.name) for f in dataclasses.fields(SearchSettings) if f.name in options}
    mcts = MCTS(game, plain_search(**changes), **{"sims": 400, **options})
    mcts.set_root(state or game.start())
    return mcts


def continued(mcts, other):
    """Return a search after it has taken the trees of another one, which it then searches by its own settings."""
    for mine, theirs in zip(mcts.forest, other.forest, strict=True):
        if isinstance(mine, np.ndarray):
            mine[:] = theirs
    return mcts


def numbers(node):
    """What equal nodes have in common: every edge's N, W, Q, P."""
    return {action: edge.stats for action, edge in node.edges}


def assert_books_balance(mcts):
    """Every visit came along an edge, and every value went back along it: nothing is lost or left over."""
    N, W = {}, {}
    for node in mcts.tree.values():
        assert node.visits == sum(edge.stats["N"] for _, edge in node.edges)
        for _, edge in node.edges:
            child = edge.outNode
            if child is not None:
                sign = 1 if edge.playerTurn == child.playerTurn else -1
                N[child.id] = N.get(child.id, 0) + edge.stats["N"]
                W[child.id] = W.get(child.id, 0.0) + sign * edge.stats["W"]
            else:
                assert (edge.stats["N"], edge.stats["W"]) == (0, 0.0)
    for node in mcts.tree.values():
        total = node.value + sum(edge.stats["W"] for _, edge in node.edges)
        assert node.Q == total / (1 + node.visits)
        if node == mcts.root:
            continue
        visits, sum_of_values = N.get(node.id, 0), W.get(node.id, 0.0)
        if node.state.isEndGame:
            assert sum_of_values == visits * node.value
        elif node.isLeaf():
            assert (visits, sum_of_values) == (0, 0.0)
        else:
            assert (visits, sum_of_values) == (1 + node.visits, total)


def everything(mcts, tree=0):
    """{state id: numbers} of one tree of a forest."""
    first, count = tree * mcts.capacity, int(mcts.forest.trees[tree]["nodes"])
    nodes = [Node(mcts, i) for i in range(first, first + count)]
    return {node.id: (numbers(node), node.Q) for node in nodes}


def value_of(state, known):
    """Return the value of perfect play for the player to move, by plain negamax."""
    if state.id not in known:
        if state.isEndGame:
            known[state.id] = state.value
        else:
            known[state.id] = max(values_after(state, known).values())
    return known[state.id]


def values_after(state, known):
    """Return {action: value for the player to move}."""
    values = {}
    for action in state.allowedActions:
        after = state.takeAction(action)[0]
        value = value_of(after, known)
        values[action] = value if after.playerTurn == state.playerTurn else -value
    return values


def after_random_moves(game, rng, plies):
    """Return the state after this number of random moves, or the game's end if that comes first."""
    state = game.start()
    while plies and not state.isEndGame:
        state, plies = state.takeAction(int(rng.choice(state.allowedActions)))[0], plies - 1
    return state


def walk(game, record):
    """Yield (position, move, visits, value) along a game."""
    state = game.start()
    for move, visits, value in zip(record.moves, record.visits, record.values, strict=True):
        yield state, int(move), visits, value
        state = state.takeAction(int(move))[0]
