"""Looks whether compiled rules write only where they may: random games in which free memory lies around each array.

Compiled code has no bounds checks. A rule that writes behind its array changes whatever lies there, in silence.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiled import call, compiled, in_order
from game import NO_WIN, Game

FREE = 1 << 14
"""Numbers of free memory on each side of an array."""
_MARK = 77
WRITES = {
    "row": "legal, outcome, encode, key, winning and safe must leave the row as it is",
    "after": "play writes outside its row", "moves": "legal writes outside its `out`",
    "outcome": "outcome writes outside its `out`", "planes": "encode writes outside its `out`",
    "safe": "safe writes outside its `out`",
}  # fmt: skip
"""What is wrong where the memory around an array has changed, or the row itself."""


@compiled
def winning_move(rules, row):
    """Return the winning move that the rules name."""
    return rules.winning(row)


@compiled
def safe_moves(rules, row, out):
    """Write the moves that do not lose at once by the rules; return their number."""
    return rules.safe(row, out)


@compiled
def estimated(evaluate, row):
    """Return a game's estimate of a position."""
    return evaluate(row)


@compiled
def call_rules(rules, row, moves, outcome, planes, safe):
    """Call the rules that only read a position; return the number of its legal moves, -1 if it is over."""
    rules.encode(row, planes)
    rules.key(row)
    if rules.outcome(row, outcome):
        return np.int64(-1)
    count = rules.legal(row, moves)
    if rules.winning(row) == NO_WIN:
        rules.safe(row, safe)
    return count


@compiled
def play_move(rules, row, action):
    """Play a move."""
    rules.play(row, action)


class _Walled:
    """An array with free memory around it."""

    def __init__(self, size: int, dtype: Any) -> None:
        self._all = np.full(size + 2 * FREE, _MARK, dtype)
        self.array = self._all[FREE : FREE + size]

    @property
    def whole(self) -> bool:
        return bool((self._all[:FREE] == _MARK).all() and (self._all[FREE + len(self.array) :] == _MARK).all())


def writes_outside(game: Game, games: int, rng: np.random.Generator) -> str:
    """Play random games with compiled rules; return what is wrong with what they write, "" for nothing."""
    if game.rules is None or game.start_row is None:
        raise TypeError(f"{game.name} has no rules")
    start, rules = game.start_row, game.rules
    size, points = game.action_size, int(np.prod(game.input_shape))
    walls = {"row": _Walled(len(start), np.int32), "moves": _Walled(size, np.int32), "outcome": _Walled(1, np.float32),
             "planes": _Walled(points, np.uint8), "safe": _Walled(size, np.int32)}  # fmt: skip
    after = _Walled(len(start), np.int32)
    for _ in range(games):
        walls["row"].array[:] = start
        for ply in range(game.max_plies):
            row = walls["row"].array.copy()
            count = int(call(call_rules, rules, *(wall.array for wall in walls.values())))
            for name, wall in walls.items():
                if not wall.whole or (name == "row" and not np.array_equal(wall.array, row)):
                    return f"{WRITES[name]} (after {ply} moves)"
            moves = walls["moves"].array
            if count < 0 or not in_order.py_func(moves, count):
                break  # over, or a fault that other checks name
            after.array[:] = row
            call(play_move, rules, after.array, int(rng.choice(moves[:count])))
            if not after.whole:
                return f"{WRITES['after']} (after {ply} moves)"
            walls["row"].array[:] = after.array
    return ""
