"""The exact value of each move: Connect 4 by BitBully, any other game by alpha-beta if its end is near enough."""

from __future__ import annotations

import threading
from functools import lru_cache

import games
from config import UserError
from game import PLY, CompiledState, Game, GameState
from games.own import digest
from players.solver import BitbullyScores, position_solver


class TrueValues:
    """The true values of a game's moves. Safe to use from several threads, one position at a time."""

    def __init__(self, game: Game) -> None:
        self._lock = threading.Lock()
        self._exact = position_solver(game)

    def scores(self, state: GameState) -> tuple[dict[int, int], dict[int, int] | None] | None:
        """Return ({action: 1 wins, 0 draws, -1 loses}, {action: plies to the end}) for the player to move.

        After each move play is the best there is. The plies are None but in Connect 4. None where the end of the game
        is too far away.
        """
        with self._lock:
            found = self._exact.scores(state)
        if found is None:
            return None
        values = {action: (score > 0) - (score < 0) for action, score in found.items()}
        if not isinstance(self._exact, BitbullyScores) or not isinstance(state, CompiledState):
            return values, None
        played = int(state.row[PLY])
        return values, {action: plies_to_end(int(score), played) for action, score in found.items()}


def plies_to_end(score: int, played: int, points: int = 42) -> int:
    """Return the plies to the end of a game of Connect 4, the move that is scored among them.

    score: half of the free points that are left when the winner has won, one up, negative where the other wins (Pons).

    >>> plies_to_end(18, 6), plies_to_end(-18, 5), plies_to_end(0, 40)
    (1, 2, 2)
    """
    if score == 0:
        return points - played
    wins = score > 0
    odd = (played + (not wins)) % 2  # of the stones on the board before the last move
    return points + 1 + odd - 2 * abs(score) - played


@lru_cache(maxsize=4)
def _values_of(spec: str, rules: str) -> TrueValues:
    """Return the true values of a game for all pages; rules: the digest of your own game."""
    return TrueValues(games.make(spec))


def true_scores(game: Game, state: GameState) -> tuple[dict[int, int], dict[int, int] | None] | None:
    """Return the `TrueValues.scores` of a position of a game."""
    try:
        return _values_of(game.spec, digest(game)).scores(state)
    except UserError:  # a page may show a position from before the rules changed
        return None
