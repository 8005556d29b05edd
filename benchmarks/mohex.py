"""MoHex as a GTP program that resigns: where it says that its opponent has won, it may fail at a later move.

    python main.py match shipped 'gtp:"python benchmarks/mohex.py MOHEX 1"' --game "hex(size=9)" --games 40

MOHEX: the program built from https://github.com/cgao3/benzene-vanilla-cmake; then the seconds of processor time that it
may take for a move. One thread, no book, no thinking in its opponent's time.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable
from typing import IO, Any

LOST = "Opponent has won"
"""What it writes to its log once it has proven that."""
LATE = 0.05
"""Seconds in which its log arrives after its answer."""


class MoHex:
    """The program, its settings, and what it has said since the last command."""

    def __init__(self, path: str, seconds: str) -> None:
        folder = tempfile.mkdtemp()  # it writes a log
        pipe = subprocess.PIPE
        self.process: Any = subprocess.Popen([path], stdin=pipe, stdout=pipe, stderr=pipe, text=True, cwd=folder)
        self.lost = threading.Event()
        threading.Thread(target=self._listen, args=(self.process.stderr,), daemon=True).start()
        for setting, value in (("max_time", seconds), ("use_time_management", "0"), ("num_threads", "1")):
            self.answer(f"param_mohex {setting} {value}")

    def _listen(self, log: Iterable[str]) -> None:
        for line in log:
            if LOST in line:
                self.lost.set()

    def answer(self, command: str) -> list[str]:
        """Return the lines of its answer, none if it has ended."""
        try:
            self.process.stdin.write(f"{command}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return []
        lines: list[str] = []
        for line in self.process.stdout:
            if line.strip():
                lines.append(line.rstrip("\n"))
            elif lines:
                return lines
        return []


def main(path: str, seconds: str, commands: IO[str] = sys.stdin) -> None:
    """Answer commands of GTP until there are no more."""
    mohex = MoHex(path, seconds)
    for command in filter(None, map(str.strip, commands)):
        words = command.split()
        number = words.pop(0) if words[0].isdigit() else ""
        if words[:1] == ["clear_board"]:
            mohex.lost.clear()
        lines = mohex.answer(command)
        if words[:1] == ["genmove"] and mohex.lost.wait(LATE):
            lines = [f"={number} resign"]
        if not lines:
            sys.exit(1)
        print("\n".join(lines), end="\n\n", flush=True)
        if words[:1] == ["quit"]:
            break


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
