"""A worker of a cluster: an actor on some machine, found again on another one where the program is not the same.

Its calls end in the cluster's thread. At most two are open: one brings messages, one fetches them. What they return is
dropped at once. Ray never restarts an actor: the pool plays lost games again, and the same.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from plugins.cluster.facts import read_facts
from training.worker_messages import LARGEST, pack, unpack
from training.worker_pool import Receive

if TYPE_CHECKING:
    from plugins.cluster.cluster import Cluster

ASK_AGAIN = 1.0
"""Seconds until an actor that cannot be reached is called again: Ray then knows what has become of it."""
MOST_HEARD = 4 * LARGEST
"""Most bytes that an actor may send at once."""
ASKED = 60
"""Times that this is done before the machine counts as lost."""


class ActorHandle:
    """An actor. settings: what `GameActor.begin` takes."""

    def __init__(self, cluster: Cluster, place: int, report: Receive, settings: bytes) -> None:
        self._cluster, self._place, self._report, self._settings = cluster, place, report, settings
        self._lock = threading.RLock()
        self._outgoing: list[dict[str, Any]] = []
        self.waits, self._lost, self._machine = True, False, ""
        self._telling, self._over, self._how, self._asked = True, False, "", 0
        self._actor: Any = None
        self._find_machine()

    def _find_machine(self) -> None:
        self.name = f"worker {self._place + 1}"
        self._actor = self._cluster.new_actor()
        self._call(self._actor.hello, self._greeted)

    # ---- the driver's side

    def send(self, message: dict[str, Any]) -> None:
        with self._lock:
            if message["kind"] == "round":
                self._outgoing.clear()  # what was left is of an earlier round
            self._outgoing.append(message)
        self._tell()

    def kill(self) -> None:
        self._end("was ended")

    def leave(self, why: str) -> None:
        self._cluster.leave(self._machine, why)
        self._lost = True  # its games are not to blame
        self.kill()

    def cause(self) -> str:
        return self._how

    @property
    def lost(self) -> bool:
        """Whether its machine is gone: Ray may say first that the process has ended, and of the machine later."""
        self._lost = self._lost or (self._over and not self._cluster.lives(self._machine))
        return self._lost

    # ---- calls and what they return

    def _call(self, method: Any, then: Callable[[Any], None], *arguments: Any) -> None:
        self._cluster.call(method, arguments, lambda future: self._answered(future, then))

    def _answered(self, future: Future[Any], then: Callable[[Any], None]) -> None:
        """Handle what a call returned; `then` takes its result."""
        error = future.exception()
        if self._over:
            return
        if error is None:
            try:
                then(future.result())
            except Exception as fault:  # the thread serves other actors as well
                self._end(f"{type(fault).__name__}: {fault}")
        elif self._cluster.unreachable(error) and self._asked < ASKED:
            if self._asked == 0 or then == self._alive:
                self._asked += 1
                self._ask_again()
        else:
            self._lost = self._cluster.lost_machine(error)
            self._end(_last_line(error))

    def _ask_again(self) -> None:
        """Call an actor that could not be reached once more, a little later."""
        actor = self._actor
        timer = threading.Timer(ASK_AGAIN, lambda: self._call(actor.hello, self._alive))
        timer.daemon = True
        timer.start()

    def _alive(self, facts: str) -> None:
        """End an actor that could not be reached for a moment: messages of it may be lost."""
        self._lost = True
        self._end("could not be reached for a moment")

    def _greeted(self, facts: str) -> None:
        try:
            other = read_facts(facts)
        except ValueError as error:
            other = None
            self._cluster.refuse(f"a machine says of itself what cannot be: {error}")
        if other is None or not self._cluster.accepts(other):
            self._cluster.park(self._actor)  # it keeps its place there, so that the next one is elsewhere
            self._find_machine()
            return
        self._machine = other["machine"]
        self.name = f"worker {self._place + 1} ({other['host']}, process {other['pid']})"
        self.waits = False
        self._call(self._actor.begin, self._begun, self._settings)

    def _begun(self, nothing: None) -> None:
        self._sent(nothing)
        self._listen()

    def _tell(self) -> None:
        """Bring the messages at hand, unless a call that brings some is open."""
        with self._lock:
            if self._telling or self._over or not self._outgoing:
                return
            messages, self._outgoing, self._telling = self._outgoing, [], True
        content: Any = b""
        if messages[0]["kind"] == "round":
            content = self._cluster.content
            if content is None:  # the round is over
                self._sent(None)
                return
        self._call(self._actor.tell, self._sent, [pack(m) for m in messages], content)

    def _sent(self, nothing: None) -> None:
        with self._lock:
            self._telling = False
        self._tell()

    def _listen(self) -> None:
        self._call(self._actor.listen, self._heard)

    def _heard(self, data: bytes) -> None:
        """Pass on the messages of a call of `GameActor.listen`; of anything else its words, which are none."""
        try:
            head, body = unpack(data) if len(data) <= MOST_HEARD else ({}, b"")
            sizes, closed = head["sizes"], head["closed"]
            right = all(type(size) is int and 0 <= size <= LARGEST for size in sizes) and sum(sizes) == len(body)
        except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
            right = False
        if not right:
            self._report(self, repr(data[:40] if isinstance(data, bytes) else type(data)).encode())  # no message
            return
        for begin, end in pairwise(accumulate(sizes, initial=0)):
            self._report(self, body[begin:end])
        if closed:
            self._end("ended")
        else:
            self._listen()

    def _end(self, how: str) -> None:
        """End the actor; whether Ray still reaches it makes no difference to the pool."""
        with self._lock:
            if self._over:
                return
            self._over, self._how, self.waits = True, how, False
            actor, self._actor = self._actor, None
        self._cluster.kill(actor)
        self._report(self, None)


def _last_line(error: BaseException) -> str:
    """Return what an error says in one line: Ray's errors hold the worker's own, or a page of advice."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return next((line for line in reversed(lines) if line), type(error).__name__)[:300]
