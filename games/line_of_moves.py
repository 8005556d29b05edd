"""Lines of moves of a game: from its first position or from one that is set up, also past the end if it was resumed."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator

import numpy as np

from config import UserError
from game import CompiledState, Game, GameState


def starting_at(game: Game, state: GameState) -> Game:
    """Return the game with another first position, such as stones of a handicap.

    Its `spec` is the same, so that its networks play it; `set_up_from` is the usual game.
    """
    if not isinstance(state, CompiledState):
        raise UserError(f"expected a game with compiled rules to begin with a position set up, got {game.name}")
    found = copy.copy(game)
    found.start_row, found.set_up_from = state.row.copy(), game.set_up_from or game
    return found


def long_enough(game: Game, plies: int) -> Game:
    """Return the game, or where it ends before that many plies the longer one that programs play."""
    return game.longer() if plies > game.max_plies else game


def refuse_set_up(game: Game, player: str) -> None:
    """Raise `UserError` if a game begins with stones set up, for a player that follows games from the usual start."""
    if game.set_up_from is not None:
        raise UserError(f"expected a game from the usual start for {player}, got one with stones set up")


def stones_of(state: GameState) -> np.ndarray:
    """Return the stones of a position of a game with `set_up`, [rows, columns] in {1, -1, 0}.

    Their first two planes are the stones of the player to move and of the other.
    """
    planes = state.planes().astype(np.int8)
    stones: np.ndarray = (planes[:, :, 0] - planes[:, :, 1]) * state.playerTurn
    return stones


def played(game: Game, state: GameState, action: int) -> GameState:
    """Return the position after a move; a game that its players ended is resumed first, see `Game.resumed`."""
    return ready(game, state).takeAction(action)[0]


def ready(game: Game, state: GameState) -> GameState:
    """Return the position, resumed if the game is over and can be."""
    return (game.resumed(state) if state.isEndGame else None) or state


def follow(game: Game, moves: Iterable[int]) -> Iterator[GameState]:
    """Yield the first position and that after each move; raise `UserError` with the number of an illegal one."""
    state = game.start()
    yield state
    for number, action in enumerate(moves, 1):
        try:
            state = played(game, state, action)
        except UserError as error:
            raise UserError(f"move {number}: {error}") from None
        yield state


def after_moves(game: Game, moves: Iterable[int]) -> GameState:
    """Return the position after moves from the start; an illegal one raises `UserError` with its number."""
    *_, state = follow(game, moves)
    return state
