"""What training keeps of a session between its stages: the clock, the network's own rate, the players, old errors."""

from __future__ import annotations

import math
import time

from initialise import Session
from training.game_source import GameSource, Machines
from training.search_errors import SearchErrors


class Work:
    """The work on a session; made when first needed, and as long-lived as the session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._source: GameSource | None = None
        self._search_errors: SearchErrors | None = None
        self.machines: Machines | None = None
        """Other machines that play self-play's games; None = this one plays them. They outlive the session."""
        self.began = time.perf_counter()
        """Start of the iteration in progress, earlier if part of it was done before an interruption."""
        self.raw_rate = 0.0
        """Evaluations/s of the network alone."""
        self.raw_at = -math.inf
        """When they were measured."""

    @property
    def source(self) -> GameSource:
        """The players of self-play's games; others when the session's networks or settings have changed."""
        if self._source is None:
            self._source = GameSource(self._session, self.machines)
        return self._source

    @property
    def search_errors(self) -> SearchErrors:
        """Where the searches of earlier games were wrong."""
        if self._search_errors is None:
            self._search_errors = SearchErrors(self._session.game, self._session.store)
        return self._search_errors

    def close(self) -> None:
        """End the players, and forget what was read of games: a run that has stepped back plays others."""
        if self._source is not None:
            self._source.close()
        self._source = self._search_errors = None


def work_of(session: Session) -> Work:
    """Return the work on a session."""
    if not isinstance(session.work, Work):
        session.work = Work(session)
    return session.work


def source_of(session: Session) -> GameSource:
    """Return the players of a session's self-play games."""
    return work_of(session).source
