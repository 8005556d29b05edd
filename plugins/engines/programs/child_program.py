"""A program that answers lines, in a process of its own. It is not trusted.

It is started without a shell, in its own process group. What it is sent has to be read, and answered, within a time
limit; an answer has a size limit. A program that hangs, floods, does not read, dies or answers nonsense is killed with
all that it started, and `EngineFailed` is raised.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
import time
import weakref
from collections.abc import Callable, Mapping, Sequence

from config import UserError
from system import processes
from system.pipes import PipeReader, PipeWriter
from system.shell import split

SHOWN = 10.0
"""Seconds between two messages about a program that has not started yet."""
LAST_WORDS = 1.0
"""Seconds in which what a program wrote before its end arrives here."""
LIMIT = 1 << 16
"""Size limit for one answer, in bytes."""
FOLDERS = os.pathsep.join(("/usr/games", "/usr/local/games"))
"""Folders searched for programs that are not on the path."""
_OPTION = re.compile(r"(?P<name>start|turn)=(?P<seconds>[0-9]{1,5}(\.[0-9]{1,3})?)s:(?P<rest>.*)", re.DOTALL)


class EngineFailed(Exception):
    """The program violated the protocol."""


class ChildProgram:
    """One process that answers what it is sent."""

    def __init__(self, words: Sequence[str], *, seconds: float, start: float, goodbye: bytes, logger: logging.Logger):
        """Start the process; raise `EngineFailed` when that fails.

        seconds: time limit for an answer. start: that for its first one. goodbye: what asks it to end.
        """
        self.program, self._seconds, self._start, self._logger = os.path.basename(words[0]), seconds, start, logger
        mark, environment = processes.marked()
        try:
            process = subprocess.Popen(
                list(words), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                bufsize=0, env=environment, **processes.own_group(),
            )  # fmt: skip
        except (OSError, ValueError) as error:
            raise EngineFailed(f"cannot be started ({error})") from None
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("expected pipes")
        self._process, self._answers, self._input = process, PipeReader(process.stdout), PipeWriter(process.stdin)
        self._parts = process, mark, self._answers, self._input
        self._end = weakref.finalize(self, _end, *self._parts, goodbye)
        self._asked = False
        """Whether an answer was waited for."""
        self._sent = 0.0
        """When the last lines were sent, by monotonic()."""

    def send(self, *lines: str, seconds: float | None = None) -> None:
        """Send lines; raise `OSError` or `EngineFailed` when they cannot be sent within the limit for their answer."""
        seconds, self._sent = self._limit(seconds), time.monotonic()
        try:
            self._input.write("".join(f"{line}\n" for line in lines).encode("ascii"), seconds)
        except BrokenPipeError:
            raise EngineFailed("ended without an answer") from None
        except TimeoutError:
            raise EngineFailed(f"does not read what it is sent, within {seconds:g} s") from None

    def _limit(self, seconds: float | None) -> float:
        return self._start if not self._asked else self._seconds if seconds is None else seconds

    def kill(self) -> None:
        """Kill the program and all that it started."""
        self._end.detach()
        _kill(*self._parts)

    def read(
        self, joined: Callable[[bytes, bytes], bytes], whole: Callable[[bytes], str | None], hint: str,
        seconds: float | None = None,
    ) -> str:  # fmt: skip
        """Return the next answer; raise `EngineFailed` if there is none within `seconds`, by default the usual limit.

        The seconds count from when the last lines were sent.

        joined: (output so far, what came) -> the output, or raises what is wrong with it. whole: the answer in the
        output, None while it is not complete. hint: how to give a program longer to start.
        """
        data, began, shown = b"", self._sent, SHOWN
        seconds, starts, self._asked = self._limit(seconds), not self._asked, True
        while True:
            ended = self._process.poll() is not None  # its children may hold its output open
            left = seconds - (time.monotonic() - began)
            part = self._answers.read(LAST_WORDS if ended else min(0.2, left))
            if part is not None:
                data = joined(data, part)
                if (answer := whole(data)) is not None:
                    return answer
            elif ended:
                raise EngineFailed("ended without an answer")
            passed = time.monotonic() - began  # also while it floods, which leaves the pipe never empty
            if passed >= seconds:
                raise EngineFailed(f"no answer within {seconds:g} s{f'; {hint}' if starts else ''}")
            if starts and passed >= shown:
                self._logger.warning("waiting for %s to start, %.0f s", self.program, passed)
                shown += SHOWN


def _end(
    process: subprocess.Popen[bytes], mark: str, answers: PipeReader, sent: PipeWriter, goodbye: bytes
) -> None:
    """Ask a program to end, and kill it when it does not within a second."""
    try:
        sent.write(goodbye, 1.0)
        sent.close()
        process.wait(1.0)
    except (OSError, subprocess.TimeoutExpired):
        pass
    finally:
        _kill(process, mark, answers, sent)


def _kill(process: subprocess.Popen[bytes], mark: str, answers: PipeReader, sent: PipeWriter) -> None:
    processes.kill_group(process, mark)
    process.wait()
    answers.close()
    sent.close()


def quoted(text: str) -> str:
    """Return a program's words as they are shown: in one line, the beginning only."""
    return repr(" ".join(text.split())[:60])


def options_of(command: str, protocol: str) -> tuple[dict[str, float], str]:
    """Return ({start: seconds, turn: seconds}, the command line after them) of a command line with options before it.

    >>> options_of("start=300s:turn=0.5s:engine --gtp", "gtp")
    ({'start': 300.0, 'turn': 0.5}, 'engine --gtp')
    """
    found: dict[str, float] = {}
    text = command.strip()
    while text.startswith(("start=", "turn=")):
        match = _OPTION.fullmatch(text)
        if match is None or not float(match["seconds"]) or match["name"] in found:
            name = text.partition("=")[0]
            wanted = "1 to 99999 seconds" if name == "start" else "seconds"
            raise UserError(f"expected a {name} of {wanted}, such as {protocol}:{name}=300s:COMMAND, got {text[:60]!r}")
        found[match["name"]] = float(match["seconds"])
        text = match["rest"]
    return found, text


def find_program(command: str, protocol: str, short: Mapping[str, str]) -> list[str]:
    """Return the words of a command line, the program with its folder; raise `UserError` when there is none.

    short: {command line: that which it stands for}.
    """
    text = command.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" and text[0] not in text[1:-1]:
        text = text[1:-1]  # the whole line was quoted, not single words
    try:
        words = split(short.get(text, text))
    except ValueError as error:
        raise UserError(f"expected a command line after {protocol}:, got {command[:60]!r} ({error})") from None
    if not words:
        raise UserError(f"expected a command line after {protocol}:, such as {protocol}:{next(iter(short), 'PROGRAM')}")
    found = shutil.which(words[0]) or shutil.which(words[0], path=FOLDERS)
    if found is None:
        raise UserError(f"expected a program after {protocol}:, there is no {words[0][:60]!r}")
    return [found, *words[1:]]
