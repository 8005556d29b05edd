"""Access control: every request passes here before the page sees it (OWASP: DNS rebinding, CSRF, cross-site sockets).

The Host must be one of ours or the address that was connected to, which no name can stand for, and there must be only
one. An Origin, if a browser sends one, must be the same place; a socket must have one. A page and its socket need the
token of this start. The files of a page need none: only their paths pass, and of the responses only those that hold a
file, because NiceGUI answers an unknown path with a page of its own, token and all. Only GET and HEAD pass, without a
body: all changes go through the socket. A refusal closes the connection. The policy in the responses lets a page load
nothing from elsewhere, whatever its content.

The token stands in the address, because a browser sends no header of ours with a page; no cookie holds it, no referrer
leaks it. NiceGUI compiles its templates in the browser, so the policy has to allow unsafe-eval and unsafe-inline; text
from files and names is escaped where HTML is made.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any
from urllib.parse import parse_qs

from config import UserError

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

ASSETS = re.compile(
    r"/_nicegui/[^/\n]+/((static|libraries|components)/[^\n]+|(resources|esm)/[^/\n]+/[^\n]+|dynamic_resources/[^/\n]+)"
    r"|/favicon\.ico"
)
NAME = re.compile(r"([A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::([0-9]{1,5}))?")
"""A host with or without a port, as a browser sends it."""
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


def has_token(scope: Scope, token: str) -> bool:
    """Return whether the address of a request holds the token."""
    given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [])
    return len(given) == 1 and hmac.compare_digest(given[0].encode(), token.encode())


def names_of(host: str, port: int) -> set[str]:
    """Return the names that browsers use for a place: at HTTP's own port they leave the port out."""
    return {f"{host}:{port}".lower()} | ({host.lower()} if port == 80 else set())


def allowed_names(place: str, port: int) -> set[str]:
    """Return the names of a place in front of this server, NAME or NAME:PORT; raise `UserError` for anything else.

    NAME alone stands for the ports of HTTP and HTTPS, which browsers leave out, and for the server's own `port`.
    """
    match = NAME.fullmatch(place)
    if match is None:
        raise UserError(f"allow_host: expected NAME or NAME:PORT as in the browser's address bar, got {place[:60]!r}")
    host, given = match[1].lower(), match[2]
    alone = {host} if given in (None, "80", "443") else set()
    return alone | {f"{host}:{port if given is None else int(given)}"}


class Guard:
    """An ASGI application in front of another one."""

    def __init__(
        self, app: App, *, hosts: Iterable[str], token: str, allowed: Iterable[str] = (),
        say: Callable[[str], None] = lambda text: None,
    ) -> None:  # fmt: skip
        """Let through requests that name one of `hosts` ("127.0.0.1:8080") and have the token.

        `allowed`: names of places in front of the server, such as a proxy; their pages may also come by HTTPS. `say`:
        show the owner why a page that has the token is refused, because a refused socket shows no text.
        """
        self._app, self._token, self._say = app, token, say
        self._allowed = {name.lower() for name in allowed}
        self._hosts = {host.lower() for host in hosts} | self._allowed
        self._said: set[str] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refusal = self.refusal(scope)
        if refusal is not None and "--allow-host" in refusal[1] and self._knows(scope) and refusal[1] not in self._said:
            self._said.add(refusal[1])
            self._say(f"refused: {refusal[1]}")
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
            return 421, "this server does not answer for that host name" + _option("".join(named))
        headers = {name: value.decode("latin-1").lower() for name, value in scope["headers"]}
        origin = headers.get(b"origin")
        socket = scope["type"] == "websocket"
        origins = {f"http://{host}" for host in ours} | {f"https://{host}" for host in self._allowed}
        if (origin is not None and origin not in origins) or (socket and origin is None):
            return 403, "requests from other pages are refused" + _option((origin or "").partition("://")[2])
        if headers.get(b"sec-fetch-site", "none") not in ("none", "same-origin"):
            top = headers.get(b"sec-fetch-mode") == "navigate" and scope["path"] == "/"
            if not top:  # a link to the page may be followed; without the token it opens nothing
                return 403, "requests from other pages are refused"
        if not socket and scope["method"] not in ("GET", "HEAD"):
            return 405, "expected GET"
        if b"transfer-encoding" in headers or headers.get(b"content-length", "0").strip() != "0":
            return 413, "expected a request without a body"
        if not ASSETS.fullmatch(scope["path"]) and not self._knows(scope):
            return 403, "this page needs the token: open the address that `python main.py serve` prints"
        return None

    def _knows(self, scope: Scope) -> bool:
        return has_token(scope, self._token)


def _option(name: str) -> str:
    """Return the hint that names the option which lets a place in; empty for what is no name of a host."""
    return (
        f"; if it is your own tunnel or proxy: python main.py serve --allow-host {name}" if NAME.fullmatch(name) else ""
    )


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
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store")]
    headers += [(b"connection", b"close"), *HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})
