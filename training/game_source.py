"""The players of a session's self-play games: threads of this process, workers, a cluster. Made when first needed."""

from __future__ import annotations

import json

from initialise import Session
from network.predictor import cores
from storage import checkpoints
from training.selfplay import SelfPlay
from training.worker_pool import LocalPool, Pool, RoundSpec


class GameSource:
    """A session's pool of players, kept from one iteration to the next."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._pool: Pool | None = None

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
                selfplay = SelfPlay(s.game, s.config, threads=cores())
                self._pool = LocalPool(selfplay, lambda version: s.predictor("selfplay", version))
        return self._pool

    def spec(self, version: int) -> RoundSpec:
        """Return what all games of this iteration have in common."""
        s = self._session
        row = s.store.version(version)
        path = checkpoints.path_of(s.folder, row.file).resolve()
        return RoundSpec(s.store.get("run") or "", s.iteration, version, str(path), row.sha256)

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
