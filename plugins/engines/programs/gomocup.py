"""Any program that speaks the Gomocup protocol as a player of gomoku: `gomocup:pbrain-engine`.

`gomocup:turn=2s:COMMAND` gives it 2 s a move instead of 5; it loses when it takes a second more.
`gomocup:start=300s:COMMAND` gives it longer to start.

The program is not trusted (child_program.py). A program that hangs, floods, dies, or answers nonsense or an illegal
move loses that game; the next game gets a new process. Reference: P. Lastovicka, "Gomoku AI protocol".
"""

from __future__ import annotations

import logging
import re
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
NO_LIMIT = 2**31 - 1
_LOGGER = logging.getLogger("alphazero.gomocup")


class Brain(ChildProgram):
    """One process that answers commands."""

    def __init__(self, words: Sequence[str], seconds: float, start: float) -> None:
        """Start the process; raise `EngineFailed` when that fails. `start`: time limit for its first answer."""
        super().__init__(words, seconds=seconds, start=start, goodbye=b"END\r\n", logger=_LOGGER)
        self._rest = b""
        """What came after the last answer."""

    def tell(self, lines: Sequence[str]) -> None:
        """Send lines that have no answer."""
        try:
            for line in lines:
                self.send(f"{line}\r")
        except (EngineFailed, OSError) as error:
            self.kill()
            raise EngineFailed(f"{lines[0]}: {error}") from None

    def ask(self, lines: Sequence[str], seconds: float | None = None) -> str:
        """Send lines and return the answer; without a valid answer kill the program and raise `EngineFailed`."""
        self.tell(lines)
        try:
            if extra := _answers(self._rest)[:1]:
                raise EngineFailed(f"answered too much: {quoted(extra[0])}")
            answer = self.read(_joined, self._whole, "gomocup:start=300s:COMMAND gives it longer to start", seconds)
            if answer.split(" ")[0].upper() in ("ERROR", "UNKNOWN"):
                raise EngineFailed(f"refused: {quoted(answer)}")
        except (EngineFailed, OSError) as error:
            self.kill()
            raise EngineFailed(f"{lines[0]}: {error}") from None
        return answer

    def _whole(self, data: bytes) -> str | None:
        """Return the first line that is an answer, None before there is one."""
        for line in data.split(b"\n")[:-1]:
            _, _, self._rest = data.partition(line + b"\n")
            if found := _answers(line + b"\n"):
                return found[0]
            data = self._rest
        return None


def _joined(data: bytes, part: bytes) -> bytes:
    """Return the output so far; raise `EngineFailed` if it cannot be an answer."""
    if not part:
        raise EngineFailed("ended without an answer")
    data = (data + part).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if len(data) > LIMIT:
        raise EngineFailed(f"expected an answer of at most {LIMIT:,} bytes, got more")
    return data


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
        brain.tell([f"INFO timeout_turn {turn}", "INFO timeout_match 0", "INFO max_memory 0", "INFO game_type 1",
                    f"INFO rule {self._rule}"])  # fmt: skip
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
        engine.tell([f"INFO time_left {NO_LIMIT}"])
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
