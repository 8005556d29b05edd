"""Who lacks the token can neither fill the page's server nor keep the owner out: endless requests, half requests."""

import asyncio
import re
import socket
import threading
import urllib.request
from contextlib import closing, contextmanager
from functools import partial
from http.client import HTTPResponse
from pathlib import Path
from types import SimpleNamespace

import pytest

from plugins.page.request_guard import Guard
from plugins.page.tests.page_server import opened
from support.systems import needs_posix

uvicorn = pytest.importorskip("uvicorn")
from plugins.page.connection_limits import LimitedHTTP, Strangers  # noqa: E402

SAFETY = 600.0
"""Seconds after which a test that waits for the server gives up; a passing test waits for events only."""
MOST = 32 << 20
"""More bytes than the buffers of two sockets hold."""
HALF = b"GET / HTTP/1.1\r\nHost: "
COOKIE = "Cookie: alphazero-PORT=secret\r\n"
ASK = "GET / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n"


def asking(port, *, token=True):
    """Return a whole request, with the cookie that holds the token or without."""
    return (ASK + (COOKIE if token else "") + "\r\n").replace("PORT", str(port)).encode()


async def page(scope, receive, send):
    """A page of a few bytes; a POST is answered by how many bytes came."""
    body = b""
    while scope["method"] == "POST":
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    text = b"page" if scope["method"] == "GET" else str(len(body)).encode()
    head = [(b"content-length", str(len(text)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": head})
    await send({"type": "http.response.body", "body": text})


@contextmanager
def served(*, strangers=8, head_seconds=3600.0, head_bytes=4096):
    """Serve `page` with small limits; yield its port."""
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    guard = Guard(page, hosts=[f"127.0.0.1:{port}"], token="secret", port=port)
    limited = partial(LimitedHTTP, Strangers(guard.knows, strangers), head_seconds)
    config = uvicorn.Config(
        guard, http=limited, ws="none", lifespan="off", log_level="critical", h11_max_incomplete_event_size=head_bytes
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        yield port
    finally:
        server.should_exit = server.force_exit = True
        thread.join(SAFETY)
        assert not thread.is_alive()


def connected(port, data=b""):
    client = socket.create_connection(("127.0.0.1", port), timeout=SAFETY)
    client.sendall(data)
    return client


def loads(port, token="secret"):
    """Return whether the page comes for who has the token."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}/", headers={"Cookie": f"alphazero-{port}={token}"})
    with urllib.request.urlopen(request, timeout=SAFETY) as answer:
        return answer.status == 200 and len(answer.read()) > 0


def ended(client):
    """Wait until the server has closed a connection; return what it had sent."""
    got = b""
    try:
        while part := client.recv(65536):
            got += part
    except ConnectionError:
        pass
    return got


def answered(client):
    """Read one answer of a connection that stays open; return (status, body)."""
    response = HTTPResponse(client)
    response.begin()
    return response.status, response.read()


def refused(port, start, part):
    """Send `start` and `part` for ever; return whether the server closed the connection."""
    with closing(connected(port, start)) as client:
        try:
            for _ in range(MOST // len(part)):
                client.sendall(part)
        except ConnectionError:
            return True
    return False


POST = (
    "POST /api/move HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nOrigin: http://127.0.0.1:PORT\r\nX-AlphaZero: 1\r\n"
    f"Content-Type: application/json\r\n{COOKIE}"
)


@pytest.mark.parametrize(
    "start, part",
    [
        (HALF.decode() + "x\r\n", b"X-Name: " + b"a" * 4000 + b"\r\n"),
        (HALF.decode() + "x\r\nX-Name: ", b"a" * 4000),
        ("GET /", b"a" * 4000),
        (ASK + COOKIE + "Content-Length: 999999999\r\n\r\n", b"a" * 4000),
        (POST + "Content-Length: 999999999\r\n\r\n", b"a" * 4000),
        (POST + "Transfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n" * 700),
        (POST + "Transfer-Encoding: chunked\r\n\r\n1;", b"a" * 4000),
        (ASK + COOKIE + "Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n", b"a" * 4000),
    ],
)
def test_an_endless_request_is_cut_off(start, part):
    with served() as port:
        assert refused(port, start.replace("PORT", str(port)).encode(), part)
        assert loads(port)


def test_a_body_of_the_length_that_it_said_is_read_whole():
    with served() as port, closing(connected(port)) as client:
        client.sendall((POST + "Content-Length: 300000\r\n\r\n").replace("PORT", str(port)).encode() + b"a" * 300_000)
        assert answered(client) == (200, b"300000")


def test_the_newest_half_requests_stay_and_the_owner_gets_in():
    with served(strangers=8) as port:
        clients = [connected(port, HALF) for _ in range(40)]
        assert loads(port)
        assert [ended(client) for client in clients[:32]] == [b""] * 32, "closed without an answer"
        clients[-1].sendall(f"127.0.0.1:{port}\r\n\r\n".encode())
        assert b" 403 " in ended(clients[-1]).splitlines()[0], "still open, without the token"
        for client in clients:
            client.close()


def test_who_has_shown_the_token_is_not_closed_for_others():
    with served(strangers=8) as port:
        owner = connected(port, asking(port))
        assert answered(owner)[0] == 200
        strangers = [connected(port, HALF) for _ in range(40)]
        assert [ended(client) for client in strangers[:32]] == [b""] * 32
        owner.sendall(asking(port))
        assert answered(owner)[0] == 200
        for client in (owner, *strangers):
            client.close()


def test_whole_requests_without_the_token_are_refused_and_closed():
    with served(strangers=8) as port:
        clients = [connected(port, asking(port, token=False)) for _ in range(40)]
        answers = [ended(client) for client in clients]
        assert all(answer == b"" or b" 403 " in answer.splitlines()[0] for answer in answers) and any(answers)
        assert loads(port)
        for client in clients:
            client.close()


def test_the_seconds_for_a_head_count_from_its_start_and_end_with_it():
    """With a clock of the test's own: a request that is half sent, on a new connection and on one that was kept."""
    timers = []

    class Clock:
        def __init__(self, loop):
            self.create_task = loop.create_task

        def call_later(self, seconds, call, *_):
            timers.append(SimpleNamespace(seconds=seconds, call=call, cancel=lambda: timers.remove(timer)))
            timer = timers[-1]
            return timer

    def waiting():
        return [timer.call() for timer in timers if timer.seconds == 7.0]

    async def script():
        said = []
        transport = SimpleNamespace(
            get_extra_info=lambda name, default=None: None, write=said.append, close=lambda: None,
            is_closing=lambda: False, abort=lambda: "closed", pause_reading=lambda: None, resume_reading=lambda: None,
        )  # fmt: skip
        config = uvicorn.Config(page, lifespan="off", log_level="critical")
        config.load()
        state = SimpleNamespace(connections=set(), tasks=set(), default_headers=[], total_requests=0)
        strangers = Strangers(lambda scope: False)
        client = LimitedHTTP(
            strangers, 7.0, config=config, server_state=state, app_state={}, _loop=Clock(asyncio.get_running_loop())
        )
        client.connection_made(transport)
        assert waiting() == ["closed"], "nothing was sent"
        client.data_received(HALF)
        client.data_received(b"x\r\n")
        assert waiting() == ["closed"], "more of the head does not give it more time"
        client.data_received(b"\r\n")
        assert waiting() == []
        await asyncio.gather(*state.tasks)
        assert b"page" in b"".join(said) and waiting() == []
        client.data_received(HALF)
        assert waiting() == ["closed"], "half a request on a connection that was kept"
        client.connection_lost(None)
        assert timers == []

    asyncio.run(script())


@needs_posix
def test_the_whole_page_survives_floods_and_half_requests():
    server, address = opened(files=256)
    try:
        port = int(re.findall(r":([0-9]+)/", address)[0])
        token = address.rpartition("=")[2]
        assert loads(port, token)
        status = Path(f"/proc/{server.pid}/status")

        def used():
            return int(re.findall(r"VmRSS:\s+([0-9]+)", status.read_text())[0]) >> 10 if status.exists() else 0

        before = used()
        assert refused(port, HALF + b"x\r\n", b"X-Name: " + b"a" * 60_000 + b"\r\n")
        assert refused(port, b"GET /", b"a" * 60_000)
        clients = [connected(port, HALF) for _ in range(400)]
        assert loads(port, token) and used() - before < 50
        for client in clients:
            client.close()
    finally:
        server.terminate()
        server.wait(SAFETY)
        server.stdout.close()
