"""The players of a session's self-play games: threads of this process, or workers. Made when first needed."""

from __future__ import annotations

from initialise import Session
from network.predictor import cores
from storage import checkpoints
from training.selfplay import SelfPlay
from training.size_plan import SizesPool, game_named
from training.worker_pool import LocalPool, Pool, RoundSpec


class GameSource:
    """A session's pool of players, kept from one iteration to the next."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._pool: Pool | None = None

    @property
    def pool(self) -> Pool:
        """The pool of players: worker processes if the run has any, else threads of this process."""
        s = self._session
        if self._pool is None:
            if s.config.workers:
                from training.worker_player import process_pool

                self._pool = process_pool(s.config, s.folder.resolve(), s.loggers.main.warning)
            else:
                self._pool = SizesPool(self._local) if s.game.sizes else self._local("")
        return self._pool

    def _local(self, board: str) -> LocalPool:
        """Return threads that play the run's game, or the one of its sizes that is named."""
        s, game = self._session, game_named(self._session.game, board)
        selfplay = SelfPlay(game, s.config, threads=cores())
        return LocalPool(selfplay, lambda version: s.predictor("selfplay", version, game if board else None))

    def spec(self, version: int, board: str = "") -> RoundSpec:
        """Return what all games of this iteration, on the board named, have in common."""
        s = self._session
        row = s.store.version(version)
        path = checkpoints.path_of(s.folder, row.file).resolve()
        return RoundSpec(s.store.get("run") or "", s.iteration, version, str(path), row.sha256, board)

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
