"""The training of an iteration: from which games, at which rates; with lag 1 in a thread, while games are played.

With lag 0 a version is learned from all games so far, with lag 1 from those of the iterations before. Both follow from
run.db alone, so a fit that is repeated, or made after the games and not next to them, gives the same network.

Why a thread and not a process: it ends with the program, so a kill leaves nothing behind; it trains the session's own
network from the session's own memory, so nothing is held or sent twice; and one process owns the GPU. The steps run
outside the interpreter's lock. What Python does between them competes with the threads of self-play for that lock;
worker processes are free of it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from config import UserError
from initialise import Session, Stopped
from memory import Batch
from storage.fault_injection import reach
from training.divergence import rate_shares
from training.learning_rate import learning_rates

TICK = 0.1
"""Seconds between two reports of a training in a thread that is waited for."""


def games_until(session: Session) -> int:
    """Return the last iteration whose games the version of the present one is learned from."""
    return session.iteration - session.config.lag


def _learned_before(session: Session) -> int:
    """Return the last iteration whose games the iterations before this one have learned from."""
    before = session.iteration - 1
    return int(session.store.finished(before).get("retrain", {}).get("games_until", before))


def nothing_to_learn(session: Session) -> dict[str, Any]:
    """Return the facts of an iteration without training, {} if there are new games and enough positions."""
    s, until = session, games_until(session)
    if len(s.memory) < s.config.min_memory:
        return {"steps": 0, "waits_for": s.config.min_memory, "games_until": _learned_before(s)}
    return {"steps": 0, **lag_facts(s)} if until == _learned_before(s) else {}


def lag_facts(session: Session) -> dict[str, int]:
    """Return what the end of a training says about its games; nothing with lag 0, which learns from all of them."""
    return {"games_until": games_until(session)} if session.config.lag else {}


def _sampler(session: Session) -> Callable[[int], Batch]:
    """Return a function that draws the batch of a step from ltmemory."""
    c, iteration, memory = session.config, session.iteration, session.memory

    def sample(step: int) -> Batch:
        rng = np.random.default_rng([c.seed, iteration, step])
        return memory.sample(
            c.batch_size, rng, value_from_search=c.value_from_search, duplicate_weight=c.duplicate_weight
        )

    return sample


class Fit:
    """A training of the session's network that is made once, by `result`, or by a thread after `start`.

    All that comes from run.db is read here, in the session's thread: the other one never touches the database.
    """

    def __init__(self, session: Session, share: float) -> None:
        """Prepare the training of the present iteration at a fraction of the learning rate."""
        s, c = session, session.config
        new = s.store.positions_until(games_until(s)) - s.store.positions_until(_learned_before(s))
        self.version = s.current_version + 1
        self.sample = _sampler(s)
        self.steps = c.training_loops or max(1, round(new * c.reuse / c.batch_size))
        self.rates = [share * rate for rate in learning_rates(c, s.store, self.steps)]
        self._agent = s.agent(s.current_version, name="current_player", role="current")
        self.done, self.seconds = 0, 0.0
        self._losses: dict[str, float] = {}
        self._error: BaseException | None = None
        self._thread: threading.Thread | None = None
        self._cancelled = False

    def start(self) -> None:
        """Train in a thread from now on."""
        self._thread = threading.Thread(target=self._work, name="learner", daemon=True)
        self._thread.start()

    def result(self, report: Callable[[int], None]) -> dict[str, float]:
        """Return the losses; train in this thread unless another does, and wait for that. Raises its errors.

        report: called with the steps done, after each step or a few times a second; what it raises ends the training.
        """
        if self._thread is None:
            return self._train(report)
        try:
            while self._thread.is_alive():
                self._thread.join(TICK)
                report(self.done)
        except BaseException:
            self.cancel()
            raise
        if self._error is not None:
            raise self._error
        return self._losses

    def cancel(self) -> None:
        """End a training in a thread after the step at hand; an interrupt meanwhile counts once it has ended.

        The network can then be restored: nothing trains it any more.
        """
        self._cancelled, interrupt = True, None
        while self._thread is not None and self._thread.is_alive():
            try:
                self._thread.join()
            except KeyboardInterrupt as error:
                interrupt = error
        if interrupt is not None:
            raise interrupt

    def _work(self) -> None:
        try:
            self._losses = self._train(self._check_cancelled)
        except BaseException as error:  # raised where the result is wanted
            self._error = error

    def _check_cancelled(self, done: int) -> None:
        if self._cancelled:
            raise Stopped

    def _train(self, report: Callable[[int], None]) -> dict[str, float]:
        began = time.perf_counter()

        def step(done: int) -> None:
            reach("fit.step")
            self.done = done
            report(done)

        losses = self._agent.replay(self.sample, self.steps, rate=self.rates.__getitem__, report=step)
        self.seconds = time.perf_counter() - began
        return losses


@contextmanager
def fit_of_iteration(session: Session) -> Iterator[Fit | None]:
    """With lag 1 give the block the iteration's training, to be started before the games; None if there is none.

    A block that raises, as at a stop, ends the training too: it is made again when the run resumes.
    """
    _remember_earlier_games(session)
    if not session.config.lag or "retrain" in session.store.finished(session.iteration) or nothing_to_learn(session):
        yield None
        return
    fit = Fit(session, rate_shares(session)[0])
    try:
        yield fit
    except BaseException:
        try:
            fit.cancel()
        finally:
            with suppress(UserError):  # the first error is the one to report
                session.restore()
        raise


def _remember_earlier_games(session: Session) -> None:
    """Load into ltmemory the games of earlier iterations that are not there: with lag 1 those of the last one."""
    memory = session.memory
    while memory.until < session.iteration - 1:
        memory.extend(session.store.games_of(memory.until + 1))
        memory.until += 1
