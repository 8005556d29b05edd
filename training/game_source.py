"""The players of a session's self-play games: threads of this process, workers, a cluster. Made when first needed."""

from __future__ import annotations

import json
import logging
from functools import cached_property

from initialise import Session
from network.device import Plan
from network.predictor import side_by_side
from storage import checkpoints
from training.device_plan import MeasuredPlan, measured_plan
from training.hindsight import Hindsight
from training.restarts import random_plies, restarts
from training.selfplay import Beginnings, SelfPlay
from training.size_plan import SizesPool, game_named
from training.worker_pool import LocalPool, Pool, RoundSpec


class GameSource:
    """A session's pool of players, kept from one iteration to the next."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._pool: Pool | None = None
        self._measured: MeasuredPlan | None = None

    @cached_property
    def hindsight(self) -> Hindsight:
        """Where searches of earlier games were wrong."""
        return Hindsight(self._session.game, self._session.store)

    @property
    def measured(self) -> MeasuredPlan:
        """How threads of this process share the games; a device is measured for it, once, if they play any."""
        s = self._session
        if self._measured is None and (s.cluster is not None or s.config.workers):
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
        """The pool of players: a cluster, worker processes if the run has any, else threads of this process."""
        s = self._session
        if self._pool is None:
            if s.cluster is not None:
                from training.cluster_pool import cluster_pool

                self._pool = cluster_pool(s)
            elif s.config.workers:
                from training.worker_player import process_pool

                self._pool = process_pool(s.config, s.folder.resolve(), s.loggers.main.warning)
            else:
                self._pool = SizesPool(self._local) if s.game.sizes else self._local("")
        return self._pool

    def _local(self, board: str) -> LocalPool:
        """Return threads that play the run's game, or the one of its sizes that is named."""
        s, found, game = self._session, self.measured, game_named(self._session.game, board)
        selfplay = SelfPlay(game, s.config, plan=found.plan)
        named = game if board else None
        return LocalPool(selfplay, lambda version: found.predictor(s.predictor("selfplay", version, named)))

    def spec(self, version: int, board: str = "") -> RoundSpec:
        """Return what all games of this iteration, on the board named, have in common."""
        s = self._session
        row = s.store.version(version)
        path = checkpoints.path_of(s.folder, row.file).resolve()
        run, iteration = s.store.get("run") or "", s.iteration
        begun = restarts(s.config, s.store, self.hindsight, run, iteration)
        beginnings = Beginnings(random_plies(s.config, s.store), begun)
        return RoundSpec(run, iteration, version, str(path), row.sha256, beginnings, board)

    def declare(self) -> None:
        """Record that processors of several classes play the run's games; call it in the transaction that adds some."""
        s = self._session
        if s.cluster is not None:
            known = set(json.loads(s.store.get("processors") or "[]"))
            found = known | s.cluster.classes
            if len(found) > 1 and found != known:
                s.store.put("processors", json.dumps(sorted(found)))

    def close(self) -> None:
        """End the workers."""
        if self._pool is not None:
            self._pool.close()
        self._pool = None


def source_of(session: Session) -> GameSource:
    """Return the game source of a session; it is closed with the session, and when settings change."""
    if session.game_source is None:
        session.game_source = GameSource(session)
    source: GameSource = session.game_source
    return source
