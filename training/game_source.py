"""The players of a session's self-play games: threads of this process, or workers. Made when first needed."""

from __future__ import annotations

from initialise import Session
from network.predictor import cores
from storage import checkpoints
from training.hindsight import Hindsight
from training.restarts import random_plies, restarts
from training.selfplay import Beginnings, SelfPlay
from training.worker_pool import LocalPool, Pool, RoundSpec


class GameSource:
    """A session's pool of players, kept from one iteration to the next."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._pool: Pool | None = None
        self.hindsight = Hindsight(session.game, session.store)
        self.begun = 0
        """Games of this iteration that begin in a position of an earlier game."""
        self.recalled = False
        """Whether the memory has what earlier iterations found out (training/reanalysis.py)."""

    @property
    def pool(self) -> Pool:
        """The pool of players: worker processes if the run has any, else threads of this process."""
        s = self._session
        if self._pool is None:
            if s.config.workers:
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
        run, iteration = s.store.get("run") or "", s.iteration
        begun = restarts(s.config, s.store, self.hindsight, run, iteration)
        self.begun = len(begun)
        beginnings = Beginnings(random_plies(s.config, s.store), begun)
        return RoundSpec(run, iteration, version, str(path), row.sha256, beginnings)

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
