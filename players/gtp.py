"""Any program that speaks GTP as a player: `gtp:gnugo`. For games on points that have Go's coordinates.

`gtp:start=300s:katago gtp` waits up to 300 s for the program to start, which may tune itself first.

The program is not trusted: it is started without a shell, in its own process group, and an answer has a time limit and
a size limit. A program that hangs, floods, dies, or answers nonsense or an illegal move loses that game; the next game
gets a new process. Reference: G. Farnebäck, Specification of the Go Text Protocol, version 2 (draft 2).
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
import time
import weakref
from collections.abc import Sequence

import numpy as np

from agent import RESIGN, Player, Resigned
from config import UserError
from game import Game, GameState
from games.boards import GO_LETTERS, point_name
from games.line_of_moves import played as after
from games.line_of_moves import refuse_set_up
from MCTS import Decision
from system import processes
from system.pipe_reader import PipeReader
from system.shell import split

SECONDS = 60.0
"""Time limit for one answer, and for the first one unless the name gives another for the start."""
SHOWN = 10.0
"""Seconds between two messages about a program that has not started yet."""
LAST_WORDS = 1.0
"""Seconds in which what a program wrote before its end arrives here."""
LIMIT = 1 << 16
"""Size limit for one answer, in bytes."""
SHORT = {"gnugo": "gnugo --mode gtp --chinese-rules --never-resign --capture-all-dead"}
"""Arguments of programs that are named without any. Every stone on the board counts, so dead ones must be captured."""
FOLDERS = os.pathsep.join(("/usr/games", "/usr/local/games"))
"""Folders searched for programs that are not on the path."""
_START = re.compile(r"start=(?P<seconds>[1-9][0-9]{0,4})s:(?P<command>.*)", re.DOTALL)
_LOGGER = logging.getLogger("alphazero.gtp")


class EngineFailed(Exception):
    """The program violated the protocol."""


class Engine:
    """One process that answers commands."""

    def __init__(self, words: Sequence[str], seconds: float, start: float) -> None:
        """Start the process; raise `EngineFailed` when that fails. `start`: time limit for its first answer."""
        try:
            self._process = subprocess.Popen(
                list(words), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                bufsize=0, **processes.own_group(),
            )  # fmt: skip
        except (OSError, ValueError) as error:
            raise EngineFailed(f"cannot be started ({error})") from None
        self._program = os.path.basename(words[0])
        self._seconds, self._start, self._number = seconds, start, 0
        self._answers = PipeReader(self._process.stdout) if self._process.stdout else None
        self._end = weakref.finalize(self, _end, self._process, self._answers)

    def ask(self, command: str) -> str:
        """Send a command and return the answer; without a valid answer kill the program and raise `EngineFailed`."""
        self._number += 1
        try:
            self._write(f"{self._number} {command}\n".encode("ascii"))
            return self._answer()
        except (EngineFailed, OSError) as error:
            self._end.detach()
            _kill(self._process, self._answers)
            raise EngineFailed(f"{command}: {error}") from None

    def _write(self, line: bytes) -> None:
        if self._process.stdin is None:
            raise EngineFailed("has no input")
        self._process.stdin.write(line)  # shorter than what a pipe holds, and each line waits for its answer

    def _answer(self) -> str:
        text = self._read().replace("\r", "").lstrip("\n")
        mark, number, rest = text[:1], str(self._number), text[1:]
        if mark not in ("=", "?") or rest[: len(number)] != number or rest[len(number) : len(number) + 1].isdigit():
            raise EngineFailed(f"expected an answer with the number {number}, got {_quoted(text)}")
        answer = "".join(c for c in rest[len(number) :] if c.isprintable() or c == "\n").strip()
        if mark == "?":
            raise EngineFailed(f"refused: {_quoted(answer)}")
        return answer

    def _read(self) -> str:
        """Return the output up to an empty line."""
        data, began, shown = b"", time.monotonic(), SHOWN
        starts = self._number == 1
        seconds = self._start if starts else self._seconds
        if self._answers is None:
            raise EngineFailed("has no output")
        while True:
            ended = self._process.poll() is not None  # its children may hold its output open
            left = seconds - (time.monotonic() - began)
            part = self._answers.read(LAST_WORDS if ended else min(0.2, left))
            if part is not None:
                data = _joined(data, part)
                if b"\n\n" in data:
                    whole, more = data.split(b"\n\n", 1)
                    if more.strip():
                        raise EngineFailed(f"answered too much: {_quoted(more.decode('ascii', 'replace'))}")
                    return whole.decode("ascii", "replace")
            elif ended:
                raise EngineFailed("ended without an answer")
            passed = time.monotonic() - began  # also while it floods, which leaves the pipe never empty
            if passed >= seconds:
                hint = "; gtp:start=300s:COMMAND gives it longer to start" if starts else ""
                raise EngineFailed(f"no answer within {seconds:g} s{hint}")
            if starts and passed >= shown:
                _LOGGER.warning("waiting for %s to start, %.0f s", self._program, passed)
                shown += SHOWN


def _joined(data: bytes, part: bytes) -> bytes:
    """Return the output so far without empty lines before the answer; raise `EngineFailed` if it cannot be one."""
    if not part:
        raise EngineFailed("ended without an answer")
    data = (data + part.replace(b"\r", b"")).lstrip(b"\n")
    if data[:1] not in (b"", b"=", b"?"):
        raise EngineFailed(f"expected an answer, got {_quoted(data.decode('ascii', 'replace'))}")
    if len(data) > LIMIT and b"\n\n" not in data:
        raise EngineFailed(f"expected an answer of at most {LIMIT:,} bytes, got more")
    return data


def _end(process: subprocess.Popen[bytes], answers: PipeReader | None) -> None:
    """Send a program `quit`, and kill it when it does not end within a second."""
    try:
        if process.stdin is not None:
            process.stdin.write(b"quit\n")
            process.stdin.close()
        process.wait(1.0)
    except (OSError, subprocess.TimeoutExpired):
        pass
    finally:
        _kill(process, answers)


def _kill(process: subprocess.Popen[bytes], answers: PipeReader | None) -> None:
    """Kill a program and all that it started."""
    processes.kill_group(process)
    process.wait()
    if answers is not None:
        answers.close()
    if process.stdin is not None:
        process.stdin.close()


def _quoted(text: str) -> str:
    return repr(" ".join(text.split())[:60])


class _EngineGame:
    """A game against a program."""

    def __init__(self, game: Game, engine: Engine | None) -> None:
        self.engine, self.state = engine, game.start()
        self.waiting: list[str] = []
        """Commands for moves not yet sent to the program."""
        self.own: int | None = None
        """The program's last move, until `observe` returns it."""


class GTPPlayer(Player):
    """A GTP program as a player, with one process per game."""

    at_once = 1

    def __init__(self, game: Game, command: str, *, seconds: float = SECONDS) -> None:
        """Find and start the program of a command line; raise `UserError` when that fails.

        seconds: time limit for an answer. A command line such as "start=300s:katago gtp" has another for the first.
        """
        if game.sgf_number is None or max(game.grid_shape) > len(GO_LETTERS):
            raise UserError(f"expected a game on the points of a Go board for a GTP program, got {game.spec}")
        refuse_set_up(game, "a GTP program")
        self._start, program = _start_of(command, seconds)
        self._words = find_program(program)
        super().__init__(f"gtp:{' '.join(command.split())[:60]}", game)
        self._seconds = seconds
        try:
            self._games = {0: _EngineGame(game, self._begin())}
        except EngineFailed as error:
            raise UserError(f"{self.name}: {error}") from None

    def new_game(self, slot: int, seed: int) -> None:
        """Clear the program's board, or restart a program that failed. The seed has no effect: GTP has none."""
        engine = self._games[slot].engine if slot in self._games else None
        try:
            if engine is None:
                engine = self._begin()
            engine.ask("clear_board")
        except EngineFailed as error:
            self._log(error)
            engine = None
        self._games[slot] = _EngineGame(self.game, engine)

    def observe(self, slot: int, action: int) -> None:
        played = self._games[slot]
        if played.own != action:
            played.waiting.append(f"play {_colour(played.state)} {self.vertex(action)}")
        played.own = None
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

    def vertex(self, action: int) -> str:
        """Return GTP's name of a move: column letters without I, rows counted from below."""
        rows, columns = self.game.grid_shape
        return "pass" if action == rows * columns else point_name(action, rows, columns, letters=GO_LETTERS)

    def action(self, vertex: str) -> int | None:
        """Return the move with this name, None when there is none."""
        rows, columns = self.game.grid_shape
        if vertex.lower() == "pass":
            return rows * columns if self.game.action_size > rows * columns else None
        match = re.fullmatch(r"([a-hj-z])([1-9][0-9]?)", vertex.lower())
        if match is None or GO_LETTERS.index(match[1]) >= columns or int(match[2]) > rows:
            return None
        return (rows - int(match[2])) * columns + GO_LETTERS.index(match[1])

    # ---- inside

    def _begin(self) -> Engine:
        """Start the program and set up the game."""
        engine = Engine(self._words, self._seconds, self._start)
        komi = self.game.komi if hasattr(self.game, "komi") else None
        engine.ask(f"boardsize {self.game.grid_shape[0]}")
        if komi is not None:
            engine.ask(f"komi {komi:g}")
        engine.ask("clear_board")
        return engine

    def _move(self, played: _EngineGame, state: GameState) -> int:
        """Return the program's move; RESIGN when it resigns, fails or its move is not legal."""
        if played.engine is None:
            return RESIGN
        try:
            while played.waiting:
                played.engine.ask(played.waiting[0])
                del played.waiting[0]
            answer = played.engine.ask(f"genmove {_colour(state)}")
        except EngineFailed as error:
            self._log(error)
            played.engine = None
            return RESIGN
        if answer.lower() == "resign":
            return RESIGN
        action = self.action(answer)
        if action is None or action not in state.allowedActions:
            self._log(f"illegal move {_quoted(answer)}")
            return RESIGN
        played.own = action
        return action

    def _log(self, what: object) -> None:
        _LOGGER.warning("%s loses its game by rule: %s", self.name, what)


def _colour(state: GameState) -> str:
    return "black" if state.playerTurn == 1 else "white"


def _start_of(command: str, usual: float) -> tuple[float, str]:
    """Return (time limit for the start, the command line after it)."""
    text = command.strip()
    if not text.startswith("start="):
        return usual, command
    if match := _START.fullmatch(text):
        return float(match["seconds"]), match["command"]
    raise UserError(f"expected a start of 1 to 99999 seconds, such as gtp:start=300s:COMMAND, got {text[:60]!r}")


def find_program(command: str) -> list[str]:
    """Return the words of a command line, the program with its folder; raise `UserError` when there is none."""
    text = command.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" and text[0] not in text[1:-1]:
        text = text[1:-1]  # the whole line was quoted, not single words
    try:
        words = split(SHORT.get(text, text))
    except ValueError as error:
        raise UserError(f"expected a command line after gtp:, got {command[:60]!r} ({error})") from None
    if not words:
        raise UserError("expected a command line after gtp:, such as gtp:gnugo")
    found = shutil.which(words[0]) or shutil.which(words[0], path=FOLDERS)
    if found is None:
        raise UserError(f"expected a program after gtp:, there is no {words[0][:60]!r}")
    return [found, *words[1:]]
