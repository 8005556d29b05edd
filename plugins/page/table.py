"""A game at a table of the page: moves with their redo, the seats, values; no browser and no player's internals
here."""

from __future__ import annotations

import datetime
import re
import secrets
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import games
from config import UserError
from console.turn import refusal
from game import Game, GameState
from games.line_of_moves import follow
from interface.side_names import side_name
from languages.translate import tr
from plugins.page.clock import Clock
from storage.game_files import PERSON, Record

LONGEST_TEXT = 20_000
FEW = 12
"""Legal moves that are listed after an illegal one, at most."""


class Left(NamedTuple):
    """A game that was left for a try: what `Table.back` restores."""

    ply: int
    """Where it was left."""
    states: list[GameState]
    moves: list[int]
    values: dict[int, float]
    stored: frozenset[int]
    resigned: int | None
    late: bool
    loaded: Record | None
    paused: bool
    number: str
    clock: Clock | None
    result: float | None


class Table:
    """One game: a line of moves and the ply that is shown. Values are for the player who began, in [-1, 1]."""

    def __init__(self, spec: str) -> None:
        self.seats: dict[int, str] = {1: PERSON, -1: "random"}
        self.levels: dict[int, str] = {1: "400", -1: "400"}
        self.paused = False
        """True while machines wait: after a stop, until the game continues."""
        self.clock: Clock | None = None
        self.called: Callable[[int], str] = lambda side: self.seats[side]
        """The name of who sits on a side, for people."""
        self.change_game(spec)

    def change_game(self, spec: str) -> None:
        """Begin a game of another kind."""
        self.game: Game = games.make(spec)
        self.new()

    def new(self) -> None:
        """Begin again from the usual first position."""
        self.game = self.game.set_up_from or self.game
        self.states: list[GameState] = [self.game.start()]
        self.moves: list[int] = []
        self.ply = 0
        self.values: dict[int, float] = {}
        """{ply: value of the position there, for the player who began}."""
        self.resigned: int | None = None
        self.late = False
        """Whether the side in `resigned` has lost on time."""
        self.paused = False
        self.clock = self._full_clock()
        self._loaded: Record | None = None
        """The game that was loaded, until something is changed in it."""
        self._stored: frozenset[int] = frozenset()
        """The plies whose values came with the game: no later search replaces them."""
        self.left: Left | None = None
        """The game, while a try in one of its positions is on the table."""
        self.number = new_number()
        """Names the game among those that a browser keeps; a try has another."""

    # ---- position

    @property
    def state(self) -> GameState:
        return self.states[self.ply]

    @property
    def at(self) -> str:
        """An identifier of the position shown: the moves that led to it."""
        return f"{hash((self.ply, *self.moves[: self.ply])) & 0xFFFFFFFF:x}"

    @property
    def looking_back(self) -> bool:
        return self.ply < len(self.moves)

    @property
    def over(self) -> bool:
        """True when no move can be played here: the game ended, or a side resigned."""
        return self.state.isEndGame or (self.resigned is not None and not self.looking_back)

    @property
    def machine_to_move(self) -> bool:
        """True when a machine is to move now."""
        waits = self.paused or self.looking_back or self.over
        return not waits and self.seats[self.state.playerTurn] != PERSON

    @property
    def machine_waits(self) -> bool:
        """True when a machine could continue from here, and waits: after a stop, or at an earlier position."""
        waits = (self.paused or self.looking_back) and not self.over
        return waits and self.seats[self.state.playerTurn] != PERSON

    @property
    def result(self) -> float | None:
        """The result for the player who began; None while the game is not over."""
        if self._loaded is not None:  # a file from elsewhere may state another result than the rules
            return self._loaded.result
        if self.resigned is not None:
            return float(-self.resigned)
        end = self.states[-1]
        return end.value * end.playerTurn if end.isEndGame else None

    @property
    def on_the_clock(self) -> int | None:
        """The side whose time runs: none before the first move, nor while a machine waits for one who looks back."""
        side = self.states[-1].playerTurn
        waits = self.paused or (self.looking_back and self.seats[side] != PERSON)
        return None if self.clock is None or not self.moves or waits or self.result is not None else side

    def go(self, ply: int) -> None:
        """Go to the position after `ply` moves."""
        self.ply = min(max(ply, 0), len(self.moves))

    def undo(self) -> bool:
        """Go back to the last position where a person was to move; return whether there was one."""
        for ply in range(self.ply - 1, -1, -1):
            if PERSON not in self.seats.values() or self.seats[self.states[ply].playerTurn] == PERSON:
                self.go(ply)
                return True
        return False

    def redo(self) -> bool:
        """Go forward to the next position where a person is to move, or to the end; return whether it moved."""
        was = self.ply
        for ply in range(self.ply + 1, len(self.moves) + 1):
            self.go(ply)
            if self.seats[self.state.playerTurn] == PERSON:
                break
        return self.ply > was

    # ---- what is done

    def play(self, action: int, *, trying: bool = False) -> None:
        """Play a move here; moves that came after this position are dropped. Raise `UserError` saying why not.

        trying: see `drop_rest`.
        """
        if self.over:
            raise UserError(tr("The game is over: begin a new one, or go back."))
        if action not in self.state.allowedActions:
            raise UserError(short_refusal(self.game, self.state, action))
        state, side = self.state.takeAction(action)[0], self.state.playerTurn
        if self.clock is not None:
            self.clock.moved(side, time.monotonic())
        self.drop_rest(trying=trying)
        self.moves.append(action)
        self.states.append(state)
        self.ply += 1

    def drop_rest(self, *, trying: bool = False) -> None:
        """Drop all moves after this position. trying: the game is kept with its times, for `back`, until another one
        begins."""
        if trying and self.left is None:
            self.left = Left(self.ply, [*self.states], [*self.moves], self.values, self._stored, self.resigned,
                             self.late, self._loaded, self.paused, self.number, self.clock, self.result)  # fmt: skip
            self.number, self.clock = new_number(), self._full_clock()
        del self.moves[self.ply :], self.states[self.ply + 1 :]
        self.values = {ply: value for ply, value in self.values.items() if ply <= self.ply}
        self._stored &= frozenset(self.values)
        self.resigned, self.late, self._loaded = None, False, None

    def back(self) -> None:
        """Go back from a try to the game, where it was left."""
        if self.left is not None:
            (self.ply, self.states, self.moves, self.values, self._stored, self.resigned, self.late, self._loaded,
             self.paused, self.number, self.clock, _) = self.left  # fmt: skip
            self.left = None

    def resign(self, side: int, *, late: bool = False) -> None:
        """Resign for a side. late: it has lost on time."""
        if self.result is None:
            self.resigned, self.late, self._loaded = side, late, None
            self.go(len(self.moves))

    def swap(self) -> None:
        """Swap the seats."""
        self.seats = {side: self.seats[-side] for side in (1, -1)}
        self.levels = {side: self.levels[-side] for side in (1, -1)}

    def note(self, ply: int, value: float, player: int) -> None:
        """Record a value of the position at a ply, given for a player."""
        if ply not in self._stored:
            self.values[ply] = value * player

    def keep(self, values: dict[int, float]) -> None:
        """Load the values that were stored with a game."""
        self.values, self._stored = values, frozenset(values)

    def evaluation(self) -> float | None:
        """The value here for the player who began: the result if it is known, else the value recorded here."""
        if not self.looking_back and self.result is not None:
            return self.result
        return self.values.get(self.ply)

    # ---- as text and files

    @property
    def text(self) -> str:
        """The moves up to here as one line."""
        return self.game.format_moves(self.moves[: self.ply])

    def load_text(self, text: str) -> None:
        """Load a line of moves; raise `UserError` with the number of the first wrong one, changing nothing."""
        if len(text) > LONGEST_TEXT:
            raise UserError(f"expected at most {LONGEST_TEXT:,} characters, got {len(text):,}")
        self._take(self.game, self.game.parse_moves(text))

    def load(self, record: Record) -> None:
        """Load a game from a file, at its first position; machines wait until it continues."""
        self._take(record.game, record.moves)
        if record.result is not None and not self.states[-1].isEndGame:
            self.resigned = -1 if record.result > 0 else 1 if record.result < 0 else None
        self._loaded, self.paused = record, True
        self.go(0)

    def _take(self, game: Game, moves: list[int]) -> None:
        states = list(follow(game, moves))
        self.game, self.states, self.moves = game, states, list(moves)
        self.ply, self.values, self.resigned, self._loaded, self._stored = len(moves), {}, None, None, frozenset()
        self.late, self.left, self.number, self.clock = False, None, new_number(), self._full_clock()

    def _full_clock(self) -> Clock | None:
        return self.clock.fresh() if self.clock else None

    def resume(self, number: str) -> None:
        """Resume the game that was loaded, under its number."""
        self._loaded, self.number, self.paused = None, number, False
        self.go(len(self.moves))

    @property
    def from_file(self) -> bool:
        """Whether the game was loaded and not changed since."""
        return self._loaded is not None

    def record(self) -> Record:
        """Return the complete game for a file; a loaded one keeps its players and date until it is changed."""
        if self._loaded is not None:
            return self._loaded
        names: Any = tuple(_named(self.seats[side], self.levels[side])[:100] for side in (1, -1))
        stated = {"result": "W+T" if self.resigned == 1 else "B+T"} if self.late else {}
        return Record(self.game, self.moves, self.result, names, datetime.date.today().isoformat(), stated)

    @property
    def status(self) -> str:
        """The side to move, or how the game ended."""
        if self.over:
            end = self.state.value * self.state.playerTurn if self.state.isEndGame else None
            result = end if self.looking_back else self.result
            given = "" if self.resigned is None else " " + tr("The other side resigned.")
            if self.late:
                given = " " + tr("The other side has no time left.")
            if self._loaded is not None and result != end:  # a file holds the winner, not the reason
                given = " " + tr("So says the file.")
            if result is None:
                return tr("No result.") + given
            return f"{outcome(self.game, result)}{given if result or result != end else ''}"
        turn = self.side_name(self.state.playerTurn)
        if self.looking_back:
            return tr("Move {ply} of {count}, {side} to move. A click plays on from here.",
                      ply=self.ply, count=len(self.moves), side=turn)  # fmt: skip
        if self.seats[self.state.playerTurn] == PERSON:
            return tr("{side} to move", side=turn)
        who = f"{turn} ({self.called(self.state.playerTurn)})"
        return tr("{side} to move, waiting", side=who) if self.paused else tr("{side} to move", side=who)

    def side_name(self, side: int) -> str:
        """Return the name of a side."""
        return side_name(self.game, side)


def short_refusal(game: Game, state: GameState, action: int) -> str:
    """Return that a move cannot be played, in the language of the tab, with the moves that can if they are few."""
    if len(state.allowedActions) > FEW and 0 <= action < game.action_size:
        return tr("illegal move {move}", move=game.move_name(action))
    return refusal(game, state, action)


def new_number() -> str:
    """Return the number of another game."""
    return secrets.token_hex(4)


def outcome(game: Game, result: float) -> str:
    """Return a result, given for the player who began, in words."""
    return tr("{side} wins.", side=side_name(game, 1 if result > 0 else -1)) if result else tr("A draw.")


def _named(seat: str, level: str) -> str:
    """Return the command line's name of a player of the page."""
    timed = level.endswith("s") and seat.startswith(("run", "shipped/"))
    name = re.sub("^shipped/[^:]+:", "shipped:", seat)
    return f"{name}:{level}" if timed or seat in ("rollout", "uct") else name
