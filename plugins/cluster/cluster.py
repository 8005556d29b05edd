"""A cluster of machines that play games for this one, on Ray; the only module that loads it.

This process is the driver: it runs on the cluster's head, which needs no cores for games, and it alone has the run's
files. Each actor has `cores` processors and one set of games in flight. Actors that find no machine wait for one, which
is what Ray's autoscaler starts machines for; a machine that joins late gets actors as well.
"""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from typing import Any

from config import UserError
from plugins.cluster.actor import GameActor
from plugins.cluster.facts import facts, refusal
from system.place import requirements
from system.processes import ENDINGS

LOOK = 2.0
"""Seconds between two looks at the machines of the cluster."""
MOST_CORES = 8
"""Most cores of an actor by default: with more threads in a process the interpreter's lock begins to count."""
WAITED = 15.0
"""Seconds without a machine after which the user gets a line."""
ADDRESS = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]+(%\w+)?\]):(?P<port>[0-9]{1,5})", re.ASCII)
"""HOST:PORT; an address of IPv6 stands in brackets."""
PROBED = 30.0
"""Seconds within which the head has to refuse a caller without a token."""


class Cluster:
    """A connection to a cluster, one a process. address: of its head, HOST:PORT, or "auto" on the head itself."""

    def __init__(
        self, address: str, *, cores: int = 0, library: str, precision: str, say: Callable[[str], None],
        without_token: bool = False, actor: type = GameActor,
    ) -> None:  # fmt: skip
        """cores: processors of an actor, 0 = chosen by the machines; say: shows a line to the user.

        without_token: also take a cluster that asks for no token.
        """
        self._say, self._library, self._precision = say, library, precision
        self._ray = _connect(address, without_token)
        self._own = facts()
        self.classes = {self._own["processor"]}
        """The classes of the processors that have played for this driver, this machine's own included."""
        self.content: Any = None
        """The object that holds what a round needs, during the round: one for all actors."""
        self._parked: list[Any] = []
        self._said: set[str] = set()
        self._refused: list[str] = []
        self._accepted: set[str] = set()
        self._left: set[str] = set()
        """Names of machines, of those that may play and of those that sent what cannot be."""
        self._began = time.monotonic()
        self._looked, self._machines = 0.0, [0]
        self.cores = cores or best_cores(self._sizes())
        self._actor_class = self._ray.remote(concurrency_groups={"tell": 1, "listen": 1})(actor)
        self._answers: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    # ---- machines

    def _sizes(self) -> list[int]:
        """Return the cores of each machine that has any; asked for again after `LOOK` seconds."""
        if time.monotonic() - self._looked > LOOK:
            found = [int(n["Resources"].get("CPU", 0)) for n in self._ray.nodes() if n["Alive"]]
            self._machines, self._looked = [size for size in found if size], time.monotonic()
        return self._machines

    def slots(self) -> int:
        """Return how many actors the machines have room for; raise `UserError` when none of them can be used."""
        sizes = self._sizes()
        found = sum(size // self.cores for size in sizes)
        if small := [size for size in sizes if size < self.cores]:
            self._once(f"{len(small)} machines have fewer than {self.cores} cores and play no games (--cluster-cores)")
        if not self._accepted:
            if self._refused and len(self._parked) >= found:
                raise UserError(f"the cluster has no machine that can play: {self._refused[0]}")
            if time.monotonic() - self._began > WAITED:
                self._once(f"waiting for a machine of the cluster: so far there is room for {found} workers")
        return found

    def lives(self, machine: str) -> bool:
        """Return whether a machine is in the cluster now, by its name there; True for one without a name."""
        return not machine or any(n["NodeID"] == machine and n["Alive"] for n in self._ray.nodes())

    def accepts(self, other: dict[str, Any]) -> bool:
        """Return whether a machine that says this of itself can play, and tell the user when it cannot."""
        fault = refusal(self._own, other, self._library, self._precision)
        if other["machine"] in self._left:
            fault = f"{other['host']}: was left, and plays no more"
        if fault:
            self.refuse(fault)
            return False
        self._accepted.add(other["machine"])
        self.classes.add(other["processor"])
        return True

    def refuse(self, fault: str) -> None:
        """Tell the user why a machine cannot play."""
        self._refused.append(fault)
        self._once(fault)

    def leave(self, machine: str, why: str) -> None:
        """Use a machine no more: it sent what cannot be."""
        self._left.add(machine)
        self._accepted.discard(machine)
        self._refused.insert(0, why)
        self._once(f"{why}; its machine plays no more, as its memory or its program may be damaged")

    def _once(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self._say(text)

    # ---- actors

    def new_actor(self) -> Any:
        """Return a new actor; it begins where there is room, or waits."""
        return self._actor_class.options(
            num_cpus=self.cores, max_restarts=0, max_task_retries=0, scheduling_strategy="SPREAD",
            enable_task_events=False,
        ).remote()  # fmt: skip

    def park(self, actor: Any) -> None:
        """Keep an actor that must not play."""
        self._parked.append(actor)

    def kill(self, actor: Any) -> None:
        """End an actor at once."""
        with suppress(Exception):  # Ray has ended, or this process's connection
            self._ray.kill(actor)

    def call(self, method: Any, arguments: Sequence[Any], then: Callable[[Future[Any]], None]) -> None:
        """Call an actor; `then` is called in the cluster's thread with what it returned."""
        group = method._method_name if method._method_name in ("tell", "listen") else None
        options = {"concurrency_group": group} if group else {}
        future = method.options(**options).remote(*arguments).future()
        future.add_done_callback(lambda done: self._answers.put(lambda: then(done)))

    def _follow(self) -> None:
        while (answer := self._answers.get()) is not None:
            answer()
            del answer  # with the result that it holds

    def unreachable(self, error: BaseException) -> bool:
        """Return whether an error says that an actor cannot be reached, which need not be its end."""
        return isinstance(error, self._ray.exceptions.ActorUnavailableError)

    def lost_machine(self, error: BaseException) -> bool:
        """Return whether an error says that an actor ended with its machine."""
        known = self._ray.exceptions
        return isinstance(error, known.ActorUnavailableError | known.NodeDiedError) or "node has died" in str(error)

    # ---- rounds

    @contextmanager
    def round(self, content: bytes) -> Iterator[None]:
        """Share what all games of a round need with the actors during the block, as one object."""
        self.content = self._ray.put(content)
        try:
            yield
        finally:
            self.content = None

    def close(self) -> None:
        """End the actors and the connection."""
        for actor in self._parked:
            self.kill(actor)
        self._parked.clear()
        with suppress(Exception), _own_signals():
            self._ray.shutdown()
        self._answers.put(None)
        self._thread.join()


def best_cores(sizes: Sequence[int]) -> int:
    """Return the cores of an actor with which machines of these sizes have the fewest cores left over.

    >>> best_cores([4, 4, 8]), best_cores([64]), best_cores([12, 6]), best_cores([])
    (4, 8, 6, 1)
    """
    return max(range(1, MOST_CORES + 1), key=lambda k: (sum(size // k * k for size in sizes), k if sizes else -k))


@contextmanager
def _own_signals() -> Iterator[None]:
    """Keep this program's handling of Ctrl-C and requests to end: Ray puts its own in its place."""
    kept = {number: signal.getsignal(number) for number in ENDINGS}
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            for number, handler in kept.items():
                signal.signal(number, handler)


def check_address(address: str) -> None:
    """Raise `UserError` unless Ray takes an address for that of a cluster's head.

    Other words make it do other things: "local" starts a cluster, "ray://..." moves the driver to another machine.
    With "auto" it reads RAY_ADDRESS before it looks for a cluster on this machine.
    """
    if not _is_address(address):
        raise UserError(f"cluster: expected HOST:PORT or auto, on the cluster's head, got {address[:60]!r}")
    given = os.environ.get("RAY_ADDRESS") or "auto"
    if address == "auto" and not _is_address(given):
        raise UserError(f"cluster auto: expected HOST:PORT in RAY_ADDRESS, got {given[:60]!r}; unset it")


def _is_address(text: str) -> bool:
    found = ADDRESS.fullmatch(text)
    return text == "auto" or (found is not None and 0 < int(found["port"]) < 65536)


def _answers_anyone(address: str) -> bool:
    """Return whether a cluster's head answers a caller without a token: this process's own mode does not say so."""
    import grpc

    with grpc.insecure_channel(address, options=[("grpc.enable_http_proxy", 0)]) as channel:
        try:
            channel.unary_unary("/ray.rpc.NodeInfoGcsService/GetClusterId")(b"", timeout=PROBED)
        except grpc.RpcError as error:
            refusals = grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.UNAVAILABLE  # the second one: it wants TLS
            return error.code() not in refusals
    return True


def _connect(address: str, without_token: bool) -> Any:
    """Return Ray, connected to a cluster, which must not be open to all unless `without_token`."""
    check_address(address)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")  # under `uv run` workers would start elsewhere, by uv
    try:
        import ray
        import ray.exceptions
        from ray._private import worker
    except ImportError:
        file = requirements("requirements-cluster.txt")
        raise UserError(f"cluster: Ray is not installed; `pip install -r {file}`") from None
    private = "or --cluster-without-token says that the network is private"
    mode = os.environ.get("RAY_AUTH_MODE", "")
    if not without_token and mode.lower() != "token":
        raise UserError(f"cluster: expected RAY_AUTH_MODE=token, got {mode[:60]!r}; docs/cluster.md sets it, {private}")
    worker._worker_logs_enabled = False  # else it prints the machines' logs to standard output
    if not ray.is_initialized():
        try:
            with _own_signals():
                ray.init(address=address, log_to_driver=False, configure_logging=False)
        except Exception as error:  # of many kinds, each with a page of advice
            why = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
            hint = "is this its head, and the token its own?"
            raise UserError(f"cluster {address}: cannot connect ({why[:200]}); {hint}") from None
    if not without_token and _answers_anyone(ray.get_runtime_context().gcs_address):
        with suppress(Exception), _own_signals():
            ray.shutdown()
        wanted = "expected a cluster that asks for a token, got one that answers without"
        raise UserError(f"cluster {address}: {wanted}; start Ray with RAY_AUTH_MODE=token everywhere, {private}")
    return ray
