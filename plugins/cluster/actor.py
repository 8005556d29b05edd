"""The worker's side of a cluster: an actor, which Ray makes on another machine.

Imports Python's own library alone until the driver has compared the programs: so far it may be another one.
"""

from __future__ import annotations

import json
import threading
import time
from queue import Empty, SimpleQueue
from typing import Any

BEAT = 2.0
"""Seconds from one sign of life of a playing actor to the next."""
GATHER = 0.2
"""Seconds for which messages are put together, once one has come."""
PATIENCE = 10.0
"""Seconds after which a call that waits for messages returns without any."""


class Mailbox:
    """The actor's end of what would be a pipe: the driver's calls put messages in and take messages out."""

    def __init__(self) -> None:
        self._in: SimpleQueue[bytes] = SimpleQueue()
        self._out: SimpleQueue[bytes] = SimpleQueue()
        self.closed = False
        """Whether all that will ever be sent has been."""

    def recv_bytes(self) -> bytes:
        return self._in.get()

    def send_bytes(self, data: bytes, /) -> None:
        self._out.put(data)

    def put(self, data: bytes) -> None:
        """Put in a message of the driver."""
        self._in.put(data)

    def take(self, patience: float = PATIENCE) -> list[bytes]:
        """Return the messages to the driver that are there, or wait for one."""
        try:
            found = [self._out.get(timeout=patience)]
        except Empty:
            return []
        time.sleep(GATHER)
        while True:
            try:
                found.append(self._out.get_nowait())
            except Empty:
                return found


class GameActor:
    """Plays games for a driver that calls `hello`, then `begin`, then `tell` and `listen` side by side."""

    def __init__(self) -> None:
        self._mail = Mailbox()

    def hello(self) -> str:
        """Return what this machine says of itself, as JSON (plugins/cluster/facts.py)."""
        from plugins.cluster.facts import facts

        return json.dumps(facts())

    def begin(self, settings: bytes) -> None:
        """Start the worker; see `cluster_player.make_cluster_player`."""
        threading.Thread(target=self._work, args=(settings,), daemon=True).start()

    def _work(self, settings: bytes) -> None:
        from training.worker_process import run_worker

        run_worker(self._mail, self._player, {"settings": settings}, BEAT)
        self._mail.closed = True

    def _player(self, settings: dict[str, Any]) -> Any:
        from plugins.cluster.player import make_cluster_player

        return make_cluster_player(settings)

    def tell(self, messages: list[bytes], content: bytes) -> None:
        """Take messages; `content` belongs to the first of them, without its own."""
        for number, message in enumerate(messages):
            self._mail.put(message if number else message + content)

    def listen(self) -> bytes:
        """Return messages, after a line of JSON: their sizes, and whether they are the last ones."""
        closed = self._mail.closed
        found = self._mail.take(0.0 if closed else PATIENCE)
        head = {"sizes": [len(data) for data in found], "closed": closed}
        return json.dumps(head).encode() + b"\n" + b"".join(found)
