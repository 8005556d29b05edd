"""Workers as processes of this machine: spawned, each with one pipe; the end of the pipe ends the worker.

Nothing is shared, so a worker killed at any moment leaves no lock behind. It receives messages and plays games from the
first move to the last; it writes nothing into the run.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, Protocol

from config import UserError
from search.evaluation_cache import NotFinite
from storage.game_record import GameRecord
from system import processes
from system.collector import alone_here
from training.selfplay import Counts, game_seed
from training.worker_messages import LARGEST, game_message, pack, unpack
from training.worker_pool import PATIENCE, Receive

BEAT = 0.5
"""Seconds from one sign of life of a playing worker to the next."""


class TaskPlayer(Protocol):
    """The player inside a worker, made there by a factory: (settings) -> Player."""

    def on_board(self, board: str) -> None:
        """Play the game with this name from now on, one of the run's sizes."""
        ...

    def load(self, weights: str | bytes, sha256: str, iteration: int) -> None:
        """Play with the network in this file, or with this content, and with the settings of this iteration (from 1).
        """
        ...

    def play(
        self, todo: deque[tuple[int, int]], stop: Callable[[], bool], together: Callable[[], bool]
    ) -> Iterator[GameRecord]:
        """Play games (index, seed) taken from the left of `todo` until it is empty.

        Call `stop` again and again: true ends the work at once, and a call may add games or remove all. `together`: as
        in `SelfPlay.play`.
        """
        ...

    def counts(self) -> Counts: ...


Factory = Callable[[dict[str, Any]], TaskPlayer]


class Pipe(Protocol):
    """What a worker needs of its end of a `Connection`; `recv_bytes` raises `EOFError` when the driver has ended."""

    def send_bytes(self, data: bytes, /) -> None: ...

    def recv_bytes(self) -> bytes: ...


class ProcessHandle:
    """A worker process. factory: a function of a module, so that the new process can import it."""

    waits = lost = False

    def __init__(self, place: int, report: Receive, factory: Factory, settings: dict[str, Any]) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs, factory, settings), daemon=True)
        with processes.interrupts_held_back():
            self._process.start()
        theirs.close()
        self.name = f"worker {place + 1} (process {self._process.pid})"
        threading.Thread(target=self._read, args=(report,), daemon=True).start()

    @property
    def pid(self) -> int:
        return self._process.pid or 0

    def _read(self, report: Receive) -> None:
        """Pass on the worker's messages; in a thread, because half a message of a frozen worker blocks."""
        try:
            while True:
                report(self, self._pipe.recv_bytes(LARGEST))
        except (EOFError, ConnectionError):
            pass
        except OSError:  # a message longer than LARGEST: whoever hears of it leaves the worker, as of any that is none
            report(self, b"")
        self._process.join()
        report(self, None)

    def send(self, message: dict[str, Any]) -> None:
        with suppress(OSError):
            self._pipe.send_bytes(pack(message))

    def kill(self) -> None:
        self._process.kill()

    def leave(self, why: str) -> None:
        self.kill()

    def cause(self) -> str:
        code = self._process.exitcode or 0
        return f"was ended by signal {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"


def serve(pipe: Connection, factory: Factory, settings: dict[str, Any]) -> None:
    """Run a worker in a process of its own until the pipe ends or something fails."""
    processes.ignore_interrupts()
    alone_here()
    run_worker(pipe, factory, settings)
    pipe.close()
    os._exit(1)


def run_worker(pipe: Pipe, factory: Factory, settings: dict[str, Any], beat: float = BEAT) -> None:
    """Run a worker until something fails, which is its last message. beat: seconds between two signs of life."""
    worker = _Worker(pipe, beat)
    try:
        worker.work(factory(settings))
    except BaseException as error:
        line = f"{type(error).__name__}: {error}"[:300] if not isinstance(error, UserError) else str(error)[:2000]
        code = error.exit_code if isinstance(error, UserError) else 0
        trace = traceback.format_exc()[-8000:]
        kind = "not_finite" if isinstance(error, NotFinite) else ""
        worker.say({"kind": "failed", "text": line, "trace": trace, "exit_code": code, "cause": kind})


class _Worker:
    """The worker's side: one thread receives messages, the others play."""

    def __init__(self, pipe: Pipe, beat: float = BEAT) -> None:
        self._pipe, self._beat_seconds = pipe, beat
        self._messages: deque[dict[str, Any]] = deque()
        self._todo: deque[tuple[int, int]] = deque()
        self._arrived, self._lock = threading.Event(), threading.Lock()
        self._spec: dict[str, Any] = {}
        self._beaten = 0.0
        self._until: float | None = None
        self._last = False
        """Whether no other games follow in this round."""
        threading.Thread(target=self._receive, daemon=True).start()

    def _receive(self) -> None:
        """Receive messages; end the process when the driver has ended."""
        try:
            while True:
                head, body = unpack(self._pipe.recv_bytes())
                self._messages.append({**head, "content": body})
                self._arrived.set()
        except (EOFError, OSError):
            os._exit(0)

    def say(self, head: dict[str, Any]) -> None:
        self._send(pack(head))

    def _send(self, message: bytes) -> None:
        with self._lock, suppress(OSError):
            self._pipe.send_bytes(message)

    def work(self, player: TaskPlayer) -> None:
        """Handle the messages, one after the other."""
        self.say({"kind": "ready", "counts": player.counts()})
        while True:
            self._arrived.wait()
            self._arrived.clear()
            while self._messages:
                self._follow(player)

    def _follow(self, player: TaskPlayer) -> None:
        kind = self._messages[0]["kind"]
        if kind == "games":
            self._take()
            for record in player.play(self._todo, lambda: self._beat(player), self._together):
                self._send(game_message(record, player.counts()))
            return
        spec, self._until, self._last = self._messages.popleft(), None, False
        self._todo.clear()
        if kind == "stop":
            self.say({"kind": "stopped", "round": spec["round"], "counts": player.counts()})
        else:
            self._spec = spec
            if spec.get("board"):
                player.on_board(spec["board"])
            player.load(spec.pop("content", b"") or spec["weights"], spec["sha256"], spec["iteration"])

    def _take(self) -> None:
        """Add the games of the messages at hand to those to play."""
        while self._messages and self._messages[0]["kind"] == "games":
            run, iteration = self._spec["run"], self._spec["iteration"]
            message = self._messages.popleft()
            self._last = message.get("last", False)
            self._todo.extend((i, game_seed(run, iteration, i)) for i in message["games"])

    def _together(self) -> bool:
        """Return whether the games in flight are the round's last ones and nobody waits for the first of them."""
        return self._last and self._until is None

    def _beat(self, player: TaskPlayer) -> bool:
        """Take further games and give a sign of life; return whether to stop. Called between two batches.

        Once a stop is requested no other game is begun; games in flight are given some time to end.
        """
        with self._lock:
            self._take()
            now = time.monotonic()
            if now - self._beaten > self._beat_seconds:
                self._beaten = now
                with suppress(OSError):
                    self._pipe.send_bytes(pack({"kind": "alive", "counts": player.counts()}))
            if not self._messages or self._messages[0]["kind"] == "games":  # such messages may have come this moment
                return False
            self._todo.clear()
            if self._until is None:
                self._until = now + PATIENCE
            return now >= self._until
