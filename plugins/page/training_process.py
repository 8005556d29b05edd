"""Training runs that the page started: each a process of its own, `python main.py train ...`, stopped as by `kill`."""

from __future__ import annotations

import signal
import subprocess
import tempfile
import time
from typing import IO

from config import UserError
from system import processes
from system.place import START

COMMAND = [*START, "train"]
PATIENCE = 4.0
"""Seconds that all runs together have to end their work when the page closes; what is finished is on disk in any
case."""


class Trainer:
    """The processes, and their output."""

    def __init__(self) -> None:
        self._at_work: dict[str, tuple[subprocess.Popen[bytes], IO[bytes]]] = {}
        """{game: (process, its output)}: one new or resumed run of a game at a time."""
        self._begun: dict[str, float] = {}
        """{game: `time.monotonic()` of its start}"""

    def start(self, spec: str, arguments: list[str]) -> None:
        """Start training a game; raise `UserError` when the page trains it already."""
        if self.running(spec):
            raise UserError(f"{spec} is being trained already: stop that first")
        said = tempfile.TemporaryFile()  # noqa: SIM115
        process = subprocess.Popen(
            [*COMMAND, "--json", "--game", spec, *arguments], stdin=subprocess.DEVNULL, stdout=said, stderr=said,
            **processes.own_group(),
        )  # fmt: skip
        self.forget(spec)
        self._at_work[spec], self._begun[spec] = (process, said), time.monotonic()

    def seconds(self, spec: str) -> float:
        """Return the seconds since the training of a game was started."""
        return time.monotonic() - self._begun.get(spec, time.monotonic())

    def running(self, spec: str) -> bool:
        """Return whether the page trains a game now."""
        return spec in self._at_work and self._at_work[spec][0].poll() is None

    def at_work(self) -> list[str]:
        """Return the games that the page trains now."""
        return [spec for spec in self._at_work if self.running(spec)]

    def process(self, spec: str) -> int | None:
        """Return the process that trains a game, None when the page started none or it has ended."""
        return self._at_work[spec][0].pid if self.running(spec) else None

    def stop(self, spec: str) -> None:
        """Request a run to end at its next commit; a second request ends it at once. Nothing finished is lost."""
        if self.running(spec):
            processes.interrupt(self._at_work[spec][0])

    def error(self, spec: str) -> str:
        """Return the last line of output of a process that ended with an error."""
        if spec not in self._at_work or self._at_work[spec][0].poll() in (None, 0, 130, -signal.SIGTERM):
            return ""
        file = self._at_work[spec][1]
        file.seek(0)
        said = file.read()[-20_000:].decode("utf-8", "replace").splitlines()
        lines = [line for line in said if line.strip() and not line.startswith("{")]  # the others are metrics
        code = self._at_work[spec][0].returncode
        if code < 0:
            why = ", as where there is too little memory" if code == processes.KILLED else ""
            return f"the training was ended by signal {-code}{why}; `Resume` continues it"
        return next((line for line in lines if line.startswith("error: ")), lines[-1] if lines else "it ended early")

    def forget(self, spec: str) -> None:
        """Drop a process that has ended."""
        if spec in self._at_work and not self.running(spec):
            self._at_work.pop(spec)[1].close()

    def stop_all(self) -> None:
        """Let all runs end cleanly, and kill those that do not."""
        for spec in self._at_work:
            self.stop(spec)
        end = time.monotonic() + PATIENCE
        for process, said in self._at_work.values():
            try:
                process.wait(max(end - time.monotonic(), 0.0))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            said.close()
        self._at_work.clear()
