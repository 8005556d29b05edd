"""Pools that play the games of self-play: threads of this process, or workers that may die at any moment.

A `Pool` plays given games with a given network and yields each when it ends. `LocalPool` plays them in this process.
`WorkerPool` divides them among workers; one worker plays a game from its first move to its last. A worker is reached
through a `WorkerHandle`, which only carries messages: training/worker_process.py makes one from a process and its pipe,
plugins/cluster/handle.py one from an actor on another machine.

A game follows from (run, iteration, index) and the network alone: the worker that plays it makes no difference, nor
does playing it twice.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, Protocol

from config import UserError
from network.predictor import Predictor
from search.evaluation_cache import NotFinite
from storage.game_record import GameRecord
from training.selfplay import Counts, SelfPlay, game_seed
from training.worker_messages import BadMessage, Expected, game_of_message, read
from training.worker_tasks import FAILURES, Task

TASK = 16
"""Most games of a task."""
AHEAD = 0.5
"""How many more games a worker holds than it plays side by side, as a share of these: they begin while the news of
ended ones travels. In Connect 4 a quarter of the games end in the third of a second that this takes on a cluster."""
PATIENCE = 3.0
"""Seconds that games in flight are given to end when the work is to stop; see `stop_signals.GRACE`."""
TICK = 0.1
"""Seconds between two checks of the workers and of `stop`."""


class RoundSpec(NamedTuple):
    """What all games of a round have in common."""

    run: str
    iteration: int
    version: int
    weights: str
    """The version's file, which never changes."""
    sha256: str
    board: str = ""
    """The name of the game, in a run of several sizes."""


class GracefulStop:
    """A `stop` of self-play that lets games in flight end first: once it is requested, no other game is begun."""

    def __init__(self, stop: Callable[[], bool], todo: deque[tuple[int, int]]) -> None:
        self._stop, self._todo = stop, todo
        self._until: float | None = None

    @property
    def requested(self) -> bool:
        """Whether a stop has been requested."""
        return self._until is not None

    def __call__(self) -> bool:
        if self._until is None and not self._stop():
            return False
        self._todo.clear()
        if self._until is None:
            self._until = time.monotonic() + PATIENCE
        return time.monotonic() >= self._until


class Pool(Protocol):
    """Plays games."""

    def play(
        self, spec: RoundSpec, games: Sequence[int], *, stop: Callable[[], bool] = lambda: False
    ) -> Iterator[GameRecord]:
        """Play the games with these indices and yield each once, in no fixed order; end early when `stop` is true."""
        ...

    def counts(self) -> Counts:
        """Return the work done since the start."""
        ...

    def close(self) -> None:
        """Release everything; workers end."""
        ...


class LocalPool:
    """Games played by threads of this process."""

    def __init__(self, selfplay: SelfPlay, predictor: Callable[[int], Predictor]) -> None:
        self._selfplay, self._predictor = selfplay, predictor

    def counts(self) -> Counts:
        return self._selfplay.counts()

    def play(
        self, spec: RoundSpec, games: Sequence[int], *, stop: Callable[[], bool] = lambda: False
    ) -> Iterator[GameRecord]:
        self._selfplay.clear_cache()
        jobs = deque((i, game_seed(spec.run, spec.iteration, i)) for i in games)
        self._selfplay.set_iteration(spec.iteration)
        graceful = GracefulStop(stop, jobs)
        predictor = self._predictor(spec.version)
        return self._selfplay.play(predictor, jobs, stop=graceful, together=lambda: not graceful.requested)

    def close(self) -> None:
        pass


class WorkersFailed(UserError):
    """Workers cannot play the games; the first line is for people, the cause is in the log."""

    def __init__(self, text: str, exit_code: int = 4) -> None:
        super().__init__(text)
        self.exit_code = exit_code


class WorkerHandle(Protocol):
    """The driver's side of a worker. Each message from it goes to the `report` it was made with, its end as None."""

    name: str
    """Shown to people, e.g. "worker 1 (process 4711)"."""
    waits: bool
    """Whether it waits for a machine: its silence is then no fault."""

    @property
    def lost(self) -> bool:
        """Whether it ended with its machine, as far as is known by now: its games are not to blame."""
        ...

    def send(self, message: dict[str, Any]) -> None:
        """Send a message; a message to a worker that has ended is lost."""
        ...

    def kill(self) -> None:
        """End the worker at once."""
        ...

    def leave(self, why: str) -> None:
        """End the worker at once, and use its machine no more if there are others."""
        ...

    def cause(self) -> str:
        """Return how the worker ended."""
        ...


Receive = Callable[[WorkerHandle, bytes | None], None]
Spawn = Callable[[int, Receive], WorkerHandle]
"""(place of the worker, receiver of its messages) -> worker."""


class _Place:
    """One place of the pool, with the worker that holds it now."""

    def __init__(self) -> None:
        self.vacate()

    def vacate(self) -> None:
        self.handle: WorkerHandle | None = None
        self.ready = self.busy = False
        self.silent = 0.0
        self.tasks: dict[int, Task] = {}
        self.error: dict[str, Any] = {}
        self.counts: Counts | None = None

    def task_of(self, index: int) -> Task | None:
        """Return the task that a game is of; None if it is of an earlier round."""
        return next((task for task in self.tasks.values() if index in task.missing), None)


class WorkerPool:
    """Games played by workers, as many each as it plays side by side; a worker that dies or is silent is replaced.

    lease: seconds without a sign after which a worker counts as hung; start: the same until it is ready to play.
    places: called again and again, returns how many workers there may be by now; it never means fewer than before.
    expected: returns what the games of a round have to be, by the name of its board.
    """

    def __init__(
        self, spawn: Spawn, *, workers: int, side_by_side: int, log: Callable[[str], None],
        expected: Callable[[str], Expected],
        lease: float = 120.0, start: float = 600.0, places: Callable[[], int] = lambda: 0,
    ) -> None:  # fmt: skip
        self._spawn, self._log, self._lease, self._start = spawn, log, lease, start
        self._expected_on, self._stopping = expected, False
        self._ahead = side_by_side + min(side_by_side, max(TASK, int(AHEAD * side_by_side)))
        self._places_now = places
        self._places = [_Place() for _ in range(workers)]
        self._inbox: SimpleQueue[tuple[WorkerHandle, bytes | None]] = SimpleQueue()
        self._todo: deque[Task] = deque()
        self._round = self._numbers = self._left = 0
        self._spec: dict[str, Any] = {}
        self._deaths = self._stillborn = 0
        """In a row: ends without a game between them; ends before the worker was ready."""
        self._wait_until = 0.0
        self._past = Counts(0, 0, 0, 0, 0, 0, 0.0)

    def play(
        self, spec: RoundSpec, games: Sequence[int], *, stop: Callable[[], bool] = lambda: False
    ) -> Iterator[GameRecord]:
        self._round += 1
        self._expected, self._stopping = self._expected_on(spec.board), False
        self._spec = {"kind": "round", "round": self._round, **spec._asdict()}
        size = max(1, min(TASK, -(-len(games) // (4 * len(self._places)))))
        self._todo = deque(self._task(games[i : i + size]) for i in range(0, len(games), size))
        self._left, stopped, looked = len(games), False, time.monotonic()
        for place in self._places:
            self._send_round(place)
        try:
            while self._left and not (stopped and not any(place.busy for place in self._places)):
                if not stopped and stop():
                    stopped = True
                    self._todo.clear()
                    self._stop()
                if not stopped:
                    self._spawn_missing()
                    self._assign_tasks()
                looked = self._watch(looked)
                for record in self._receive():
                    self._left -= 1
                    yield record
        finally:
            self._todo.clear()
            for place in self._places:
                if place.tasks:  # left in the middle of a round: the worker's games would mix with those of the next
                    self._dismiss(place)

    def counts(self) -> Counts:
        known = [self._past] + [p.counts for p in self._places if p.counts is not None]
        return Counts(*(sum(c) for c in zip(*known, strict=True)))._replace(room=max(c.room for c in known))

    def close(self) -> None:
        for place in self._places:
            self._dismiss(place)

    # ---- workers

    def _spawn_missing(self) -> None:
        """Fill empty places, with growing delays when workers keep dying."""
        self._places += [_Place() for _ in range(self._places_now() - len(self._places))]
        for number, place in enumerate(self._places):
            if place.handle is None and time.monotonic() >= self._wait_until:
                place.handle = self._spawn(number, lambda handle, message: self._inbox.put((handle, message)))
                self._send_round(place)

    def _send_round(self, place: _Place) -> None:
        if place.handle is not None:
            place.handle.send(self._spec)

    def _dismiss(self, place: _Place) -> None:
        """End the worker of a place; the work it did still counts."""
        if place.handle is not None:
            place.handle.kill()
        if place.counts is not None:
            total: Any = [a + b for a, b in zip(self._past, place.counts, strict=True)]
            self._past = Counts(*total)._replace(room=place.counts.room)
        place.vacate()

    def _watch(self, looked: float) -> float:
        """Replace workers that have been silent for too long. Time in which this process was frozen counts little."""
        now = time.monotonic()
        for place in self._places:
            if place.handle is None or place.handle.waits or (place.ready and not place.busy):
                continue
            place.silent += min(now - looked, 1.0)
            if place.silent > (self._lease if place.ready else self._start):
                place.error = {"text": f"gave no sign for {place.silent:.0f} s", "cause": "silent"}
                place.handle.kill()
                place.silent = 0.0
        return now

    def _ended(self, place: _Place) -> None:
        """Take back the tasks of a worker that has ended; raise when a task or workers in a row failed too often."""
        handle, tasks, error, ready = place.handle, list(place.tasks.values()), place.error, place.ready
        how = error.get("text") or (handle.cause() if handle else "")
        games = sum(len(t.missing) for t in tasks)
        name = handle.name if handle else ""
        self._log(f"{name}: {how}; {games} games go to others\n{error.get('trace', '')}".rstrip())
        self._dismiss(place)
        if error.get("cause") == "not_finite":
            raise NotFinite(how)
        if error.get("exit_code"):
            raise WorkersFailed(how, int(error["exit_code"]))
        last = f"the last time: {how} (more in logs/logger_main.log)"
        for task in tasks:
            task.ended(handle, error.get("cause") == "silent")
            if task.fault:
                raise WorkersFailed(f"{task} of iteration {self._spec['iteration']} {task.fault}; {last}")
        self._todo.extendleft(tasks)
        if handle and handle.lost:
            return
        self._deaths += 1
        self._stillborn = 0 if ready else self._stillborn + 1
        self._wait_until = time.monotonic() + min(30.0, 0.1 * 2**self._deaths)
        if self._stillborn >= FAILURES:
            raise WorkersFailed(f"{self._stillborn} workers ended before they could play; {last}")

    # ---- tasks

    def _task(self, games: Sequence[int]) -> Task:
        self._numbers += 1
        return Task(self._numbers, games)

    def _assign_tasks(self) -> None:
        """Assign to each worker the games it plays side by side and some more; a suspect task is assigned alone.

        Once all are assigned, workers learn that no others follow.
        """
        ready = sum(place.ready for place in self._places)
        most = min(self._ahead, -(-self._left // max(ready, 1)))  # so that each gets its share where games are few
        waiting = bool(self._todo)
        for place in self._places:
            while place.handle is not None and place.ready and self._todo and self._fits(place, self._todo[0], most):
                task = self._todo.popleft()
                place.tasks[task.number] = task
                if not place.busy:
                    place.busy, place.silent = True, 0.0
                games = sorted(task.missing)
                place.handle.send({"kind": "games", "round": self._round, "task": task.number, "games": games})
        if waiting and not self._todo:
            for place in self._places:
                if place.handle is not None and place.busy:
                    place.handle.send({"kind": "games", "round": self._round, "games": [], "last": True})

    def _fits(self, place: _Place, task: Task, most: int) -> bool:
        held = place.tasks.values()
        if task.alone or any(t.alone for t in held):
            return not held
        return not held or sum(len(t.missing) for t in held) + len(task.missing) <= most

    def _stop(self) -> None:
        """Request all workers to stop; each sends a message when it has."""
        self._stopping = True
        for place in self._places:
            if place.handle is not None and place.busy:
                place.handle.send({"kind": "stop", "round": self._round})

    # ---- messages

    def _receive(self) -> Iterator[GameRecord]:
        """Receive the messages at hand, or wait for one; yield the games among them.

        Later ones wait, so that a stop and silent workers are noticed however many come.
        """
        timeout = TICK
        for _ in range(max(1, self._inbox.qsize())):
            try:
                handle, data = self._inbox.get(timeout=timeout)
            except Empty:
                return
            timeout = 0.0
            place = next((p for p in self._places if p.handle is handle), None)
            if place is None:
                continue  # dismissed before
            if data is None:
                self._ended(place)
                continue
            place.silent = 0.0
            try:
                yield from self._message(place, data)
            except BadMessage as error:
                place.error = {"text": f"{error}; it is left, as its memory or its program may be damaged"}
                handle.leave(f"{handle.name}: {error}")
                self._ended(place)

    def _message(self, place: _Place, data: bytes) -> Iterator[GameRecord]:
        """Follow a worker's message; yield the game in it. Raises `BadMessage`, with nothing changed."""
        head, body = read(data)
        kind = head["kind"]
        task = place.task_of(head["index"]) if kind == "game" else None
        record = game_of_message(head, body, self._expected) if task else None
        if kind == "stopped" and (head["round"] > self._round or (head["round"] == self._round and not self._stopping)):
            raise BadMessage(f"stopped: expected a round that was to stop, got {head['round']}")
        if "counts" in head:
            place.counts = Counts(*head["counts"])
        if kind == "ready":
            place.ready, self._stillborn = True, 0
        elif kind == "failed":
            place.error = head
        elif kind == "stopped":
            if head["round"] == self._round:  # else late: the games it plays by now are of this round
                place.busy = False
                place.tasks.clear()
        elif task and record is not None:
            self._played(place, task, record.index)
            yield record

    def _played(self, place: _Place, task: Task, index: int) -> None:
        task.played(index)
        self._deaths = 0
        if not task.missing:
            del place.tasks[task.number]
            place.busy = bool(place.tasks)
