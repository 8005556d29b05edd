"""The Go Text Protocol, version 2: reads commands, answers each. What they do is in gtp_commands.py and its neighbours.

Commands that say who we are are answered at once, while the player is still being loaded. An answer is `=` or `?`, the
command's number if it had one, and text up to an empty line. Reference: G. Farnebaeck, draft 2 of version 2.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from config import VERSION, UserError
from plugins.engines.command_lines import TOO_LONG, CommandLines, Failure
from plugins.engines.loading import Loading

if TYPE_CHECKING:
    from plugins.engines.gtp_session import Session

_LOGGER = logging.getLogger("alphazero.engines")
NAME = "alphazero-keras"
INTERRUPT = re.compile(r"\s*#\s*interrupt\s*\Z")
"""A comment by which GoGui ends a search early."""
LONGEST = 10_000
"""Largest length of a line in bytes."""
EVERY = ("boardsize", "clear_board", "genmove", "genmove_analyze", "gogui-interrupt", "kata-analyze",
         "kata-genmove_analyze", "kgs-time_settings", "known_command", "list_commands", "lz-analyze",
         "lz-genmove_analyze", "name", "play", "protocol_version", "quit", "reg_genmove", "showboard", "stop",
         "time_left", "time_settings", "undo", "version")  # fmt: skip
GO = (
    "final_score",
    "final_status_list",
    "fixed_handicap",
    "get_komi",
    "kata-get-rules",
    "kata-raw-nn",
    "kata-set-rules",
    "komi",
    "loadsgf",
    "place_free_handicap",
    "printsgf",
    "set_free_handicap",
)
OTHERS = ("gogui-rules_board", "gogui-rules_board_size", "gogui-rules_final_result", "gogui-rules_game_id",
          "gogui-rules_legal_moves", "gogui-rules_side_to_move")  # fmt: skip
HEX = ("hexgui-analyze_commands",)
"""Of HexGui, which draws the board by itself: GoGui's rules have Go's names of points."""


class Command(NamedTuple):
    """A line of the protocol."""

    number: str
    name: str
    words: list[str]


def commands_of(game: str) -> list[str]:
    """Return the names of the commands for a game, by the text that names it."""
    name = game.split("(")[0].strip().lower()
    return sorted(EVERY + (GO if name in ("go", "littlego") else HEX if name == "hex" else OTHERS))


def parse(line: str) -> Command | None:
    """Return the command in a line, None if there is none: it is empty or a comment.

    >>> parse("7 play  B\\tD4 # first")
    Command(number='7', name='play', words=['B', 'D4'])
    """
    text = "".join(c for c in line.replace("\t", " ") if c >= " " and c != "\x7f").split("#")[0]
    words = text.split()
    if not words:
        return None
    number = words.pop(0) if re.fullmatch("[0-9]{1,18}", words[0]) else ""
    return Command(number, words[0] if words else "", words[1:])


class Server:
    """A conversation with one program."""

    def __init__(self, source: BinaryIO, target: BinaryIO, game: str, load: Callable[[Server], Session], version: str):
        """Begin to read and to load the player. version: what the command of this name answers."""
        self._came = self._taken = self._interrupted = 0
        """Numbers of lines: those that came, those that were taken, and those before the last interrupt."""
        self.lines = CommandLines(source, LONGEST, self._heed)
        self._target, self._game, self._version = target, game, version or VERSION
        self._load = load
        self._number, self.streaming = "", False

    def serve(self) -> None:
        """Answer commands until `quit` or the end of the input; raise `UserError` when the player cannot be loaded."""
        loading = Loading(lambda: self._load(self))
        try:
            while (line := self._next(loading)) is not None:
                if not self.answer(line, loading):
                    return
        finally:
            loading.end()

    def _next(self, loading: Loading[Session]) -> str | None:
        if loading.done:
            loading.result().ponder()
        line = loading.wait_for(self.lines)
        self._taken += 1
        return line

    # ---- answers

    def waiting(self) -> bool:
        return self.lines.waiting

    def interrupted(self) -> bool:
        return self._taken <= self._interrupted

    def say(self, text: str) -> None:
        """Write to the other program at once."""
        self._target.write(text.encode("utf-8", "replace"))
        self._target.flush()

    def stream(self) -> None:
        """Begin an answer of which more lines follow, before the command is done."""
        if not self.streaming:
            self.streaming = True
            self.say(f"={self._number}\n")

    def answer(self, line: str, loading: Loading[Session]) -> bool:
        """Do what a line says and answer it; return whether there may be others."""
        command = parse(line)
        if command is None:
            return True
        self._number, self.streaming = command.number, False
        began = time.monotonic()
        try:
            if line.startswith(TOO_LONG):
                raise Failure(f"expected a line of at most {LONGEST} bytes")
            text = self._known(command)
            if text is None:
                session = loading.result()
                from plugins.engines.gtp_commands import run  # slow to load, as the player is

                text = run(session, command.name, command.words, began)
        except (Failure, UserError) as error:
            self._end(f"? {_one_line(error)}")
            return True
        except Exception as error:  # a fault of ours: the conversation goes on
            _LOGGER.warning("%s: %s: %s", command.name, type(error).__name__, error)
            self._end(f"? internal error: {type(error).__name__}")
            return True
        self._end(f"= {text}" if text else "=")
        return command.name != "quit"

    def _end(self, text: str) -> None:
        """Write an answer, or the last lines of one that was begun; no line of it is empty."""
        mark, _, rest = text.partition(" ")
        rest = "\n".join(line.rstrip() for line in rest.splitlines() if line.strip())
        if self.streaming:
            self.say(f"{rest}\n\n" if rest else "\n")
            return
        self.say(f"{mark}{self._number}{' ' if rest else ''}{rest}\n\n")

    def _known(self, command: Command) -> str | None:
        """Return the answer to a command that needs no player, None for others."""
        name, words = command.name, command.words
        names = commands_of(self._game)
        if name not in names:
            raise Failure("unknown command")
        if name == "known_command":
            return "true" if words[:1] and words[0] in names else "false"
        return {
            "protocol_version": "2", "name": NAME, "version": self._version, "list_commands": "\n".join(names),
            "quit": "", "gogui-interrupt": "", "hexgui-analyze_commands": "",
        }.get(name)  # fmt: skip

    def _heed(self, line: str) -> bool:
        if INTERRUPT.match(line):
            self._interrupted = self._came
            return True
        self._came += 1
        return False


def _one_line(error: BaseException) -> str:
    return (str(error).splitlines() or ["cannot be done"])[0][:300]
