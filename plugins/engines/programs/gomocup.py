"""Any program that speaks the Gomocup protocol as a player of gomoku: `gomocup:pbrain-engine`.

`gomocup:turn=2s:COMMAND` gives it 2 s a move instead of 5; it loses when it takes a second more.
`gomocup:start=300s:COMMAND` gives it longer to start.

The program is not trusted (child_program.py). A program that hangs, floods, dies, or answers nonsense or an illegal
move loses that game; the next game gets a new process. Reference: P. Lastovicka, "Gomoku AI protocol".
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Sequence

from config import UserError
from game import Game
from plugins.engines.programs.child_program import LIMIT, ChildProgram, EngineFailed, find_program, options_of, quoted
from plugins.engines.programs.engine_player import EngineGame, EnginePlayer

SECONDS = 60.0
"""Time limit for the answers to START and RESTART, unless the name gives another for the start."""
TURN = 5.0
"""Seconds a move, unless the name gives others."""
GRACE = 1.0
"""Seconds that a move may take beyond its time: processes of a busy machine are late."""
RULES = {"freestyle": 0, "exact": 1, "renju": 4}
"""{our rule: that of INFO rule}"""
ASIDE = ("MESSAGE", "DEBUG", "INFO")
"""First words of lines that are no answers."""
REFUSALS = ("ERROR", "UNKNOWN")
"""First words of the answers to a line that a program cannot use."""
QUIET = 0.2
"""Seconds without a word after which a program is taken to have ended its last search."""
LOUDEST = 1.0
"""Most seconds for which a program that is never quiet is waited for."""
KEPT = 100
"""Most answers kept of those that nobody waited for."""
NO_LIMIT = 2**31 - 1
_LOGGER = logging.getLogger("alphazero.gomocup")


class Brain(ChildProgram):
    """One process that answers commands."""

    def __init__(self, words: Sequence[str], seconds: float, start: float) -> None:
        """Start the process; raise `EngineFailed` when that fails. `start`: time limit for its first answer."""
        super().__init__(words, seconds=seconds, start=start, goodbye=b"END\r\n", logger=_LOGGER)
        self._rest = b""
        """The begun line after the last answer."""
        self._late: tuple[str, ...] = ()
        """Answers that nobody waited for."""
        self._heard = time.monotonic()
        """When the last answer came."""
        self._told = 0
        """Lines of INFO that may still be refused: those since the last answer, or all of a program that refuses."""
        self._open = 0
        """Lines of INFO that were not refused so far."""
        self._refused: list[str] = []
        """Refusals of them among what came since the last command."""
        self._noted = False

    def inform(self, facts: Sequence[str], seconds: float | None = None) -> None:
        """Send lines of INFO, when the program is quiet: after its last move it may still be ending its search.

        They have no answer. A refusal of one is a note: it says nothing of the game.
        """
        quiet, latest = self._heard + QUIET, time.monotonic() + LOUDEST
        try:
            while (now := time.monotonic()) < latest and (part := self._answers.read(quiet - now)) is not None:
                lines, _, self._rest = _joined(self._rest, part).rpartition(b"\n")
                self._late = (*self._late, *_answers(lines))[:KEPT]
                quiet = time.monotonic() + QUIET
            self.send(*(f"INFO {fact}\r" for fact in facts), seconds=seconds)
        except (EngineFailed, OSError) as error:
            self.kill()
            raise EngineFailed(f"INFO {facts[0]}: {error}") from None
        self._told += len(facts)
        self._open += len(facts)

    def ask(self, lines: Sequence[str], seconds: float | None = None) -> str:
        """Send lines and return the answer; without a valid answer kill the program and raise `EngineFailed`."""
        self._refused, late = [], (*self._late, *_answers(self._rest))
        try:
            self.send(*(f"{line}\r" for line in lines), seconds=seconds)
            if extra := [words for words in late if not _refuses(words)]:
                raise EngineFailed(f"answered too much: {quoted(extra[0])}")
            answer = self.read(_joined, self._whole, "gomocup:start=300s:COMMAND gives it longer to start", seconds)
            if _refuses(answer):
                raise EngineFailed(f"refused: {quoted(answer)}")
        except (EngineFailed, OSError) as error:
            self.kill()
            said = f", after {quoted(self._refused[0])}" if self._refused else ""
            raise EngineFailed(f"{lines[0]}: {error}{said}") from None
        if (refused := [*late, *self._refused]) and not self._noted:
            self._noted = True
            _LOGGER.warning("%s refuses an INFO, which is no fault: %s", self.program, quoted(refused[0]))
        self._late, self._heard = (), time.monotonic()
        self._open -= len(refused)
        self._told = max(self._open, 0) if self._noted else 0  # whoever refuses one may refuse each of them, later
        return answer

    def _whole(self, data: bytes) -> str | None:
        """Return the first line that is an answer, None before there is one; refusals of INFO are none."""
        self._refused = []
        while b"\n" in data:
            line, _, data = data.partition(b"\n")
            for words in _answers(line):
                if not _refuses(words) or len(self._refused) >= self._told:
                    self._rest = data
                    return words
                self._refused.append(words)
        return None


def _joined(data: bytes, part: bytes) -> bytes:
    """Return the output so far; raise `EngineFailed` if it cannot be an answer."""
    if not part:
        raise EngineFailed("ended without an answer")
    data = (data + part).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if len(data) > LIMIT:
        raise EngineFailed(f"expected an answer of at most {LIMIT:,} bytes, got more")
    return data


def _refuses(words: str) -> bool:
    return words.split(" ")[0].upper() in REFUSALS


def _answers(data: bytes) -> list[str]:
    """Return the lines that are answers."""
    text = data.decode("ascii", "replace").split("\n")
    lines = ("".join(c for c in line if c.isprintable()).strip() for line in text)
    return [line for line in lines if line and line.split(" ")[0].upper() not in ASIDE]


class GomocupPlayer(EnginePlayer[Brain]):
    """A program of the Gomocup protocol as a player, with one process per game."""

    def __init__(self, game: Game, command: str, *, seconds: float = SECONDS) -> None:
        """Find and start the program of a command line; raise `UserError` when that fails.

        seconds: time limit for answers that are no moves.
        """
        if game.name != "gomoku" or game.winning_line != 5:
            raise UserError(f"expected gomoku with five in a row for a Gomocup program, got {game.spec}")
        self._rule = RULES[str(game.parameters.get("rule", "freestyle"))]
        options, program = options_of(command, "gomocup")
        self._start, self._turn = options.get("start", seconds), options.get("turn", TURN)
        self._words, self._seconds = find_program(program, "gomocup", {}), seconds
        super().__init__(f"gomocup:{' '.join(command.split())[:60]}", game, "a Gomocup program", _LOGGER)

    def point(self, action: int) -> str:
        """Return the protocol's name of a move: x,y from 0."""
        y, x = divmod(action, self.game.grid_shape[1])
        return f"{x},{y}"

    def action(self, text: str) -> int | None:
        rows, columns = self.game.grid_shape
        match = re.fullmatch(r"([0-9]{1,3})\s*,\s*([0-9]{1,3})", text)
        if match is None or int(match[1]) >= columns or int(match[2]) >= rows:
            return None
        return int(match[2]) * columns + int(match[1])

    # ---- inside

    def _begin(self) -> Brain:
        brain = Brain(self._words, self._seconds, self._start)
        self._expect_ok(brain, f"START {self.game.grid_shape[0]}")
        turn = round(1000 * self._turn)
        brain.inform(
            [f"timeout_turn {turn}", "timeout_match 0", "max_memory 0", "game_type 1", f"rule {self._rule}"]
        )
        return brain

    def _clear(self, engine: Brain) -> None:
        self._expect_ok(engine, "RESTART")

    def _expect_ok(self, brain: Brain, command: str) -> None:
        answer = brain.ask([command])
        if answer.split(" ")[0].upper() != "OK":
            brain.kill()
            raise EngineFailed(f"{command}: expected OK, got {quoted(answer)}")

    def _ask(self, engine: Brain, played: EngineGame[Brain]) -> str:
        limit, moves = self._turn + GRACE, played.moves
        engine.inform([f"time_left {NO_LIMIT}"], limit)
        if not moves:
            answer = engine.ask(["BEGIN"], limit)
        elif played.known == len(moves) - 1:
            answer = engine.ask([f"TURN {self.point(moves[-1][1])}"], limit)
        else:  # an opening
            mover = played.state.playerTurn
            stones = [f"{self.point(action)},{1 if player == mover else 2}" for player, action in moves]
            answer = engine.ask(["BOARD", *stones, "DONE"], limit)
        if answer.upper().startswith("SUGGEST "):
            answer = engine.ask([f"PLAY {answer[8:].strip()}"], limit)
        return answer
