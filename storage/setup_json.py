"""The position set up with which a game begins, as JSON: {"black": ["c3"], "white": [], "turn": "white"}."""

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
    return {**names, "turn": next(key for key, stone in SIDES.items() if stone == state.playerTurn)}


def from_json(game: Game, setup: dict[str, Any]) -> Game:
    """Return a game that begins with the position of the JSON form."""
    board = np.zeros(game.grid_shape, np.int8)
    for key, stone in SIDES.items():
        for name in setup[key]:
            point = game.parse_move(name)
            if point >= board.size or board.flat[point]:
                raise UserError(f"setup: expected a free point for each stone, got {name[:40]!r}")
            board.flat[point] = stone
    return starting_at(game, game.set_up(board, SIDES[setup["turn"]]))


def is_json(value: Any) -> bool:
    if not isinstance(value, dict) or set(value) != {*SIDES, "turn"} or value["turn"] not in ("black", "white"):
        return False
    return all(isinstance(value[key], list) and all(isinstance(n, str) for n in value[key]) for key in SIDES)
