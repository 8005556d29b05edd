"""The exact value of each move: Connect 4 by BitBully, any other game by alpha-beta if its end is near enough."""

from __future__ import annotations

import threading
from contextlib import suppress
from functools import lru_cache

import games
from config import UserError
from game import Game, GameState
from games.own import digest
from players.solver import position_solver


class TrueValues:
    """The true values of a game's moves. Safe to use from several threads, one position at a time."""

    def __init__(self, game: Game) -> None:
        self._lock = threading.Lock()
        self._exact = position_solver(game)

    def values(self, state: GameState) -> dict[int, int] | None:
        """Return {action: 1 wins, 0 draws, -1 loses} for the player to move, with best play after it.

        None if the end of the game is too far away.
        """
        with self._lock:
            found = self._exact.scores(state)
        return None if found is None else {action: (score > 0) - (score < 0) for action, score in found.items()}


@lru_cache(maxsize=4)
def _values_of(spec: str, rules: str) -> TrueValues:
    """Return the true values of a game for all tabs; rules: the digest of your own game."""
    return TrueValues(games.make(spec))


def true_values(spec: str, state: GameState) -> dict[int, int] | None:
    """Return the `TrueValues.values` of a position of a game."""
    rules = digest(games.make(spec)) if ".py" in spec else ""
    with suppress(UserError):  # a tab may show a position from before the rules changed
        return _values_of(spec, rules).values(state)
    return None
