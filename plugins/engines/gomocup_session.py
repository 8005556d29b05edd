"""What the Gomocup protocol's commands do: the board, the limits of time and memory, the opening swap2.

A command that is refused changes nothing. The stones of a board come in the order in which they were played; the first
is Black's, player 1. Where they do not alternate they are set up.
"""

from __future__ import annotations

import itertools
import math
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

import numpy as np

from config import UserError
from game import FORBIDDEN_POINT, Game
from plugins.engines import swap2
from plugins.engines.clock import FEWEST, turn_budget
from plugins.engines.position import Position, set_up
from plugins.engines.serving import PlayerSource, changed
from plugins.engines.thinking import ROOM, Thinker
from system.machine import memory_used

RULES = {0: "freestyle", 1: "exact", 4: "renju"}
"""{value of INFO rule: ours}; 2, a game that goes on after five, and 8, caro, are not played."""
LASTS = 0.25
"""Own moves that a game is taken to last, for each free point."""
SPARE = 32 * 2**20
"""Bytes of max_memory that are left for what grows besides the tree."""
LEAST_ROOM = 2**22
USUAL = 400 * 2**20
"""Bytes that the process is taken to use where the system does not tell."""
UNLIMITED = 2**31 - 1
"""The largest number of the protocol: no limit."""


class Manager(Protocol):
    """The other program, while a command runs."""

    def say(self, text: str) -> None: ...

    def stopped(self) -> bool: ...


class Session:
    """A game with a manager."""

    def __init__(self, source: PlayerSource, game: Game, manager: Manager) -> None:
        """Load the player for a game, so that START with its size is answered at once."""
        if game.name != "gomoku":
            raise UserError(f"expected a game of gomoku for the Gomocup protocol, got {game.spec}")
        self.source, self.manager, self._base = source, manager, game
        self.turn = self.match = self.whole_match = math.inf
        """Seconds for a move, those left for the game, and those for a whole one."""
        self._room = ROOM
        self._ready: Thinker | None = self._warmed(game)
        self.thinker: Thinker | None = None
        """None before START."""
        self.stones: list[tuple[int, bool]] = []
        """(point, whether it is ours)"""
        self._position: Position | None = None
        """That of the stones; None when it is not known yet."""
        self._own = 0
        """The player that we are in it: 1, -1, or 0 before the first stone."""

    def run(self, name: str, words: str) -> str:
        """Do a command; raise `UserError` if it cannot be done."""
        if name not in ("START", "RECTSTART") and self.thinker is None:
            raise UserError("expected START first")
        return COMMANDS[name](self, words)

    def take_list(self, name: str, lines: list[str]) -> str:
        """Do BOARD, SWAP2BOARD or Yixin's YXBOARD, which sets the stones and asks for no move; the lines are complete.
        """
        if self.thinker is None:
            raise UserError("expected START first")
        if name == "SWAP2BOARD":
            return self._swap2(lines)
        began = time.monotonic()
        with self._or_as_before():
            self._take(self._listed(lines))
            if name == "BOARD":
                return self._move(began)
            self.position()  # Yixin's board is looked at, and answered only where it is none
        return ""

    # ---- the game

    @property
    def game(self) -> Game:
        return self._base

    def start(self, words: str) -> str:
        match = re.fullmatch(r"([0-9]{1,4})(?:[\s,]+([0-9]{1,4}))?", words)
        if match is None:
            raise UserError("expected a size such as START 15")
        if match[2] not in (None, match[1]):
            raise UserError("unsupported size: the board must be square")
        another = self.thinker is not None
        self._begin(self._sized(int(match[1])))
        if another:
            self.match = self.whole_match
        return "OK"

    def rectstart(self, words: str) -> str:
        match = re.fullmatch(r"([0-9]{1,4})\s*,\s*([0-9]{1,4})", words)
        if match is None:
            raise UserError("expected a width and a height such as RECTSTART 15,15")
        if match[1] != match[2]:
            raise UserError("unsupported size: the board must be square")
        return self.start(match[1])

    def _sized(self, size: int) -> Game:
        try:
            return self._base if size == self._base.grid_shape[0] else changed(self._base, size=size)
        except UserError as error:
            raise UserError(f"unsupported size: {str(error).splitlines()[0]}") from None

    def _begin(self, game: Game) -> None:
        """Begin a game with the empty board; raise `UserError`, with nothing changed, if nobody plays it."""
        if self.thinker is None or game.spec != self._base.spec:
            if self._ready is None or game.spec != self._base.spec:
                try:
                    self._ready = self._warmed(game)
                except UserError as error:
                    raise UserError(f"unsupported size: {str(error).splitlines()[0]}") from None
                if self.source.note:
                    self.manager.say(f"MESSAGE {self.source.note}")
            self._base, self.thinker, self._ready = game, self._ready, None
        self.thinker.forget()
        self._take([])

    def _warmed(self, game: Game) -> Thinker:
        thinker = Thinker(self.source.player(game), room=self._room, seed=self.source.seed)
        thinker.warm()
        return thinker

    @contextmanager
    def _or_as_before(self) -> Iterator[None]:
        """Let the stones be what they were when a command is refused."""
        stones = self.stones
        try:
            yield
        except UserError:
            self._take(stones)
            raise

    def _take(self, stones: list[tuple[int, bool]]) -> None:
        """Have these stones on the board, whether they are a position or not."""
        self.stones, self._position = stones, None

    def position(self) -> Position:
        """Return the position of the stones; raise `UserError` if they are none."""
        if self._position is None:
            self._position, self._own = self._placed(self.stones)
        return self._position

    def _placed(self, stones: list[tuple[int, bool]]) -> tuple[Position, int]:
        """Return the position of stones, and which player we are in it."""
        if len({point for point, _ in stones}) < len(stones):
            raise UserError("expected each point once")
        if all(a[1] != b[1] for a, b in itertools.pairwise(stones)):
            position = Position(self.game)
            for point, _ in stones:
                self._play(position, point)
            return position, (1 if stones[0][1] else -1) if stones else 0
        own = sum(ours for _, ours in stones)
        others = len(stones) - own
        if others - own not in (0, 1):
            raise UserError(f"expected as many stones of both, or one more of the other, got {own} own and {others}")
        board, player = np.zeros(self.game.grid_shape, np.int8), 1 if own == others else -1
        for point, ours in stones:
            board.flat[point] = player if ours else -player
        return Position(set_up(self.game, board, player)), player

    def _play(self, position: Position, point: int) -> None:
        """Play a point for the player to move; raise `UserError` with the protocol's name of it if that is illegal."""
        state = position.state
        if not state.isEndGame and point not in state.allowedActions:
            raise UserError(f"illegal move {self.name(point)}")
        position.play(position.to_move, point)

    def point(self, words: str) -> int:
        """Return the point of x,y; raise `UserError` if there is none."""
        match, size = re.fullmatch(r"\s*([0-9]{1,3})\s*,\s*([0-9]{1,3})\s*", words), self.game.grid_shape[0]
        if match is None or int(match[1]) >= size or int(match[2]) >= size:
            raise UserError(f"expected x,y from 0,0 to {size - 1},{size - 1}, got {words[:20]!r}")
        return int(match[2]) * size + int(match[1])

    def name(self, point: int) -> str:
        y, x = divmod(point, self.game.grid_shape[0])
        return f"{x},{y}"

    # ---- moves

    def _add(self, point: int, ours: bool) -> None:
        """Add a stone; raise `UserError` if it cannot be played."""
        position = self.position()
        mover = (self._own or (1 if ours else -1)) * (1 if ours else -1)
        if position.to_move != mover:
            raise UserError(f"expected a move of {'the other' if ours else 'ours'}, whose turn it is")
        self._play(position, point)
        self._own = mover if ours else -mover
        self.stones = [*self.stones, (point, ours)]

    def _move(self, began: float) -> str:
        """Choose a move, play it and return its name."""
        position = self.position()
        if position.state.isEndGame:
            raise UserError("expected a position to play in, the game is over")
        if self._own and position.to_move != self._own:
            raise UserError("expected a move of the other's, whose turn it is")
        free = self.game.action_size - len(self.stones)
        seconds = turn_budget(self.turn, self.match, max(math.ceil(LASTS * free), FEWEST))
        choice = self._required().choose(position.state, position.moves, seconds, self.manager.stopped)
        if choice.action is None:
            raise UserError("the player resigns")
        self._add(choice.action, True)
        self.match -= time.monotonic() - began
        return self.name(choice.action)

    def _required(self) -> Thinker:
        if self.thinker is None:
            raise UserError("expected START first")
        return self.thinker

    def begin(self, words: str) -> str:
        if self.stones:
            raise UserError("expected an empty board for BEGIN")
        return self._move(time.monotonic())

    def move_after(self, words: str) -> str:
        began = time.monotonic()
        with self._or_as_before():
            self._add(self.point(words), False)
            return self._move(began)

    def play(self, words: str) -> str:
        point = self.point(words)
        with self._or_as_before():
            self._add(point, True)
        return self.name(point)

    def takeback(self, words: str) -> str:
        point = self.point(words)
        left = [stone for stone in self.stones if stone[0] != point]
        if len(left) == len(self.stones):
            raise UserError(f"expected a stone on {self.name(point)}, there is none")
        self._take(left)  # more may be taken back: the position is looked at when we are to move
        return "OK"

    def restart(self, words: str) -> str:
        self._begin(self.game)
        self.match = self.whole_match
        return "OK"

    def _listed(self, lines: list[str]) -> list[tuple[int, bool]]:
        """Return the stones of a BOARD, in the order in which they were played as far as the lines tell it.

        A 3 in place of 1 or 2 marks a point that renju forbids, which our rules know, or the row of a game that goes on
        after five, which is not played here.
        """
        stones = []
        for number, line in enumerate(lines, 1):
            match = re.fullmatch(r"(.*,.*)\s*,\s*([123])\s*", line)
            if match is None or (match[2] == "3" and not self._is_renju):
                expected = "x,y,1 for an own stone or x,y,2 for one of the other"
                why = ": a game that goes on after five is not played" if match else ""
                raise UserError(f"line {number}: expected {expected}, got {line[:20]!r}{why}")
            if match[2] == "3":
                self.point(match[1])
                continue
            stones.append((self.point(match[1]), match[2] == "1"))
        if 2 * sum(ours for _, ours in stones) == len(stones) and stones and not stones[0][1] and not self._is_renju:
            # we are to move, so we began: but for renju the stones may come in any order
            stones = [stone for pair in zip(stones[1::2], stones[::2], strict=True) for stone in pair]
        return stones

    def show_forbidden(self, words: str) -> str:
        """Answer Yixin's question for the points that renju forbids to Black, two digits for each number."""
        if not self._is_renju:
            raise UserError("expected the renju rule for YXSHOWFORBID")
        board = np.zeros(self.game.grid_shape, np.int8)
        self.position()
        for number, (point, ours) in enumerate(self.stones):
            board.flat[point] = (self._own if ours else -self._own) or (1 if number % 2 == 0 else -1)
        cells = self.game.cells(self.game.set_up(board, 1))
        if cells is None:
            raise RuntimeError("expected the cells of the board")
        marked = np.argwhere(np.array(cells.cells) == FORBIDDEN_POINT).tolist()
        return f"FORBID {''.join(f'{x:02}{y:02}' for y, x in marked)}."

    def clear_hash(self, words: str) -> str:
        self._required().forget()
        return ""

    @property
    def _is_renju(self) -> bool:
        return self.game.parameters.get("rule") == "renju"

    def _swap2(self, lines: list[str]) -> str:
        points = [self.point(line) for line in lines]
        if len(points) not in (0, 3, 5) or len(set(points)) < len(points):
            raise UserError(f"expected 0, 3 or 5 stones for SWAP2BOARD, got {len(points)}")
        seconds = turn_budget(self.turn, self.match, FEWEST)
        answer = swap2.answer(self._required(), self.game, points, seconds, self.manager.stopped)
        return " ".join(part if isinstance(part, str) else self.name(part) for part in answer)

    # ---- limits

    def info(self, words: str) -> None:
        """Heed what INFO says; other keys, and values that are no numbers, are passed over, as the protocol asks."""
        key, _, value = words.partition(" ")
        key = key.lower()
        if not re.fullmatch(r"\s*-?[0-9]{1,15}\s*", value):
            return
        number = int(value)
        if key == "timeout_turn":
            self.turn = max(number, 0) / 1000
        elif key == "timeout_match":
            self.match = self.whole_match = number / 1000 if 0 < number < UNLIMITED else math.inf
        elif key == "time_left" and math.isfinite(self.match):
            self.match = max(number, 0) / 1000 if number < UNLIMITED else math.inf
        elif key == "max_memory":
            self._limit(number)
        elif key == "rule":
            self._rule(number)

    def _limit(self, most: int) -> None:
        used = memory_used() or USUAL
        room = ROOM if most <= 0 else min(most - used - SPARE, ROOM)
        if room < LEAST_ROOM:
            self.manager.say(f"MESSAGE the program itself uses {used // 2**20} MiB: max_memory cannot be kept")
        self._room = max(room, LEAST_ROOM)
        for thinker in (self.thinker, self._ready):
            if thinker is not None:
                thinker.limit(self._room)

    def _rule(self, rule: int) -> None:
        if rule not in RULES:
            self.manager.say(f"MESSAGE rule {rule} is not played: {self.game.spec} is")
            return
        try:
            game = changed(self.game, rule=RULES[rule])
            if game.spec == self.game.spec:
                return
            stones = self.stones
            if self.thinker is None:
                self._base, self._ready = game, None
                return
            self._begin(game)
            self._take(stones)
        except UserError as error:
            self.manager.say(f"MESSAGE rule {rule} is not played: {str(error).splitlines()[0]}")


COMMANDS: dict[str, Callable[[Session, str], str]] = {
    "START": Session.start, "RECTSTART": Session.rectstart, "RESTART": Session.restart, "BEGIN": Session.begin,
    "TURN": Session.move_after, "PLAY": Session.play, "TAKEBACK": Session.takeback,
    "YXSHOWFORBID": Session.show_forbidden, "YXHASHCLEAR": Session.clear_hash,
}  # fmt: skip
