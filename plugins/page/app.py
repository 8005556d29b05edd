"""The command's server: its socket, its token, how the browser gets to it, and its end."""

from __future__ import annotations

import asyncio
import logging
import secrets
import signal
import socket
import tempfile
import webbrowser
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from config import UserError
from plugins.page.request_guard import Guard, allowed_names, names_of
from system.place import requirements
from system.processes import ENDINGS, heeded

LOOPBACK = ("127.0.0.1", "localhost")
EVERYWHERE = "0.0.0.0"  # noqa: S104
EXCLUSIVE = getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR)
"""Option of a socket that takes a port which nobody has now: on Windows the usual one takes it from its owner."""
CLOSING = 1
"""Seconds that requests in progress have to end when the server does."""


def serve(
    *, host: str, port: int, spec: str, open_browser: bool, say: Callable[[str], None], allowed: Sequence[str] = ()
) -> None:
    """Serve the page until Ctrl-C, also under the names `allowed`; raise `UserError` if that is impossible."""
    in_front = set().union(*(allowed_names(place, port) for place in allowed))
    try:
        import uvicorn
        from starlette.applications import Starlette
    except ImportError as error:
        file = requirements("requirements-web.txt")
        raise UserError(f"serve: {error.name} is not installed; `pip install -r {file}`") from None
    from plugins.page.connection_limits import HEAD_BYTES, HEAD_SECONDS, STRANGERS, LimitedHTTP, Strangers
    from plugins.page.interface import Interface

    _check_port(host, port)
    token = secrets.token_urlsafe(24)
    names = {*LOOPBACK, socket.gethostname() if host == EVERYWHERE else host}
    hosts = set().union(*(names_of(name, port) for name in names))
    reached = outward() if host == EVERYWHERE else host
    address = f"http://{reached}:{port}/?token={token}"
    others = "".join(f"also {place}/?token={token}\n" for place in allowed)
    ignored = set(ENDINGS) - set(heeded())
    interface = Interface(spec)
    door = doorway(address) if open_browser else None

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        for number in ignored:  # the server has taken them
            signal.signal(number, signal.SIG_IGN)
        announcing = asyncio.create_task(_announce(reached, port, address, others, door, say))
        interface.begin()
        yield
        announcing.cancel()
        if door is not None:
            door.unlink(missing_ok=True)
        await asyncio.to_thread(interface.close)

    app = Starlette(routes=interface.routes(), exception_handlers=interface.faults(), lifespan=lifespan)
    guard = Guard(app, hosts=hosts, token=token, port=port, allowed=in_front, say=say)
    config = uvicorn.Config(
        guard,
        host=host,
        port=port,
        http=partial(LimitedHTTP, Strangers(guard.knows), HEAD_SECONDS),  # type: ignore[arg-type]
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=HEAD_BYTES,
        backlog=STRANGERS,
        timeout_graceful_shutdown=CLOSING,
    )
    logging.getLogger("uvicorn.error").addFilter(_worth_a_line)
    server = uvicorn.Server(config)
    shutdown = server.shutdown

    async def ending(sockets: list[socket.socket] | None = None) -> None:
        interface.end_streams()  # they would keep their connections open
        await shutdown(sockets)

    server.shutdown = ending  # type: ignore[method-assign]
    server.run()


def _worth_a_line(record: logging.LogRecord) -> bool:
    """Return whether uvicorn's log is to have a record: not that requests were still open at the end."""
    return "timeout graceful shutdown" not in record.getMessage()


async def _announce(
    host: str, port: int, address: str, others: str, door: Path | None, say: Callable[[str], None]
) -> None:
    """Say where the page is, and open it, as soon as the server answers: a browser that comes before finds nobody."""
    while not _listens(host, port):
        await asyncio.sleep(0.01)
    say(f"the page is at {address} (open it yourself if no browser opens)\n{others}Ctrl-C ends it")
    if door is not None:
        await asyncio.to_thread(webbrowser.open, door.as_uri())


def outward() -> str:
    """Return this machine's address in its network, or the loopback address if it has none."""
    with socket.socket(type=socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address of no machine (RFC 5737), and nothing is sent
        except OSError:
            return LOOPBACK[0]
        return str(probe.getsockname()[0])


def doorway(address: str) -> Path:
    """Write a file, readable by its owner only, that redirects to an address: all users can see a command line."""
    handle, name = tempfile.mkstemp(prefix="alphazero-", suffix=".html")
    with open(handle, "w", encoding="utf-8") as file:
        file.write(f'<!DOCTYPE html><meta http-equiv="refresh" content="0; url={address}"><a href="{address}">Open</a>')
    return Path(name)


def _check_port(host: str, port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, EXCLUSIVE, 1)
        try:
            probe.bind((host, port))
        except (OSError, OverflowError) as error:
            raise UserError(f"serve: cannot listen on {host}:{port} ({error}); --port chooses another") from None


def _listens(host: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(0.2)
        return probe.connect_ex((host, port)) == 0
