"""The players of a session's self-play games: threads of this process, workers, other machines. Made when needed."""

from __future__ import annotations

import json
import logging
from functools import partial
from typing import Protocol

from initialise import Session
from network.device import Plan
from network.predictor import side_by_side
from storage import checkpoints
from training.device_plan import MeasuredPlan, measured_plan
from training.selfplay import SelfPlay
from training.size_plan import SizesPool, game_named
from training.worker_pool import LocalPool, Pool, RoundSpec


class Machines(Protocol):
    """Other machines that play self-play's games for a session; a plugin may add some to the command `train`."""

    classes: set[str]
    """The classes of processors that have played for this process, its own included; see `GameSource.declare`."""

    def pool(self, session: Session) -> Pool:
        """Return the pool whose workers are there."""
        ...


class GameSource:
    """A session's pool of players, kept from one iteration to the next."""

    def __init__(self, session: Session, machines: Machines | None = None) -> None:
        self._session = session
        self._machines = machines
        self._pool: Pool | None = None
        self._measured: MeasuredPlan | None = None

    @property
    def measured(self) -> MeasuredPlan:
        """How threads of this process share the games; a device is measured for it, once, if they play any."""
        s = self._session
        if self._measured is None and (self._machines is not None or s.config.workers):
            share, threads = side_by_side(s.game, s.config.selfplay)
            self._measured = MeasuredPlan(Plan(threads, share))
        elif self._measured is None:
            version = s.best_version if s.config.selfplay_with == "best" else s.current_version
            self._measured = measured_plan(s.game, s.config, s.predictor("selfplay", version))
            if self._measured.speed:
                s.loggers.main.info("device: %s", self._measured.words())
            elif self._measured.limit:
                s.warn(self._measured.limit, logging.INFO)
        return self._measured

    @property
    def pool(self) -> Pool:
        """The pool of players: other machines, worker processes if the run has any, else threads of this process."""
        s = self._session
        if self._pool is None:
            if self._machines is not None:
                self._pool = self._machines.pool(s)
            elif s.config.workers:
                from training.worker_player import process_pool

                self._pool = process_pool(s.config, s.game, s.folder.resolve(), s.loggers.main.warning)
            else:
                measured = self.measured  # now, as it reads the network, which may be trained later
                made = partial(self._local, measured)
                self._pool = SizesPool(made) if s.game.sizes else made("")
        return self._pool

    def _local(self, found: MeasuredPlan, board: str) -> LocalPool:
        """Return threads that play the run's game, or the one of its sizes that is named."""
        s, game = self._session, game_named(self._session.game, board)
        selfplay = SelfPlay(game, found.settings(s.config), plan=found.plan)
        named = game if board else None
        return LocalPool(selfplay, lambda version: found.predictor(s.predictor("selfplay", version, named)))

    def spec(self, version: int, board: str = "") -> RoundSpec:
        """Return what all games of this iteration, on the board named, have in common."""
        s = self._session
        row = s.store.version(version)
        path = checkpoints.path_of(s.folder, row.file).resolve()
        return RoundSpec(s.store.get("run") or "", s.iteration, version, str(path), row.sha256, board)

    def declare(self) -> None:
        """Record that processors of several classes play the run's games; call it in the transaction that adds some."""
        s = self._session
        if self._machines is not None:
            known = set(json.loads(s.store.get("processors") or "[]"))
            found = known | self._machines.classes
            if len(found) > 1 and found != known:
                s.store.put("processors", json.dumps(sorted(found)))

    def close(self) -> None:
        """End the workers."""
        if self._pool is not None:
            self._pool.close()
        self._pool = None
