"""The Gomocup protocol, by which Piskvork and tournaments talk to a program that plays gomoku (a "brain").

A line is a command; a move is `x,y`, from 0. BOARD and SWAP2BOARD are followed by lines up to DONE. What cannot be done
is answered by ERROR, what is not known by UNKNOWN; INFO has no answer. Commands that begin with YX are those of Kai
Sun's "Yixin Protocol". Reference: P. Lastovicka, "Gomoku AI protocol".
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO

from config import VERSION, UserError
from plugins.engines.command_lines import TOO_LONG, CommandLines
from plugins.engines.loading import Loading

if TYPE_CHECKING:
    from plugins.engines.gomocup_session import Session

LONGEST = 10_000
"""Largest length of a line in bytes."""
MOST_STONES = 1000
"""Lines of a BOARD that are kept; more are not on any board."""
ABOUT = f'name="alphazero-keras", version="{VERSION}"'
_LOGGER = logging.getLogger("alphazero.engines")
LISTS = ("BOARD", "SWAP2BOARD", "YXBOARD")
PLAIN = ("START", "RECTSTART", "RESTART", "BEGIN", "TURN", "PLAY", "TAKEBACK", "YXSHOWFORBID", "YXHASHCLEAR")
STOP = "YXSTOP"
"""Yixin's command that ends a search with its best move."""


class Server:
    """A conversation with one manager."""

    def __init__(self, source: BinaryIO, target: BinaryIO, load: Callable[[Server], Session]) -> None:
        self._ended = threading.Event()
        self._came = self._taken = self._stopped = 0
        """Numbers of lines: those that came, those that were taken, and those before the last YXSTOP."""
        self.lines = CommandLines(source, LONGEST, self._heed)
        self._target, self._load = target, load
        self._list: tuple[str, list[str]] | None = None
        """The command whose lines are being read, and these."""

    def serve(self) -> None:
        """Answer commands until END or the end of the input; raise `UserError` when the player cannot be loaded."""
        loading = Loading(lambda: self._load(self))
        try:
            while (line := loading.wait_for(self.lines)) is not None:
                self._taken += 1
                if not self.answer(line, loading):
                    return
        finally:
            loading.end()

    def stopped(self) -> bool:
        """Return whether a search is to end at once."""
        return self._ended.is_set() or self._taken <= self._stopped

    def say(self, text: str) -> None:
        """Write a line to the manager at once."""
        self._target.write(text.encode("utf-8", "replace") + b"\r\n")
        self._target.flush()

    def _heed(self, line: str) -> bool:
        word = line.strip().upper()
        if word == STOP:
            self._stopped = self._came
            return True
        if word == "END":
            self._ended.set()
        self._came += 1
        return False

    def answer(self, line: str, loading: Loading[Session]) -> bool:
        """Do what a line says and answer it; return whether there may be others."""
        text = "".join(c for c in line if c.isprintable() or c == "\t").strip()
        if text.upper() == "END":
            return False
        try:
            if text.startswith(TOO_LONG):
                raise UserError(f"expected a line of at most {LONGEST} bytes")
            answer = self._do(text, loading) if text else ""
        except UserError as error:
            answer = f"ERROR {(str(error).splitlines() or [''])[0][:300]}"
        except Exception as error:  # a fault of ours: the conversation goes on
            _LOGGER.warning("%s: %s: %s", text[:40], type(error).__name__, error)
            answer = f"ERROR internal error: {type(error).__name__}"
        if answer:
            self.say(answer)
        return True

    def _do(self, text: str, loading: Loading[Session]) -> str:
        """Do what a line says and return the answer, "" for none."""
        if self._list is not None:
            name, given = self._list
            if text.upper() != "DONE":
                given += [text] if len(given) < MOST_STONES else []
                return ""
            self._list = None
            return loading.result().take_list(name, given)
        name, _, words = text.partition(" ")
        name = name.upper()
        if name in LISTS:
            self._list = name, []
            return ""
        if name == "ABOUT":
            return ABOUT
        if name == "INFO":
            loading.result().info(words.strip())
            return ""
        if name not in PLAIN:
            return f"UNKNOWN command {re.sub('[^A-Za-z0-9_]', '?', name)[:40]}"
        return loading.result().run(name, words.strip())
