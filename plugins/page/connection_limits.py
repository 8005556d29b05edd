"""Limits on connections: bytes and seconds for the head of a request, and how many have not shown the token.

They hold before the guard sees a request, because a request reaches it only when its head is complete. h11 parses, as
the faster httptools has no limit for the size of a head.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_BYTES = 32_768
"""Largest head of a request. A browser sends the cookies of every server on the same host name with it."""
HEAD_SECONDS = 10.0
"""Seconds from the start of a connection, or of a further request, to the end of the request's head."""
STRANGERS = 100
"""Most connections that have not shown the token; well below the files that a process may open (macOS: 256)."""


class Strangers:
    """The open connections that have not shown the token, in the order of their last complete request.

    When there are too many, the first of them is closed, so that a new connection is always accepted: half requests
    cannot keep the owner out.
    """

    def __init__(self, knows: Callable[[Any], bool], most: int = STRANGERS) -> None:
        """knows: whether a request has the token."""
        self.knows, self._most = knows, most
        self._waiting: dict[LimitedHTTP, None] = {}

    def add(self, connection: LimitedHTTP) -> None:
        """Put a connection at the end, and close the first one if there are too many."""
        self._waiting.pop(connection, None)
        self._waiting[connection] = None
        if len(self._waiting) > self._most:
            first = next(iter(self._waiting))
            del self._waiting[first]
            first.transport.abort()

    def remove(self, connection: LimitedHTTP) -> None:
        """Forget a connection that has shown the token or has ended."""
        self._waiting.pop(connection, None)


class LimitedHTTP(H11Protocol):
    """A connection with the limits; the size of the head is uvicorn's setting `h11_max_incomplete_event_size`."""

    def __init__(
        self,
        strangers: Strangers,
        head_seconds: float,
        *,
        config: Config,
        server_state: Any,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._strangers, self._head_seconds = strangers, head_seconds
        self._timer: asyncio.TimerHandle | None = None
        self._stranger = True

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._strangers.add(self)
        self._start_timer()

    def data_received(self, data: bytes) -> None:
        if self.cycle is not None and self.cycle.response_complete:
            self._start_timer()  # a further request begins, or a body that nobody reads
        super().data_received(data)

    def handle_events(self) -> None:
        before = self.scope
        super().handle_events()
        if self.scope is not before:
            self._head_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        self._strangers.remove(self)
        super().connection_lost(exc)

    def _head_complete(self) -> None:
        self._stop_timer()
        if self._strangers.knows(self.scope):
            self._stranger = False
        if self._stranger:
            self._strangers.add(self)
        else:
            self._strangers.remove(self)

    def _start_timer(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(self._head_seconds, self.transport.abort)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
