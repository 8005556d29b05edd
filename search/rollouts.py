"""Random games to the end, in compiled code: the evaluator of rollout players, and a measure of the rules' speed.

Tree, selection and backup are those of the network's search; only the evaluation differs.
"""

from __future__ import annotations

import numpy as np

from compiled import call, compiled
from game import NOT_PLAYED, PLAYER, Game
from games.returned_values import (
    LENGTH,
    PLAYER_TURN,
    PLIES,
    RANDOM_GAME,
    break_rule,
    check_rules,
    is_over,
    make_bounds,
    random_move,
)
from search.random_numbers import random_word, uniform
from search.simulate import LEAF, backup, start_simulation
from search.tables import EXPANDED, TREE, copy_row, row_index


@compiled
def playout(rules, tree, room, legal, outcome, bounds):
    """Play random moves in the row `room` until the game is over, with the tree's rng; return player 1's value.

    The value is 0 where the game breaks a rule.
    """
    value = rules.playout(room, random_word(tree))
    if value != NOT_PLAYED:
        if -1.0 <= value <= 1.0:
            return np.float64(value)
        break_rule(bounds, RANDOM_GAME)
        return 0.0
    left = np.int64(bounds[PLIES])
    while not is_over(rules, room, outcome, bounds):
        action = random_move(rules, room, legal, uniform(tree), bounds)
        if action < 0 or left == 0:
            break_rule(bounds, LENGTH)
            return 0.0
        rules.play(room, action)
        left -= 1
    if room[PLAYER] != 1 and room[PLAYER] != -1:
        break_rule(bounds, PLAYER_TURN)
        return 0.0
    return np.float64(outcome[0] * room[PLAYER])


@compiled
def shuffle_moves(f, tree, node):
    """Shuffle a new node's moves (Fisher, Yates) and give them equal priors."""
    for i in range(node.count - 1, 0, -1):
        a, b = node.first + i, node.first + np.int64(uniform(tree) * (i + 1))
        f.moves[a].action, f.moves[b].action = f.moves[b].action, f.moves[a].action
    for e in range(node.first, node.first + node.count):
        f.moves[e].P = 1.0 / node.count


@compiled
def rollout_step(f, rules, puct, cache, run, t, visits):
    """Search tree t, one random game per leaf, until its root has `visits` visits or is proven, or the tree is full.

    run: `pipeline.shared_run`.
    """
    slot, tree = t * f.leaves, f.trees[t]
    room = t * (f.capacity + 1) + f.capacity
    tree.budget = visits
    tree.pending = 0
    while True:
        f.active[0] = slot
        if not start_simulation(f, rules, np.int64(slot)):
            return
        run(f, rules, puct, cache, np.int64(1))
        if f.slots[slot].ended != LEAF:
            return
        index = f.slots[slot].leaf
        node = f.nodes[index]
        copy_row(f.rows, room, f.rows[row_index(f, t, index)])
        node.value = playout(rules, tree, f.rows[room], f.legal, f.outcome, f.bounds) * node.player
        shuffle_moves(f, tree, node)
        node.status = EXPANDED
        backup(f, puct, slot, node.value, node.player)


@compiled
def playouts(rules, trees, rows, count, legal, outcome, bounds):
    """Play `count` random games from the position rows[0]; return the sum of their values for player 1."""
    total = 0.0
    for _ in range(count):
        copy_row(rows, 1, rows[0])
        total += playout(rules, trees[0], rows[1], legal, outcome, bounds)
    return total


def random_games(game: Game, count: int, seed: int) -> float:
    """Play random games from the start; return their mean value for player 1."""
    if game.rules is None or game.start_row is None:
        raise TypeError(f"{game.name} has no rules")
    trees = np.zeros(1, TREE)
    trees["rng"] = seed
    rows = np.stack([game.start_row, game.start_row])
    legal, outcome = np.zeros(game.action_size, np.int32), np.zeros(1, np.float32)
    bounds = make_bounds(game)
    total = float(call(playouts, game.rules, trees, rows, count, legal, outcome, bounds))
    check_rules(game, bounds)
    return total / count
