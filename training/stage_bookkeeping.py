"""What all stages of an iteration share: whether one has finished, the clock, the check for a stop, the transactions.

A stage ends in exactly one transaction, so a run that is killed anywhere resumes from the last finished part of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from initialise import Session, Stopped
from loggers import Phase
from training.work import work_of


def never() -> bool:
    """Return False: the `stop` of work that nothing stops."""
    return False


def begin(session: Session) -> None:
    """Start the clock of the iteration at the seconds spent on it before an interruption."""
    number, _, seconds = (session.store.get("spent") or "").partition(" ")
    before = float(seconds) if number == str(session.iteration) else 0.0
    work_of(session).began = time.perf_counter() - before


def spent(session: Session) -> float:
    """Return the seconds of work in the iteration so far."""
    return time.perf_counter() - work_of(session).began


class Stage:
    """One stage of the iteration in progress."""

    def __init__(self, session: Session, name: str, stop: Callable[[], bool] = never) -> None:
        self.session, self.name, self.stop = session, name, stop
        self.iteration = session.iteration
        self.earlier = session.store.finished(self.iteration)
        """{stage: facts} of the stages of this iteration that have finished."""
        self._began = time.perf_counter()

    @property
    def finished(self) -> bool:
        """Whether the stage had already finished when it was entered."""
        return self.name in self.earlier

    @property
    def seconds(self) -> float:
        """Seconds since the stage was entered, or since its progress is shown."""
        return time.perf_counter() - self._began

    def check_stop(self) -> None:
        """Raise `Stopped` if a stop was requested."""
        if self.stop():
            raise Stopped

    def progress(self, label: str, total: int, done: int = 0) -> AbstractContextManager[Phase]:
        """Show the progress of the stage at the console while the block runs, and start its clock."""
        self._began = time.perf_counter()
        return self.session.console.phase(label, total, done)

    @contextmanager
    def part(self, point: str) -> Iterator[None]:
        """Write a part of the stage's work in one transaction; `point`: the transaction's fault-injection point."""
        with self.session.store.transaction(point):
            yield
            self._keep_time()

    @contextmanager
    def ending(self, facts: dict[str, Any], point: str = "") -> Iterator[None]:
        """End the stage in one transaction, together with what the block writes.

        `facts` become the stage's part of metrics.jsonl; `point`: the fault-injection point, by default the name.
        """
        with self.session.store.transaction(point or self.name):
            self.session.store.finish(self.iteration, self.name, facts)
            self._keep_time()
            yield

    def end(self, facts: dict[str, Any], point: str = "") -> None:
        """End the stage in one transaction that writes nothing else."""
        with self.ending(facts, point):
            pass

    def _keep_time(self) -> None:
        self.session.store.put("spent", f"{self.iteration} {spent(self.session):.3f}")
