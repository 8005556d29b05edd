"""A player that looks one move ahead: it wins if it can, prevents a win of the other, else plays what looks best."""

from __future__ import annotations

from typing import Any

import numpy as np

from compiled import call, compiled
from game import PLAYER, Game, GameState
from games.plain import PlainGame
from games.returned_values import check_rules, is_over, legal_moves, make_bounds
from players.simple import SimplePlayer
from search.alphabeta import unknown
from search.rollouts import playouts
from search.tables import TREE, copy_row, row_size

GAMES = 20
"""Random games per move, whose mean is the move's worth, if the game has no `evaluate`."""


@compiled
def best_reply(rules, rows, replies, outcome, bounds):
    """Return the best result that the player to move in rows[0] can reach at once, for that player; -2 if there is
    none.

    rows: [3, row_size], all but rows[0] is work space; replies: [action_size] int32, work space.
    """
    best = -2.0
    player = rows[0, PLAYER]
    for i in range(legal_moves(rules, rows[0], replies, bounds)):
        copy_row(rows, 1, rows[0])
        rules.play(rows[1], replies[i])
        if is_over(rules, rows[1], outcome, bounds):
            best = max(best, outcome[0] if rows[1, PLAYER] == player else -outcome[0])
    return best


@compiled
def worth(rules, evaluate, trees, rows, room, outcome, bounds, count):
    """Return what the position rows[0] is worth for its player to move, looking one ply ahead.

    An immediate win has its value. Otherwise it is the game's estimate or, with count > 0, the mean of `count` random
    games.
    """
    if is_over(rules, rows[0], outcome, bounds):
        return np.float64(outcome[0])
    best = best_reply(rules, rows, room, outcome, bounds)
    if best >= 1.0:
        return best
    if count == 0:
        return np.float64(evaluate(rows[0]))
    return 0.99 * playouts(rules, trees, rows, count, room, outcome, bounds) * rows[0, PLAYER] / count


class GreedyPlayer(SimplePlayer):
    """Wins if it can, blocks if it must; else plays the best move by the game's `evaluate`, or by random games."""

    def __init__(self, game: Game) -> None:
        if game.rules is None:
            raise TypeError(f"{game.name} has no rules")
        super().__init__("greedy", game)
        evaluate: Any = unknown if game.evaluate is None else game.evaluate
        self._functions = game.rules, evaluate
        self._count = GAMES if game.evaluate is None else 0
        self._rows = np.zeros((3, row_size(game)), np.int32)
        self._trees = np.zeros(1, TREE)
        self._room, self._outcome = np.zeros(game.action_size, np.int32), np.zeros(1, np.float32)
        self._bounds = make_bounds(game)

    def choose(self, state: GameState, rng: np.random.Generator) -> tuple[int, float]:
        if isinstance(self.game, PlainGame):
            self.game.tidy()
        self._trees["rng"] = rng.integers(2**63)
        values = {}
        for action in state.allowedActions:
            after = state.takeAction(action)[0]
            self._rows[0] = self.game.row_of(after)
            tables = self._trees, self._rows, self._room, self._outcome, self._bounds
            value = float(call(worth, *self._functions, *tables, self._count))
            values[int(action)] = value if after.playerTurn == state.playerTurn else -value
            check_rules(self.game, self._bounds)
        best = max(values.values())
        return int(rng.choice([a for a, value in values.items() if value == best])), best
