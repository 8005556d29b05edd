"""A game over GTP and the player of it: what every command works on. The commands are in gtp_commands.py."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from typing import Protocol

from game import Game, GameState
from plugins.engines import vertices
from plugins.engines.clock import FEWEST, Clock, TimeControl
from plugins.engines.position import Position
from plugins.engines.serving import PlayerSource
from plugins.engines.territory import Territory
from plugins.engines.thinking import Choice, Thinker

Do = Callable[["Session", list[str]], str]
"""What a command does: (session, its words) -> the answer; it raises `Failure` or `UserError`."""
_LOGGER = logging.getLogger("alphazero.engines")
LASTS = 0.4
"""Own moves that a game is taken to last, for each free point."""


class Program(Protocol):
    """The other program, as a command sees it while it runs."""

    def say(self, text: str) -> None: ...

    def stream(self) -> None: ...

    def waiting(self) -> bool:
        """Return whether its next command has come."""

    def interrupted(self) -> bool:
        """Return whether it wants the move now."""


class Session:
    """A game with another program, and the player of it."""

    def __init__(self, source: PlayerSource, game: Game, program: Program, *, ponder: bool = False) -> None:
        self.source, self.program, self._ponder = source, program, ponder
        self.control = TimeControl()
        self.bonus = "0"
        """White's points for a handicap of N stones, by the rules: "0", "N" or "N-1"."""
        self.set_game(game)
        if ponder and not self.thinker.ponders:
            name = self.thinker.player.name
            _LOGGER.warning("--ponder: only a network that searches thinks on your time, and no level: not %s", name)
        self._expects_reply = False

    def set_game(self, game: Game, position: Position | None = None) -> None:
        """Begin a game, at a position of it; raise `UserError`, with nothing changed, if nobody plays it."""
        game = position.game if position is not None else game.longer()
        vertices.check_game(game)
        thinker = Thinker(self.source.player(game), seed=self.source.seed)
        thinker.warm()
        if self.source.note:
            _LOGGER.warning(self.source.note)
        self.game, self.thinker = game, thinker
        self._territory: Territory | None = None
        self.start(position or Position(game, self.bonus))

    def start(self, position: Position) -> None:
        """Begin a new game at a position, with new clocks."""
        self.position = position
        self.clocks = {player: Clock(self.control) for player in (1, -1)}
        self.thinker.forget()
        self._expects_reply = False

    def begin(self, began: float) -> None:
        """Take note that a command is to be done. began: when it came, by monotonic()."""
        self.began, self._expects_reply = began, False

    def ponder(self) -> None:
        """Think on the other's time, if that is wanted and a reply is expected."""
        if self._ponder and self._expects_reply:
            self.thinker.ponder(self.position.state, self.program.waiting)

    # ---- for commands

    def territory(self) -> Territory | None:
        """Return what counts positions; None if the game is not Go or no network plays."""
        from agent import Agent

        player = self.thinker.player
        if self._territory is None and isinstance(player, Agent) and self.game.scored_by_area:
            self._territory = Territory(player, self.game)
        return self._territory

    def budget(self, player: int) -> float:
        """Return the seconds that a player has for his next move."""
        rows, columns = self.game.grid_shape
        free = rows * columns - len(self.position.moves)
        return self.clocks[player].budget(max(math.ceil(LASTS * free), FEWEST))

    def choose(self, state: GameState, seconds: float) -> Choice:
        return self.thinker.choose(state, self.position.moves, seconds, self.program.interrupted)

    def play(self, player: int, action: int) -> None:
        """Play a move; raise `UserError`, with nothing changed, if it is not legal."""
        before, position = self.position.state, self.position
        position.play(player, action)
        if self.game.white_points(position.state) != self.game.white_points(before):
            self.thinker.forget()  # the tree was searched with fewer points for White

    def played(self, player: int, choice: Choice) -> str:
        """Play a chosen move and take its time off the clock; return its name."""
        if choice.action is None:
            return "resign"
        name = vertices.vertex(self.game, self.position.state, choice.action)
        self.play(player, choice.action)
        self.clocks[player].spend(time.monotonic() - self.began)
        self._expects_reply = True
        return name
