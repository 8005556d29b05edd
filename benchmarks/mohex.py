"""MoHex as a GTP program that resigns: where it has proven that it is lost it fails, at once or some moves later.

    python main.py match shipped 'gtp:"python benchmarks/mohex.py MOHEX 1"' --game "hex(size=9)" --games 40

MOHEX: the program built from https://github.com/cgao3/benzene-vanilla-cmake; then the seconds of processor time that it
may take for a move. One thread, no book, no thinking in its opponent's time.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
from typing import IO, Any

LOST = "Opponent has won"
"""What it writes to its log once it has proven that."""
LATE = 0.05
"""Seconds in which its log arrives after its answer."""


class MoHex:
    """The program, started again after it has failed in a lost position."""

    def __init__(self, path: str, seconds: str) -> None:
        self._path, self._folder = path, tempfile.mkdtemp()  # where it writes a log
        settings = ("max_time", seconds), ("use_time_management", "0"), ("num_threads", "1")
        self._begin = [f"param_mohex {name} {value}" for name, value in settings]
        self._size = ""
        """The last command that set the size of the board."""
        self._start()

    def _start(self) -> None:
        pipe = subprocess.PIPE
        self._process: Any = subprocess.Popen(
            [self._path], stdin=pipe, stdout=pipe, stderr=pipe, text=True, cwd=self._folder
        )
        self._lost = threading.Event()
        self._listener = threading.Thread(target=self._listen, args=(self._process, self._lost), daemon=True)
        self._listener.start()
        for command in [*self._begin, *filter(None, [self._size])]:
            self._answer(command)

    @staticmethod
    def _listen(process: Any, lost: threading.Event) -> None:
        for line in process.stderr:
            if LOST in line:
                lost.set()

    def _answer(self, command: str) -> list[str]:
        """Return the lines of its answer, none if it has ended."""
        try:
            self._process.stdin.write(f"{command}\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return []
        lines: list[str] = []
        for line in self._process.stdout:
            if line.strip():
                lines.append(line.rstrip("\n"))
            elif lines:
                return lines
        return []

    def answer(self, command: str) -> list[str]:
        """Return what a GTP program says, none if it has failed where it has not lost."""
        words = command.split()
        number = words.pop(0) if words[0].isdigit() else ""
        name = words[0] if words else ""
        if name == "boardsize":
            self._size = " ".join(words)
        if name == "clear_board" and (self._process.poll() is not None or self._lost.is_set()):
            self._process.kill()
            self._start()
        lines = self._answer(command)
        if not lines:
            self._listener.join()
        if name == "genmove" and self._lost.wait(LATE):
            return [f"={number} resign"]
        return lines


def main(path: str, seconds: str, commands: IO[str] = sys.stdin) -> None:
    """Answer commands of GTP until there are no more."""
    mohex = MoHex(path, seconds)
    for command in filter(None, map(str.strip, commands)):
        lines = mohex.answer(command)
        if not lines:
            sys.exit(1)
        print("\n".join(lines), end="\n\n", flush=True)
        if command.split()[-1] == "quit":
            break


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
