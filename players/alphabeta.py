"""Alpha-beta with a transposition table, to a depth or with a time limit; see `search/alphabeta.py`."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from game import Game, GameState
from players.simple import SimplePlayer
from search.alphabeta import DEEPEST, Minimax


class AlphaBetaPlayer(SimplePlayer):
    """Looks `depth` plies ahead, or as far as it gets in `seconds`; ties are broken at random.

    Positions where the game does not end within the depth get the game's `evaluate`; without one they are all equal.
    Nothing is kept from move to move, so a move of a fixed depth depends on the position and the game's seed only.
    """

    def __init__(self, game: Game, *, depth: int | None = None, seconds: float | None = None) -> None:
        if (depth is None) == (seconds is None):
            raise ValueError("expected either depth or seconds")
        super().__init__(f"alphabeta:{depth}" if depth is not None else f"alphabeta:{seconds:g}s", game)
        self._depth, self._seconds = depth if depth is not None else DEEPEST, seconds
        self._minimax = Minimax(game)
        self.stopped: Callable[[], bool] = lambda: False
        """Called repeatedly; True ends the search early."""
        if seconds is not None:
            self.at_once = 1

    def choose(self, state: GameState, rng: np.random.Generator) -> tuple[int, float]:
        self._minimax.clear()
        seconds = min(float("inf") if self._seconds is None else self._seconds, self.deadline - time.monotonic())
        limit = max(seconds, 0.0) if seconds < float("inf") else None
        found = self._minimax.search(state, depth=self._depth, seconds=limit, rng=rng, stop=self.stopped)
        return found.action, found.value
