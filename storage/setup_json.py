"""The position set up with which a game begins, as JSON: {"black": ["c3"], "white": [], "turn": "white"}.

"points" are White's for a handicap, where he has some.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from config import UserError
from game import Game
from games.line_of_moves import starting_at, stones_of

SIDES = {"black": 1, "white": -1}


def as_json(game: Game) -> dict[str, Any]:
    """Return the JSON of the position with which a game begins."""
    state, names = game.start(), {}
    for key, stone in SIDES.items():
        names[key] = [game.move_name(int(point)) for point in np.flatnonzero(stones_of(state) == stone)]
    points = game.handicap_points(state)
    turn = next(key for key, stone in SIDES.items() if stone == state.playerTurn)
    return {**names, "turn": turn, **({"points": points} if points else {})}


def from_json(game: Game, setup: dict[str, Any]) -> Game:
    """Return a game that begins with the position of the JSON form."""
    board = np.zeros(game.grid_shape, np.int8)
    for key, stone in SIDES.items():
        for name in setup[key]:
            point = game.parse_move(name)
            if point >= board.size or board.flat[point]:
                raise UserError(f"setup: expected a free point for each stone, got {name[:40]!r}")
            board.flat[point] = stone
    return starting_at(game, game.rewarded(game.set_up(board, SIDES[setup["turn"]]), setup.get("points", 0)))


def is_json(value: Any) -> bool:
    if not isinstance(value, dict) or {*value, "points"} != {*SIDES, "turn", "points"}:
        return False
    points = value.get("points", 1)
    if value["turn"] not in ("black", "white") or type(points) not in (int, float) or not 0 < points <= 361:
        return False
    if 2 * points != int(2 * points):
        return False
    return all(isinstance(value[key], list) and all(isinstance(n, str) for n in value[key]) for key in SIDES)
