"""A game as another program plays it: the moves so far, taken back one by one, in Go also out of turn."""

from __future__ import annotations

import numpy as np

from config import UserError
from game import Game, GameState
from games.line_of_moves import ready, starting_at, stones_of


class Position:
    """The moves from a first position. It changes only by moves that the rules allow."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.states: list[GameState] = [game.start()]
        self.moves: list[int] = []
        self._out_of_turn: list[int] = []
        """Numbers of the moves, from 0, that were played out of turn."""

    @property
    def state(self) -> GameState:
        return self.states[-1]

    @property
    def to_move(self) -> int:
        """Return 1 if the player who began is to move, else -1."""
        return int(self.state.playerTurn)

    def turned_to(self, player: int) -> GameState:
        """Return the position with a player to move; raise `UserError` where the rules do not let him.

        A game of Go that its players ended by passing goes on.
        """
        state = ready(self.game, self.state)
        if state.isEndGame:
            raise UserError("illegal move: the game is over")
        if state.playerTurn == player:
            return state
        turned = self.game.turned(state)
        if turned is None:
            raise UserError("illegal move: it is the other player's turn")
        return turned

    def play(self, player: int, action: int) -> None:
        """Play a move; raise `UserError`, with nothing changed, if it is not legal.

        The message names no point: each protocol has names of its own.
        """
        before = self.turned_to(player)
        if action not in before.allowedActions:
            raise UserError("illegal move")
        after = before.takeAction(action)[0]
        if before.playerTurn != self.to_move:
            self._out_of_turn.append(len(self.moves))
        self.states.append(after)
        self.moves.append(action)

    def undo(self) -> None:
        """Take the last move back; raise `UserError` if there is none."""
        if not self.moves:
            raise UserError("cannot undo: no move was played")
        self.moves.pop()
        self.states.pop()
        if self._out_of_turn and self._out_of_turn[-1] == len(self.moves):
            self._out_of_turn.pop()

    def in_turn(self) -> tuple[Game, list[int]]:
        """Return a game and moves that alternate and lead here.

        Moves before the last one out of turn become stones set up.
        """
        if not self._out_of_turn:
            return self.game, self.moves
        first = self._out_of_turn[-1]
        turn = -int(self.states[first + 1].playerTurn)
        return set_up(self.game, stones_of(self.states[first]), turn), self.moves[first:]


def set_up(game: Game, board: np.ndarray, player: int) -> Game:
    """Return the game that begins with stones [rows, columns] in {1, -1, 0}; raise `UserError` where it cannot."""
    base = game.set_up_from or game
    return starting_at(base, base.set_up(board, player)) if board.any() or player != 1 else base
