"""The opening swap2 of gomoku tournaments: who plays which colour after the first stones.

One player puts three stones, Black, White, Black. The other takes White and plays on, or takes Black (SWAP), or puts
two more and lets the first choose, who then does the same. We never put two more: the value says who is better off.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from agent import Agent
from config import UserError
from game import Game
from games.line_of_moves import after_moves
from plugins.engines.thinking import Thinker

TRIED = 64
"""Openings of which the most balanced one, by the network's value, is played."""
NEAR = 3
"""Points from the middle within which they are drawn."""


def answer(
    thinker: Thinker, game: Game, points: list[int], seconds: float, stop: Callable[[], bool]
) -> list[int | str]:
    """Return the points to be played, or ["SWAP"], after no stones, or 3 or 5 that alternate."""
    if not points:
        return list(_opening(thinker, game, thinker.rng))
    state = after_moves(game, points)
    if state.isEndGame:
        raise UserError("expected a position to play in, the game is over")
    choice = thinker.choose(state, points, seconds, stop)
    if choice.action is None or (choice.value is not None and choice.value < 0.0):
        return ["SWAP"]
    return [choice.action]


def _opening(thinker: Thinker, game: Game, rng: np.random.Generator) -> list[int]:
    """Return three points, after which a network takes both sides to be equally good."""
    size = game.grid_shape[0]
    near = range(max(size // 2 - NEAR, 0), min(size // 2 + NEAR + 1, size))
    around = [r * size + c for r in near for c in near]
    drawn = [list(map(int, rng.choice(around, 3, replace=False))) for _ in range(TRIED)]
    legal = []
    for points in drawn:
        try:
            state = after_moves(game, points)
        except UserError:
            continue
        legal += [(points, state)] if not state.isEndGame else []
    if not legal:
        raise UserError("expected an opening of three stones, there is none")
    if not isinstance(thinker.player, Agent):
        return legal[0][0]
    values, _ = thinker.player.predict(np.stack([state.planes() for _, state in legal]))
    return legal[int(np.abs(values).argmin())][0]
