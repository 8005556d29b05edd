"""Access control: every request passes here before the page sees it (OWASP: DNS rebinding, CSRF, cross-site sockets).

The Host must be one of ours or the address that was connected to, which no name can stand for, and there must be only
one. An Origin, if a browser sends one, must be the same place; a socket must have one. A page and its socket need the
token of this start. The files of a page need none: only their paths pass, and of the responses only those that hold a
file, because NiceGUI answers an unknown path with a page of its own, token and all. Only GET and HEAD pass: all changes
go through the socket. The policy in the responses lets a page load nothing from elsewhere, whatever its content.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

ASSETS = re.compile(
    r"/_nicegui/[^/\n]+/((static|libraries|components)/[^\n]+|(resources|esm)/[^/\n]+/[^\n]+|dynamic_resources/[^/\n]+)"
    r"|/favicon\.ico"
)
FOUND = (200, 206, 304)
"""Status of a response that holds a file, or says that the browser has it."""
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self'; object-src 'none'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]


def names_of(host: str, port: int) -> set[str]:
    """Return the names that browsers use for a place: at HTTP's own port they leave the port out."""
    return {f"{host}:{port}".lower()} | ({host.lower()} if port == 80 else set())


class Guard:
    """An ASGI application in front of another one."""

    def __init__(self, app: App, *, hosts: Iterable[str], token: str) -> None:
        """Let through requests that name one of `hosts` ("127.0.0.1:8080") and have the token."""
        self._app, self._token = app, token.encode()
        self._hosts = {host.lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refusal = self.refusal(scope)
        if refusal is None:
            sending = _with_headers(send)
            await self._app(scope, receive, sending if self._knows(scope) else _files_only(sending))
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await _answer(send, *refusal)

    def refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Return (status, reason) for a request that may not pass, None for one that may."""
        named = [value.decode("latin-1").lower() for name, value in scope["headers"] if name == b"host"]
        ours = self._hosts | (names_of(*scope["server"]) if scope.get("server") else set())
        if len(named) != 1 or named[0] not in ours:
            return 421, "this server does not answer for that host name"
        headers = {name: value.decode("latin-1").lower() for name, value in scope["headers"]}
        origin = headers.get(b"origin")
        socket = scope["type"] == "websocket"
        if (origin is not None and origin not in {f"http://{host}" for host in ours}) or (socket and origin is None):
            return 403, "a page from elsewhere may not ask"
        if headers.get(b"sec-fetch-site", "none") not in ("none", "same-origin"):
            top = headers.get(b"sec-fetch-mode") == "navigate" and scope["path"] == "/"
            if not top:  # a link to the page may be followed; without the token it opens nothing
                return 403, "a page from elsewhere may not ask"
        if not socket and scope["method"] not in ("GET", "HEAD"):
            return 405, "expected GET"
        if not ASSETS.fullmatch(scope["path"]) and not self._knows(scope):
            return 403, "this page needs the token: open the address that `python main.py serve` prints"
        return None

    def _knows(self, scope: Scope) -> bool:
        given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [])
        return len(given) == 1 and hmac.compare_digest(given[0].encode(), self._token)


def _with_headers(send: Send) -> Send:
    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *HEADERS]
        await send(message)

    return sending


def _files_only(send: Send) -> Send:
    """Send a response that holds a file; replace any other by its status."""
    refused = False

    async def sending(message: MutableMapping[str, Any]) -> None:
        nonlocal refused
        if message["type"] == "http.response.start" and message["status"] not in FOUND:
            refused = True
            await _answer(send, message["status"], "there is no such file")
        elif not refused:
            await send(message)

    return sending


async def _answer(send: Send, status: int, text: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store"), *HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})
