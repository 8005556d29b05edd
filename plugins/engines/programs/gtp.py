"""Any program that speaks GTP as a player: `gtp:gnugo`. For Go, gomoku, Hex and Othello, with the names of vertices.py.

`gtp:start=300s:katago gtp` waits up to 300 s for the program to start, which may tune itself first.
`gtp:turn=2s:PROGRAM` gives it 2 s a move: it is told so, and loses when it takes a second more.

The program is not trusted (child_program.py). A program that hangs, floods, dies, or answers nonsense or an illegal
move loses that game; the next game gets a new process. Reference: G. Farnebäck, Specification of the Go Text Protocol,
version 2 (draft 2).
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress

from config import UserError
from game import Game
from games.boards import GO_LETTERS
from plugins.engines import vertices
from plugins.engines.programs import child_program
from plugins.engines.programs.child_program import FOLDERS as FOLDERS
from plugins.engines.programs.child_program import LIMIT, ChildProgram, EngineFailed, options_of, quoted
from plugins.engines.programs.engine_player import EngineGame, EnginePlayer

SECONDS = 60.0
"""Time limit for one answer, and for the first one unless the name gives another for the start."""
GRACE = 1.0
"""Seconds that a move may take beyond its time: processes of a busy machine are late."""
SHORT = {"gnugo": "gnugo --mode gtp --chinese-rules --never-resign --capture-all-dead"}
"""Arguments of programs that are named without any. Every stone on the board counts, so dead ones must be captured."""
_LOGGER = logging.getLogger("alphazero.gtp")


class Engine(ChildProgram):
    """One process that answers commands."""

    def __init__(self, words: Sequence[str], seconds: float, start: float) -> None:
        """Start the process; raise `EngineFailed` when that fails. `start`: time limit for its first answer."""
        super().__init__(words, seconds=seconds, start=start, goodbye=b"quit\n", logger=_LOGGER)
        self._number = 0

    def ask(self, command: str, seconds: float | None = None, refused: str | None = None) -> str:
        """Send a command and return the answer; without a valid answer kill the program and raise `EngineFailed`.

        refused: what stands for a refusal, by default no valid answer.
        """
        self._number += 1
        try:
            self.send(f"{self._number} {command}", seconds=seconds)
            return self._answer(seconds, refused)
        except (EngineFailed, OSError) as error:
            self.kill()
            raise EngineFailed(f"{command}: {error}") from None

    def _answer(self, seconds: float | None, refused: str | None) -> str:
        text = self.read(_joined, _whole, "gtp:start=300s:COMMAND gives it longer to start", seconds)
        text = text.replace("\r", "").lstrip("\n")
        mark, number, rest = text[:1], str(self._number), text[1:]
        if mark not in ("=", "?") or rest[: len(number)] != number or rest[len(number) : len(number) + 1].isdigit():
            raise EngineFailed(f"expected an answer with the number {number}, got {quoted(text)}")
        answer = "".join(c for c in rest[len(number) :] if c.isprintable() or c == "\n").strip()
        if mark == "?" and refused is not None:
            return refused
        if mark == "?":
            raise EngineFailed(f"refused: {quoted(answer)}")
        return answer


def _joined(data: bytes, part: bytes) -> bytes:
    """Return the output so far without empty lines before the answer; raise `EngineFailed` if it cannot be one."""
    if not part:
        raise EngineFailed("ended without an answer")
    data = (data + part.replace(b"\r", b"")).lstrip(b"\n")
    if data[:1] not in (b"", b"=", b"?"):
        raise EngineFailed(f"expected an answer, got {quoted(data.decode('ascii', 'replace'))}")
    if len(data) > LIMIT and b"\n\n" not in data:
        raise EngineFailed(f"expected an answer of at most {LIMIT:,} bytes, got more")
    return data


def _whole(data: bytes) -> str | None:
    """Return the output up to an empty line, None before that."""
    if b"\n\n" not in data:
        return None
    whole, more = data.split(b"\n\n", 1)
    if more.strip():
        raise EngineFailed(f"answered too much: {quoted(more.decode('ascii', 'replace'))}")
    return whole.decode("ascii", "replace")


class GTPPlayer(EnginePlayer[Engine]):
    """A GTP program as a player, with one process per game."""

    def __init__(self, game: Game, command: str, *, seconds: float = SECONDS) -> None:
        """Find and start the program of a command line; raise `UserError` when that fails.

        seconds: time limit for an answer. A command line such as "start=300s:katago gtp" has another for the first.
        """
        known = game.sgf_number is not None or game.rows_from_top
        if not known or max(game.grid_shape) > len(GO_LETTERS):
            known_ones = "Go, gomoku, Hex or Othello of at most 25 lines"
            raise UserError(f"expected {known_ones} for a GTP program, got {game.spec}")
        options, program = options_of(command, "gtp")
        self._start, self._turn = options.get("start", seconds), options.get("turn")
        self._words, self._seconds = find_program(program), seconds
        self._empty = game.start()
        self._forced_pass = game.grid_shape[0] * game.grid_shape[1] if game.rows_from_top else -1
        """The pass of Othello, in which one passes only where no other move is legal; -1 for other games."""
        super().__init__(f"gtp:{' '.join(command.split())[:60]}", game, "a GTP program", _LOGGER)

    def vertex(self, action: int) -> str:
        """Return GTP's name of a move, the one by which our own server reads it."""
        return vertices.vertex(self.game, self._empty, action)

    def action(self, text: str) -> int | None:
        with suppress(UserError):
            return vertices.action(self.game, self._empty, text)
        return None

    # ---- inside

    def _begin(self) -> Engine:
        engine = Engine(self._words, self._seconds, self._start)
        engine.ask(f"boardsize {self.game.grid_shape[0]}")
        if self.game.komi is not None:
            engine.ask(f"komi {self.game.komi:g}")
        if self._turn is not None:
            engine.ask(f"time_settings 0 {self._turn:g} 1")
        self._clear(engine)
        return engine

    def _clear(self, engine: Engine) -> None:
        engine.ask("clear_board")

    def _ask(self, engine: Engine, played: EngineGame[Engine]) -> str:
        for player, action in played.moves[played.known :]:
            self._play(engine, player, action)
            played.known += 1
        if played.state.allowedActions == [self._forced_pass]:
            self._play(engine, played.state.playerTurn, self._forced_pass)
            return "pass"
        limit = None if self._turn is None else self._turn + GRACE
        return engine.ask(f"genmove {_colour(played.state.playerTurn)}", limit)

    def _play(self, engine: Engine, player: int, action: int) -> None:
        """Send a move; a program may refuse a forced pass, as some play it by themselves."""
        engine.ask(f"play {_colour(player)} {self.vertex(action)}", refused="" if action == self._forced_pass else None)


def _colour(player: int) -> str:
    return "black" if player == 1 else "white"


def find_program(command: str) -> list[str]:
    """Return the words of a command line, the program with its folder; raise `UserError` when there is none."""
    return child_program.find_program(command, "gtp", SHORT)
