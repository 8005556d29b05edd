"""What GTP's commands do: the game, its moves, the clocks. Commands for Go only, for analysis and for GoGui are beside.

A command that is refused changes nothing.
"""

from __future__ import annotations

import logging
import math
import re
import time
from collections.abc import Callable
from typing import Protocol

from config import UserError
from game import Game, GameState
from games.boards import GO_LETTERS
from plugins.engines import gogui, gtp_analysis, gtp_go, vertices
from plugins.engines.clock import FEWEST, Clock, TimeControl
from plugins.engines.gtp import Failure
from plugins.engines.position import Position
from plugins.engines.serving import PlayerSource, changed
from plugins.engines.territory import Territory
from plugins.engines.thinking import Choice, Thinker

Do = Callable[["Session", list[str]], str]
_LOGGER = logging.getLogger("alphazero.engines")
LONGEST_TIME = 1e7
"""Most seconds of a clock."""
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
        self.set_game(game)
        self._expects_reply = False

    def set_game(self, game: Game, position: Position | None = None) -> None:
        """Begin a game, at a position of it; raise `UserError`, with nothing changed, if nobody plays it."""
        game = position.game if position is not None else game.longer()
        vertices.check_game(game)
        thinker = Thinker(self.source.player(game))
        thinker.warm()
        if self.source.note:
            _LOGGER.warning(self.source.note)
        self.game, self.thinker = game, thinker
        self._territory: Territory | None = None
        self.start(position or Position(game))

    def start(self, position: Position) -> None:
        """Begin a new game at a position, with new clocks."""
        self.position = position
        self.clocks = {player: Clock(self.control) for player in (1, -1)}
        self.thinker.forget()
        self._expects_reply = False

    def run(self, name: str, words: list[str], began: float) -> str:
        """Do a command and return the answer; raise `Failure` or `UserError`. began: when it came, by monotonic()."""
        self.began, self._expects_reply = began, False
        return COMMANDS[name](self, words)

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

    def played(self, player: int, choice: Choice) -> str:
        """Play a chosen move and take its time off the clock; return its name."""
        if choice.action is None:
            return "resign"
        name = vertices.vertex(self.game, self.position.state, choice.action)
        self.position.play(player, choice.action)
        self.clocks[player].spend(time.monotonic() - self.began)
        self._expects_reply = True
        return name


# ---- arguments


def colour(words: list[str], place: int = 0) -> int:
    """Return the player that an argument names."""
    if len(words) <= place or words[place].lower() not in vertices.COLOURS:
        raise Failure("syntax error: expected a colour, black or white")
    return vertices.COLOURS[words[place].lower()]


def number(words: list[str], place: int, what: str, most: float = LONGEST_TIME) -> float:
    """Return an argument that is a number from 0 to `most`."""
    if len(words) <= place or not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", words[place]):
        raise Failure(f"syntax error: expected {what}")
    value = float(words[place])
    if value > most:
        raise Failure(f"expected {what} of at most {most:g}")
    return value


def whole(words: list[str], place: int, what: str) -> int:
    if len(words) <= place or not re.fullmatch("[0-9]{1,6}", words[place]):
        raise Failure(f"syntax error: expected {what}")
    return int(words[place])


# ---- the game


def boardsize(session: Session, words: list[str]) -> str:
    size = whole(words, 0, "a board size")
    if len(words) > 1 and words[1] != words[0]:
        raise Failure("unacceptable size")
    game = session.game.set_up_from or session.game
    rows, columns = game.grid_shape
    try:
        if size > len(GO_LETTERS):
            raise UserError(f"expected at most {len(GO_LETTERS)} lines, got {size}")
        session.set_game(game if size == max(rows, columns) else changed(game, size=size))
    except UserError as error:
        _LOGGER.warning("boardsize %d: %s", size, str(error).splitlines()[0])
        raise Failure("unacceptable size") from None
    return ""


def clear_board(session: Session, words: list[str]) -> str:
    session.start(Position(session.game.set_up_from or session.game))
    return ""


def play(session: Session, words: list[str]) -> str:
    player = colour(words)
    if len(words) < 2:
        raise Failure("syntax error: expected a colour and a vertex")
    position = session.position
    try:
        action, legal = vertices.action(session.game, position.state, words[1]), position.turned_to(player)
        if action not in legal.allowedActions:
            names = " ".join(vertices.vertex(session.game, legal, other) for other in legal.allowedActions)
            raise UserError(f"{words[1]} (legal: {names})")
        position.play(player, action)
    except UserError as error:
        raise Failure(f"illegal move{_reason(error)}") from None
    return ""


def _reason(error: UserError) -> str:
    text = str(error).splitlines()[0].removeprefix("illegal move").strip(": ")
    return f": {text[:100]}" if text else ""


def genmove(session: Session, words: list[str]) -> str:
    player = colour(words)
    state = session.position.turned_to(player)
    return session.played(player, session.choose(state, session.budget(player)))


def reg_genmove(session: Session, words: list[str]) -> str:
    state = session.position.turned_to(colour(words))
    choice = session.choose(state, math.inf)
    if choice.action is None:
        return "resign"
    return vertices.vertex(session.game, session.position.state, choice.action)


def undo(session: Session, words: list[str]) -> str:
    session.position.undo()
    return ""


def showboard(session: Session, words: list[str]) -> str:
    game, state = session.game, session.position.state
    turn = "black" if state.playerTurn == 1 else "white"
    sides = f"{game.pieces[1]} black, {game.pieces[-1]} white, {turn} to move"
    return f"{game.spec}\n{state.render()}\n{sides}"


def stop(session: Session, words: list[str]) -> str:
    return ""


# ---- clocks


def time_settings(session: Session, words: list[str]) -> str:
    main, period, stones = number(words, 0, "seconds"), number(words, 1, "seconds"), whole(words, 2, "stones")
    if period > 0 and stones == 0:  # by the protocol this says: no limit
        return _agree(session, TimeControl())
    return _agree(session, TimeControl(main, period if stones else 0.0, stones))


def kgs_time_settings(session: Session, words: list[str]) -> str:
    kind = words[0].lower() if words else ""
    if kind == "none":
        return _agree(session, TimeControl())
    if kind == "absolute":
        return _agree(session, TimeControl(number(words, 1, "seconds")))
    if kind not in ("byoyomi", "canadian"):
        raise Failure("syntax error: expected none, absolute, byoyomi or canadian")
    main, period, count = number(words, 1, "seconds"), number(words, 2, "seconds"), whole(words, 3, "a number")
    if not period or not count:
        raise Failure("expected a period and a number above 0")
    byoyomi = kind == "byoyomi"
    return _agree(session, TimeControl(main, period, 1 if byoyomi else count, count if byoyomi else 0))


def _agree(session: Session, control: TimeControl) -> str:
    session.control = control
    session.clocks = {player: Clock(control) for player in (1, -1)}
    return ""


def time_left(session: Session, words: list[str]) -> str:
    player, seconds, stones = colour(words), number(words, 1, "seconds"), whole(words, 2, "stones")
    if math.isfinite(session.control.main):
        session.clocks[player].set_left(seconds, stones)
    return ""


COMMANDS: dict[str, Do] = {
    "boardsize": boardsize, "clear_board": clear_board, "play": play, "genmove": genmove, "reg_genmove": reg_genmove,
    "undo": undo, "showboard": showboard, "stop": stop, "time_settings": time_settings,
    "kgs-time_settings": kgs_time_settings, "time_left": time_left,
    **gtp_go.COMMANDS, **gtp_analysis.COMMANDS, **gogui.COMMANDS,
}  # fmt: skip
