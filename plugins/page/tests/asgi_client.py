"""Talks to an ASGI application without a socket: requests with their cookie, headers and body, and answers in parts."""

import asyncio
import json
from contextlib import asynccontextmanager

HOST, TOKEN, PORT = "127.0.0.1:8080", "secret", 8080


class Answer:
    """What came back."""

    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)

    @property
    def error(self):
        """The line of a refusal."""
        return self.json()["error"]


def scope_of(path, method="GET", *, token=TOKEN, cookie=True, query="", host=HOST, headers=(), server=None):
    """Return the scope of a request. cookie: the token stands in a cookie, else in the address; token None: nowhere."""
    named = [(b"host", host.encode())] if host is not None else []
    if token is not None and cookie:
        named.append((b"cookie", f"other=1; alphazero-{PORT}={token}".encode()))
    elif token is not None:
        query = "&".join(filter(None, (query, f"token={token}")))
    named += [(name.lower().encode(), value.encode()) for name, value in headers]
    return {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "scheme": "http",
        "query_string": query.encode(),
        "headers": named,
        "server": server,
        "client": ("127.0.0.1", 5),
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "state": {},
        "extensions": {},
    }


def posting(body, **more):
    """Return the headers of a POST of ours."""
    found = {"origin": f"http://{HOST}", "x-alphazero": "1", "content-type": "application/json"}
    found |= {"content-length": str(len(body))} | {name.replace("_", "-"): value for name, value in more.items()}
    return [(name, value) for name, value in found.items() if value is not None]


class Client:
    """A browser of one application. `close` closes the connections of answers that are still coming."""

    def __init__(self, app):
        self.app = app

    async def get(self, path, **more):
        """Return the answer to a GET; path: with its query."""
        place, _, query = path.partition("?")
        return await self.ask(scope_of(place, query=query, **more), b"")

    async def post(self, path, values, **more):
        """Return the answer to a POST; values: for JSON, or bytes."""
        body = values if isinstance(values, bytes) else json.dumps(values).encode()
        return await self.ask(scope_of(path, "POST", headers=posting(body, **more)), body)

    async def ask(self, scope, body):
        """Return the answer to a request."""
        sent, given = [], [{"type": "http.request", "body": body, "more_body": False}]
        waits = asyncio.Event()

        async def receive():
            if given:
                return given.pop(0)
            await waits.wait()  # the connection stays open

        async def send(message):
            sent.append(message)

        await self.app(scope, receive, send)
        return _answer(sent)

    @asynccontextmanager
    async def stream(self, scope, body=b""):
        """Yield the messages of an answer as they come (a queue); leaving the block closes the connection."""
        messages, gone = asyncio.Queue(), asyncio.Event()
        given = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive():
            if given:
                return given.pop(0)
            await gone.wait()
            return {"type": "http.disconnect"}

        task = asyncio.ensure_future(self.app(scope, receive, messages.put))
        try:
            yield messages
        finally:
            gone.set()
            await asyncio.wait_for(task, 60)


def _answer(sent):
    head = sent[0]
    body = b"".join(message.get("body", b"") for message in sent[1:])
    return Answer(head["status"], dict(head["headers"]), body)
