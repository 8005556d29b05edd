"""Code of games that the server plays, compiled by processes of their own: compiling in this process would take turns
with every search and every answer."""

from __future__ import annotations

import json
import subprocess
import threading
import time

from languages.translate import tr
from system import processes
from system.place import START

COMMAND = [*START, "prepare", "--json"]
MOST = 2
"""Processes at once; further games are compiled where they are played."""


class Preparation:
    """A process that compiles a game's code."""

    def __init__(self, spec: str) -> None:
        self.told: dict[str, float] = {}
        """Its last line: functions compiled, about how many there are, seconds."""
        self.done, self._began = threading.Event(), time.monotonic()
        self.process = subprocess.Popen(
            [*COMMAND, "--game", spec], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            **processes.own_group(),
        )  # fmt: skip
        threading.Thread(target=self._read, name=f"prepare {spec}", daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None  # noqa: S101
        for line in self.process.stdout:
            if line.startswith(b"{"):
                self.told |= json.loads(line)  # the last one says only that it is ready
        self.process.wait()
        self.done.set()

    def __str__(self) -> str:
        seconds = int(time.monotonic() - self._began)
        if not (told := self.told).get("compiled"):
            return tr("Preparing this game, once: {seconds} s", seconds=seconds)
        return tr("compiling the search, once: {done} of about {expected} functions, {seconds} s",
                  done=told["compiled"], expected=told["expected"], seconds=seconds)  # fmt: skip


class Preparations:
    """The games that processes compile for the pages, one process for each game."""

    def __init__(self, named: str) -> None:
        """named: the game of the command line; no other file of rules is run."""
        self._named, self._of, self._lock = named, dict[str, Preparation](), threading.Lock()

    def begin(self, spec: str) -> Preparation | None:
        """Begin to compile a game's code, unless it is kept already; return what does, None if nothing is to be done.

        A process that fails is not tried again: the game then says itself what is wrong with it.
        """
        from compiling.prepared import is_prepared

        with self._lock:
            if spec not in self._of:
                busy = sum(not each.done.is_set() for each in self._of.values())
                if busy >= MOST or is_prepared(spec) or (".py" in spec and spec != self._named):
                    return None
                self._of[spec] = Preparation(spec)
            found = self._of[spec]
            return None if found.done.is_set() else found

    def close(self) -> None:
        """End all processes."""
        with self._lock:
            for each in self._of.values():
                if each.process.poll() is None:
                    processes.kill_group(each.process)

