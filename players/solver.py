"""Exact values, and the perfect player: Connect 4 by bitbully (`pip install bitbully`), other games by alpha-beta."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from config import UserError
from game import Game, GameState
from games.plain import PlainGame
from players.simple import SimplePlayer
from search.alphabeta import TABLE, Minimax


class NodeLimit(NamedTuple):
    """Number of positions after which alpha-beta gives up."""

    compiled: int
    plain: int = 0
    """For games in plain Python."""

    def of(self, game: Game) -> int:
        """Return the limit for a game."""
        return self.plain if isinstance(game, PlainGame) else self.compiled


FROM_START = NodeLimit(3_000_000, 30_000)
"""Limit for solving a game from its start: about a second."""

ONE_POSITION = NodeLimit(200_000, 2_000)
"""Limit for one position of a game: about a second."""


class BitbullyScores:
    """Exact scores of the moves in Connect 4: larger for an earlier win and for a later loss."""

    def __init__(self, missing: str = "exact values of connect4 need the solver bitbully") -> None:
        """Make the solver; raise `UserError`, which begins with `missing`, when bitbully is not installed."""
        try:
            import bitbully
        except ImportError:
            raise UserError(f"{missing}: `pip install bitbully`") from None
        self.name = f"bitbully {bitbully.__version__}"
        self._solver, self._board = bitbully.BitBully(), bitbully.Board

    def scores(self, state: GameState) -> dict[int, float]:
        """Return {legal action: score for the player to move}; its sign is the value."""
        found: dict[Any, Any] = self._solver.score_all_moves(self._board(_cells(state)))
        return {int(action): float(score) for action, score in found.items()}

    def line(self, state: GameState, length: int) -> list[int]:
        """Return the first `length` moves of best play: the earliest win, the longest defence."""
        moves: list[int] = []
        while len(moves) < length and not state.isEndGame:
            scores = self.scores(state)
            moves.append(max(scores, key=lambda action: scores[action]))
            state = state.takeAction(moves[-1])[0]
        return moves


def _cells(state: GameState) -> list[list[int]]:
    """Return the board in bitbully's format: lines from the top, 1 for the first player, 2 for the other."""
    own, other = state.planes()[..., :2].astype(int).transpose(2, 0, 1)
    cells: list[list[int]] = (own + 2 * other if state.playerTurn == 1 else 2 * own + other).tolist()
    return cells


class AlphaBetaScores:
    """Exact values of the moves in any game whose end is near enough."""

    name = "alpha-beta"

    def __init__(self, game: Game, limit: NodeLimit, *, table: int = TABLE) -> None:
        """Make the search; table: size of the transposition table, in positions."""
        self._minimax, self._nodes = Minimax(game, table=table), limit.of(game)

    def scores(self, state: GameState) -> dict[int, float] | None:
        """Return {legal action: value for the player to move}; None when that takes more positions than the limit."""
        return self._minimax.solve_moves(state, nodes=self._nodes)

    def line(self, state: GameState, length: int) -> list[int]:
        """Return the first `length` moves of best play, wins by the shortest way as far as the limit allows."""
        moves: list[int] = []
        self._minimax.clear()
        while len(moves) < length and not state.isEndGame:
            moves.append(self._minimax.search(state, most=self._nodes).action)
            state = state.takeAction(moves[-1])[0]
        return moves


def position_solver(game: Game) -> BitbullyScores | AlphaBetaScores:
    """Return what knows the exact values of a game's moves; in all but Connect 4 only near enough to the end."""
    if known_to_bitbully(game):
        try:
            return BitbullyScores()
        except UserError:
            pass  # not installed
    return AlphaBetaScores(game, ONE_POSITION, table=1 << 18)


def known_to_bitbully(game: Game) -> bool:
    """Return whether bitbully solves a game."""
    return game.exact_solver == "bitbully" and not game.origin


def solver(game: Game) -> SimplePlayer:
    """Return a perfect player; raise `UserError` when the game has none."""
    return Connect4Solver(game) if known_to_bitbully(game) else SmallGameSolver(game)


class Connect4Solver(SimplePlayer):
    """Wins as early and loses as late as possible; ties are broken at random."""

    def __init__(self, game: Game) -> None:
        self._exact = BitbullyScores("the player solver needs bitbully for connect4")
        super().__init__("solver", game)

    def choose(self, state: GameState, rng: np.random.Generator) -> tuple[int, float]:
        scores = self._exact.scores(state)
        best = max(scores.values())
        return int(rng.choice([column for column, score in scores.items() if score == best])), float(np.sign(best))


class SmallGameSolver(SimplePlayer):
    """Wins by the shortest way; if nobody can force a win, plays a random move among those that keep the value."""

    def __init__(self, game: Game) -> None:
        super().__init__("solver", game)
        self._minimax, nodes = Minimax(game), FROM_START.of(game)
        if self._minimax.solve(game.start(), nodes=nodes) is None:
            raise UserError(f"expected connect4 or a game that is solved in {nodes:,} positions, got {game.spec}")

    def choose(self, state: GameState, rng: np.random.Generator) -> tuple[int, float]:
        self._minimax.clear()
        found = self._minimax.search(state, rng=rng)
        return found.action, found.value
