"""The true value of each move, where a solver knows it: Connect 4 by BitBully, tic-tac-toe by looking at all games."""

from __future__ import annotations

import threading
from functools import cache
from typing import Any

from game import Game, GameState

_ONE = threading.Lock()


def solvable(game: Game) -> bool:
    """True when `true_values` knows the game."""
    if game.spec == "connect4":
        import importlib.util

        return importlib.util.find_spec("bitbully") is not None
    return game.spec == "tictactoe"


def true_values(game: Game, moves: list[int], state: GameState) -> dict[int, int]:
    """Return {action: 1 wins, 0 draws, -1 loses} for the player to move, with best play after it."""
    if game.spec == "connect4":
        return _connect4(moves)
    values = {}
    for action in state.allowedActions:
        after = state.takeAction(action)[0]
        values[action] = -int(_negamax(_Position(after)))
    return values


def _connect4(moves: list[int]) -> dict[int, int]:
    from bitbully import Board

    with _ONE:
        board = Board()
        for move in moves:
            board.play(move)
        return {int(move): (score > 0) - (score < 0) for move, score in _bitbully().score_all_moves(board).items()}


@cache
def _bitbully() -> Any:
    from bitbully import BitBully

    return BitBully()


class _Position:
    """A position that equals another with the same future."""

    def __init__(self, state: GameState) -> None:
        self.state, self._id = state, state.id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Position) and self._id == other._id

    def __hash__(self) -> int:
        return hash(self._id)


@cache
def _negamax(position: _Position) -> float:
    state = position.state
    if state.isEndGame:
        return state.value
    return max(-_negamax(_Position(state.takeAction(action)[0])) for action in state.allowedActions)
