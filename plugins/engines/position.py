"""A game as another program plays it: the moves so far, taken back one by one, in Go also out of turn."""

from __future__ import annotations

import numpy as np

from config import UserError
from game import Game, GameState
from games.line_of_moves import ready, starting_at, stones_of
from games.sgf_words import handicap_points


class Position:
    """The moves from a first position. It changes only by moves that the rules allow."""

    def __init__(self, game: Game, bonus: str = "0") -> None:
        """Begin a game. bonus: White's points for a handicap of N stones, "0", "N" or "N-1"."""
        self.game, self.bonus = game, bonus
        self.states: list[GameState] = [game.start()]
        self.moves: list[int] = []
        self._out_of_turn: list[int] = []
        """Numbers of the moves, from 0, that were played out of turn."""
        self.states[0] = self._rewarded(self.states[0])

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
        self.states[-1] = self._rewarded(after)

    @property
    def handicap(self) -> int:
        """Return the number of Black's stones before White's first, as KataGo counts a handicap; 0 if it is none."""
        board = stones_of(self.states[0])
        if (board < 0).any():
            return 0
        stones = int(board.sum())
        for action, after in zip(self.moves, self.states[1:], strict=True):
            if action < board.size and after.playerTurn == 1:
                break
            stones += action < board.size
        return stones if stones > 1 else 0

    def _rewarded(self, state: GameState) -> GameState:
        """Return a position with White's points for the handicap."""
        if self.bonus == "0":
            return state
        points = handicap_points(self.bonus, self.handicap)
        given = self.game.handicap_points(state)
        return state if points == given else self.game.rewarded(state, points)

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
        state = self.states[first]
        given = self.game.handicap_points(self.state)
        return set_up(self.game, stones_of(state), turn, given), self.moves[first:]


def set_up(game: Game, board: np.ndarray, player: int, points: float = 0.0) -> Game:
    """Return the game that begins with stones [rows, columns] in {1, -1, 0}; raise `UserError` where it cannot.

    points: White's for a handicap.
    """
    base = game.set_up_from or game
    if not board.any() and player == 1:
        return base
    return starting_at(base, base.rewarded(base.set_up(board, player), points))
