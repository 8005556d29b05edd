"""What GTP's commands do: the game, its moves, the clocks; those for Go only, for analysis and for GoGui have files of
their own.

A command that is refused changes nothing.
"""

from __future__ import annotations

import logging
import math
import re

from config import UserError
from games.boards import GO_LETTERS
from plugins.engines import gogui, gtp_analysis, gtp_go, gtp_katago, vertices
from plugins.engines.clock import Clock, TimeControl
from plugins.engines.command_lines import Failure
from plugins.engines.gtp_session import Do, Session
from plugins.engines.position import Position
from plugins.engines.serving import changed

_LOGGER = logging.getLogger("alphazero.engines")
LONGEST_TIME = 1e7
"""Most seconds of a clock."""


def run(session: Session, name: str, words: list[str], began: float) -> str:
    """Do a command and return the answer; raise `Failure` or `UserError`. began: when it came, by monotonic()."""
    session.begin(began)
    return COMMANDS[name](session, words)


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
    session.start(Position(session.game.set_up_from or session.game, session.bonus))
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
        session.play(player, action)
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
    **gtp_go.COMMANDS, **gtp_katago.COMMANDS, **gtp_analysis.COMMANDS, **gogui.COMMANDS,
}  # fmt: skip
