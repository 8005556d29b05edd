"""The base of players that are other programs: a process per game; a failure loses the game by rule."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from agent import RESIGN, Player, Resigned
from config import UserError
from game import Game, GameState
from games.line_of_moves import played as after
from games.line_of_moves import refuse_set_up
from MCTS import Decision
from plugins.engines.programs.child_program import ChildProgram, EngineFailed, quoted

E = TypeVar("E", bound=ChildProgram)


class EngineGame(Generic[E]):
    """A game against a program."""

    def __init__(self, game: Game, engine: E | None) -> None:
        self.engine, self.state = engine, game.start()
        self.moves: list[tuple[int, int]] = []
        """(player, action)"""
        self.known = 0
        """Number of moves that the program knows."""
        self.forfeit = ""
        """Why the program lost by rule."""


class EnginePlayer(Player, Generic[E]):
    """A program as a player. Override the four methods below."""

    at_once = 1
    judges = False

    def __init__(self, name: str, game: Game, what: str, logger: logging.Logger) -> None:
        """Start the program; raise `UserError` when that fails. what: such a program in words."""
        refuse_set_up(game, what)
        super().__init__(name, game)
        self._logger = logger
        try:
            self._games: dict[int, EngineGame[E]] = {0: EngineGame(game, self._begin())}
        except EngineFailed as error:
            raise UserError(f"{self.name}: {error}") from None

    def _begin(self) -> E:
        """Start the program and set up the game; raise `EngineFailed` when that fails."""
        raise NotImplementedError

    def _clear(self, engine: E) -> None:
        """Let a program begin a new game; raise `EngineFailed` when it does not."""
        raise NotImplementedError

    def _ask(self, engine: E, played: EngineGame[E]) -> str:
        """Tell a program the moves that it does not know and return its answer; raise `EngineFailed` without one."""
        raise NotImplementedError

    def action(self, text: str) -> int | None:
        """Return the move that an answer names, None when there is none."""
        raise NotImplementedError

    # ---- games

    def new_game(self, slot: int, seed: int) -> None:
        """Clear the program's board, or restart a program that failed. The seed has no effect: programs take none."""
        engine = self._games[slot].engine if slot in self._games else None
        try:
            if engine is None:
                engine = self._begin()
            self._clear(engine)
        except EngineFailed as error:
            self._games[slot] = EngineGame(self.game, None)
            self._lose(self._games[slot], error)
        else:
            self._games[slot] = EngineGame(self.game, engine)

    def forfeit(self, slot: int) -> str:
        return self._games[slot].forfeit

    def observe(self, slot: int, action: int) -> None:
        played = self._games[slot]
        played.moves.append((played.state.playerTurn, action))
        played.state = after(self.game, played.state, action)

    def act_many(self, slots: Sequence[int], states: Sequence[GameState], taus: Sequence[float]) -> list[Decision]:
        decisions = []
        for slot, state in zip(slots, states, strict=True):
            if self._games[slot].state.id != state.id:
                raise ValueError(f"{self.name}: expected every move to be passed to `observe`")
            action, pi = self._move(self._games[slot], state), np.zeros(self.game.action_size)
            if action != RESIGN:
                pi[action] = 1.0
            decisions.append(Decision(action, pi, 0.0))
        return decisions

    def act(self, state: GameState, tau: float) -> tuple[int, np.ndarray, float, float]:
        """Choose in the game of slot 0, whose moves came by `observe`; raise `Resigned` when the program resigns."""
        decision = self.act_many([0], [state], [tau])[0]
        if decision.action == RESIGN:
            raise Resigned
        return decision.action, decision.visits, 0.0, 0.0

    def _move(self, played: EngineGame[E], state: GameState) -> int:
        """Return the program's move; RESIGN when it resigns, fails or its move is not legal."""
        if played.engine is None:
            return RESIGN
        try:
            answer = self._ask(played.engine, played)
        except EngineFailed as error:
            played.engine = None
            return self._lose(played, error)
        if answer.lower() == "resign":
            return RESIGN
        action = self.action(answer)
        if action is None or action not in state.allowedActions:
            return self._lose(played, f"illegal move {quoted(answer)}")
        played.known = len(played.moves) + 1  # its own move, which is observed next
        return action

    def _lose(self, played: EngineGame[E], what: Any) -> int:
        """Note that the program loses by rule, and why; return RESIGN."""
        played.forfeit = str(what)
        self._logger.warning("%s loses its game by rule: %s", self.name, what)
        return RESIGN
