"""Perfect play: Connect 4 by bitbully (`pip install bitbully`), small games by alpha-beta to their ends."""

from __future__ import annotations

from typing import Any

import numpy as np

from config import UserError
from game import Game, GameState
from games.plain import PlainGame
from players.simple import SimplePlayer
from search.alphabeta import Minimax

NODES, PLAIN_NODES = 3_000_000, 30_000
"""What may be looked at to solve a game from its start: a second or so."""


def solver(game: Game) -> SimplePlayer:
    """Return a perfect player; raise `UserError` when a game has none."""
    return Connect4Solver(game) if game.spec == "connect4" else SmallGameSolver(game)


class Connect4Solver(SimplePlayer):
    """Wins as early and loses as late as possible; equal moves are drawn by lot."""

    def __init__(self, game: Game) -> None:
        try:
            import bitbully
        except ImportError:
            raise UserError("the player solver needs bitbully for connect4: `pip install bitbully`") from None
        super().__init__("solver", game)
        self._board: Any = bitbully.Board
        self._solver = bitbully.BitBully()

    def choose(self, state: GameState, rng: np.random.Generator) -> tuple[int, float]:
        scores = self._solver.score_all_moves(self._board(_cells(state)))
        best = max(scores.values())
        return int(rng.choice([column for column, score in scores.items() if score == best])), float(np.sign(best))


def _cells(state: GameState) -> list[list[int]]:
    """Return the board as bitbully reads it: lines from the top, 1 for who began, 2 for the other."""
    own, other = state.planes()[..., :2].astype(int).transpose(2, 0, 1)
    cells: list[list[int]] = (own + 2 * other if state.playerTurn == 1 else 2 * own + other).tolist()
    return cells


class SmallGameSolver(SimplePlayer):
    """Wins by the shortest way; where nobody can force a win, moves that keep the value are drawn by lot."""

    def __init__(self, game: Game) -> None:
        super().__init__("solver", game)
        self._minimax = Minimax(game)
        nodes = PLAIN_NODES if isinstance(game, PlainGame) else NODES
        if self._minimax.solve(game.start(), nodes=nodes) is None:
            raise UserError(f"expected connect4 or a game that is solved in {nodes:,} positions, got {game.spec}")

    def choose(self, state: GameState, rng: np.random.Generator) -> tuple[int, float]:
        self._minimax.clear()
        found = self._minimax.search(state, rng=rng)
        return found.action, found.value
