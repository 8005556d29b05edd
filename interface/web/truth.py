"""The true value of each move: Connect 4 by BitBully, any other game by alpha-beta where its end is near enough."""

from __future__ import annotations

import importlib.util
import threading
from functools import lru_cache
from typing import Any

from game import Game, GameState
from games.plain import PlainGame
from search.alphabeta import Minimax

NODES, PLAIN_NODES = 200_000, 2_000
"""Positions that are looked at for one answer, at most: about a second."""


class Solver:
    """Who knows the true values of a game. Safe to use from several threads, one question at a time."""

    def __init__(self, game: Game) -> None:
        self._lock = threading.Lock()
        known = game.spec == "connect4" and importlib.util.find_spec("bitbully") is not None
        self._known: Any = None
        if known:
            import bitbully

            self._known, self._board = bitbully.BitBully(), bitbully.Board
        else:
            self._search = Minimax(game, table=1 << 18)
            self._nodes = PLAIN_NODES if isinstance(game, PlainGame) else NODES

    def values(self, moves: list[int], state: GameState) -> dict[int, int] | None:
        """Return {action: 1 wins, 0 draws, -1 loses} for the player to move, with best play after it.

        moves: those that led to the state. None where the end of the game is too far away.
        """
        with self._lock:
            if self._known is None:
                found = self._search.solve_moves(state, nodes=self._nodes)
                return None if found is None else {a: (v > 0) - (v < 0) for a, v in found.items()}
            board = self._board()
            for move in moves:
                board.play(move)
            scores = self._known.score_all_moves(board)
            return {int(move): (score > 0) - (score < 0) for move, score in scores.items()}


@lru_cache(maxsize=4)
def solver_of(spec: str) -> Solver:
    """Return the solver of a game for all tabs."""
    import games

    return Solver(games.make(spec))


def true_values(spec: str, moves: list[int], state: GameState) -> dict[int, int] | None:
    """Return what `Solver.values` knows of a position of a game."""
    return solver_of(spec).values(moves, state)
