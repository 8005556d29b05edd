"""Access control: every request passes here before the server sees it (OWASP: DNS rebinding, CSRF).

The Host must be one of ours or the address that was connected to, which no name can stand for, and there must be only
one. An Origin, if a browser sends one, must be the same place. A request of another place's page passes only as a link
that is followed to one of our pages. Everything needs the token of this start: an address that ends in `?token=...`
is answered by a cookie that holds it and by the same address without it, and from then on the cookie is enough. A
cookie counts for all ports of a name, so its own name has the port. It is lax, so that links are followed with it: a
GET changes nothing.

What changes or computes something is a POST under /api/ with JSON in its body, of limited size, with our Origin and
with a header that no form of another place can send. Nothing else has a body. No sockets. A refusal closes the
connection. The policy in the responses lets a page load nothing from elsewhere, whatever its content.
"""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from config import UserError

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

NAME = re.compile(r"([A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::([0-9]{1,5}))?")
"""A host with or without a port, as a browser sends it."""
OURS = b"x-alphazero"
"""The header of a POST; its value is 1."""
BODY_BYTES, SHORT_BYTES = 1_400_000, 64_000
"""Largest body of a POST, and of one that holds no game."""
SHORT = frozenset(("/api/train", "/api/stop"))
POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""The policy of a response that brings none of its own."""
HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]


def cookie_name(port: int) -> str:
    """Return the name of a server's cookie."""
    return f"alphazero-{port}"


def in_address(scope: Scope, token: str) -> bool:
    """Return whether the address of a request holds the token."""
    given = [value for name, value in _query(scope) if name == "token"]
    return len(given) == 1 and hmac.compare_digest(given[0].encode(), token.encode())


def in_cookie(scope: Scope, token: str, name: str) -> bool:
    """Return whether a cookie of a request holds the token."""
    for key, value in scope["headers"]:
        if key == b"cookie":
            for part in value.split(b";"):
                given, _, held = part.strip().partition(b"=")
                if given == name.encode() and hmac.compare_digest(held, token.encode()):
                    return True
    return False


def _query(scope: Scope) -> list[tuple[str, str]]:
    try:
        return parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True, max_num_fields=50)
    except ValueError:
        return []


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
        self,
        app: App,
        *,
        hosts: Iterable[str],
        token: str,
        port: int,
        allowed: Iterable[str] = (),
        say: Callable[[str], None] = lambda text: None,
    ) -> None:
        """Let through requests that name one of `hosts` ("127.0.0.1:8080") and have the token.

        `allowed`: names of places in front of the server, such as a proxy; their pages may also come by HTTPS. `say`:
        show the owner why a page that has the token is refused.
        """
        self._app, self._token, self._say = app, token, say
        self._cookie = cookie_name(port)
        self._allowed = {name.lower() for name in allowed}
        self._hosts = {host.lower() for host in hosts} | self._allowed
        self._said: set[str] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        refusal = self.refusal(scope)
        if refusal is not None:
            status, reason = refusal
            if "--allow-host" in reason and self.knows(scope) and reason not in self._said:
                self._said.add(reason)
                self._say(f"refused: {reason}")
            await _refuse(send, status, reason, as_json=scope["path"].startswith("/api/"))
        elif in_address(scope, self._token):
            await self._remember(scope, send)
        else:
            await self._app(scope, receive, _with_headers(send))

    def knows(self, scope: Scope) -> bool:
        """Return whether a request has the token, in its address or in its cookie."""
        return in_address(scope, self._token) or in_cookie(scope, self._token, self._cookie)

    def refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Return (status, reason) for a request that may not pass, None for one that may."""
        named = [value.decode("latin-1").lower() for name, value in scope["headers"] if name == b"host"]
        ours = self._hosts | (names_of(*scope["server"]) if scope.get("server") else set())
        if len(named) != 1 or named[0] not in ours:
            return 421, "this server does not answer for that host name" + _option("".join(named))
        headers = {name: value.decode("latin-1").lower() for name, value in scope["headers"]}
        changes, api = scope["method"] == "POST", scope["path"].startswith("/api/")
        origin = headers.get(b"origin")
        origins = {f"http://{host}" for host in ours} | {f"https://{host}" for host in self._allowed}
        if (origin is not None and origin not in origins) or (changes and origin is None):
            return 403, "requests from other pages are refused" + _option((origin or "").partition("://")[2])
        if headers.get(b"sec-fetch-site", "none") not in ("none", "same-origin"):
            followed = headers.get(b"sec-fetch-mode") == "navigate" and not api and not changes
            if not followed or headers.get(b"sec-fetch-dest", "document") != "document":
                return 403, "requests from other pages are refused"
        if scope["method"] not in ("GET", "HEAD", "POST") or (changes and not api):
            return 405, "expected GET, or POST under /api/"
        if not self.knows(scope) or (in_address(scope, self._token) and (api or scope["path"].startswith("//"))):
            return 403, "this page needs the token: open the address that `python main.py serve` prints"
        return _body_fault(scope["path"], headers) if changes else _no_body(headers)

    async def _remember(self, scope: Scope, send: Send) -> None:
        """Answer an address with the token by a cookie and the address without it."""
        rest = urlencode([(name, value) for name, value in _query(scope) if name != "token"])
        place = quote(scope["path"], safe="/") + (f"?{rest}" if rest else "")
        cookie = f"{self._cookie}={self._token}; HttpOnly; SameSite=Lax; Path=/"
        more = [(b"location", place.encode()), (b"set-cookie", cookie.encode())]
        await _answer(send, 303, "", more, close=False)


def _no_body(headers: MutableMapping[bytes, str]) -> tuple[int, str] | None:
    if b"transfer-encoding" in headers or headers.get(b"content-length", "0").strip() != "0":
        return 413, "expected a request without a body"
    return None


def _body_fault(path: str, headers: MutableMapping[bytes, str]) -> tuple[int, str] | None:
    """Return why a POST is refused, None if it is not."""
    if headers.get(OURS) != "1":
        return 403, "expected the header X-AlphaZero: 1"
    if headers.get(b"content-type", "").partition(";")[0].strip() != "application/json":
        return 415, "expected application/json"
    length, most = headers.get(b"content-length", ""), SHORT_BYTES if path in SHORT else BODY_BYTES
    if b"transfer-encoding" in headers or not re.fullmatch("[0-9]{1,9}", length, re.ASCII):
        return 411, "expected a body with its length"
    return (413, f"expected at most {most:,} bytes") if int(length) > most else None


def _option(name: str) -> str:
    """Return the hint that names the option which lets a place in; empty for what is no name of a host."""
    return (
        f"; if it is your own tunnel or proxy: python main.py serve --allow-host {name}" if NAME.fullmatch(name) else ""
    )


def _with_headers(send: Send) -> Send:
    """Send a response with our headers; pages bring a policy of their own."""

    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            given = list(message.get("headers", []))
            names = {name for name, _ in given}
            given += [] if b"content-security-policy" in names else [(b"content-security-policy", POLICY.encode())]
            given += [] if b"cache-control" in names else [(b"cache-control", b"no-store")]
            message["headers"] = [*given, *HEADERS]
        await send(message)

    return sending


async def _refuse(send: Send, status: int, reason: str, *, as_json: bool) -> None:
    """Answer with a reason, in the form in which the interface says what is wrong, or as text."""
    if as_json:
        await _answer(send, status, json.dumps({"error": reason}), kind=b"application/json")
    else:
        await _answer(send, status, reason)


async def _answer(
    send: Send,
    status: int,
    text: str,
    more: Iterable[tuple[bytes, bytes]] = (),
    *,
    close: bool = True,
    kind: bytes = b"text/plain; charset=utf-8",
) -> None:
    headers = [(b"content-type", kind), (b"cache-control", b"no-store"), *more]
    headers += [(b"content-length", str(len(text.encode())).encode()), (b"content-security-policy", POLICY.encode())]
    headers += [(b"connection", b"close")] if close else []
    await send({"type": "http.response.start", "status": status, "headers": [*headers, *HEADERS]})
    await send({"type": "http.response.body", "body": text.encode()})
