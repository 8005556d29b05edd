"""Random games to the end, in compiled code: the evaluator of rollout players, and how fast rules are."""

from __future__ import annotations

import numpy as np

from chance import uniform
from compiled import compiled
from forest import TREE, copy_row
from game import PLAYER, Game


@compiled
def playout(rules, tree, room, legal, outcome):  # type: ignore[no-untyped-def]
    """Play random moves in the row `room` until the game is over; return its value for who began. `tree` has the dice."""
    while not rules.outcome(room, outcome):
        count = rules.legal(room, legal)
        rules.play(room, legal[np.int64(uniform(tree) * count)])
    return outcome[0] * room[PLAYER]


@compiled
def playouts(rules, trees, rows, count, legal, outcome):  # type: ignore[no-untyped-def]
    """Play `count` random games from the position rows[0]; return the sum of their values for who began."""
    total = 0.0
    for _ in range(count):
        copy_row(rows, 1, rows[0])
        total += playout(rules, trees[0], rows[1], legal, outcome)
    return total


def random_games(game: Game, count: int, seed: int) -> float:
    """Play random games from the start; return their mean value for who began."""
    if game.rules is None or game.start_row is None:
        raise TypeError(f"{game.name} has no rules")
    trees = np.zeros(1, TREE)
    trees["rng"] = seed
    rows = np.stack([game.start_row, game.start_row])
    legal, outcome = np.zeros(game.action_size, np.int32), np.zeros(1, np.float32)
    return float(playouts(game.rules, trees, rows, count, legal, outcome)) / count
