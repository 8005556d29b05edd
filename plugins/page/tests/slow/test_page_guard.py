"""Who may ask the page: hosts, origins, tokens, methods; and that nothing heavy is imported before it answers."""

import asyncio
import re
import signal
import socket as sockets
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from config import UserError
from plugins.page.request_guard import HEADERS, Guard, allowed_names, names_of
from plugins.page.tests.page_server import opened

HOST = "127.0.0.1:8080"
SOCKET = "/_nicegui_ws/socket.io/"


def ask(
    path="/", *, token="secret", host=HOST, method="GET", kind="http", hosts=None, server=None, answer=200, allowed=(),
    guard=None, **headers,
):  # fmt: skip
    """Return (status, headers of the answer); the status is `answer` where the application was reached."""
    sent = []

    async def application(scope, receive, send):
        await send({"type": "http.response.start", "status": answer, "headers": []})
        await send({"type": "http.response.body", "body": b"inside"})

    async def send(message):
        sent.append(message)

    named = [(b"host", name.encode()) for name in ([host] if hosts is None else hosts)]
    named += [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    query = f"token={token}".encode() if token is not None else b""
    scope = {"type": kind, "method": method, "path": path, "query_string": query, "headers": named}
    scope["server"] = server
    if guard is None:
        guard = Guard(application, hosts=[HOST, "localhost:8080"], token="secret", allowed=allowed)
    asyncio.run(guard(scope, None, send))
    ask.bodies = [message["body"] for message in sent[1:]]
    return sent[0].get("status", sent[0].get("code")), dict(sent[0].get("headers", []))


def socket(**headers):
    return ask(SOCKET, kind="websocket", **headers)[0]


def test_the_page_opens_for_who_has_the_token_and_loads_nothing_from_elsewhere():
    status, headers = ask()
    assert status == 200
    assert headers == dict(HEADERS)
    assert b"default-src 'self'" in headers[b"content-security-policy"]
    assert ask(host="localhost:8080")[0] == 200


@pytest.mark.parametrize("token", [None, "", "secre", "secrets", "SECRET", "secret&token=other", "é"])
def test_without_the_token_it_does_not_open(token):
    assert ask(token=token)[0] == 403
    assert ask(SOCKET, token=token, kind="websocket", origin=f"http://{HOST}")[0] == 1008


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8080", "127.0.0.1", "127.0.0.1:80", "localhost:8081",
                                  "127.0.0.1:8080.evil.example", "evil.example@127.0.0.1:8080", ""])  # fmt: skip
def test_another_host_name_is_refused_so_that_rebinding_a_name_gains_nothing(host):
    assert ask(host=host)[0] == 421
    assert socket(host=host, origin=f"http://{host}") == 1008


@pytest.mark.parametrize("hosts", [[], [HOST, HOST], [HOST, "evil.example"]])
def test_there_is_exactly_one_host(hosts):
    assert ask(hosts=hosts)[0] == 421


def test_the_address_that_was_connected_to_is_ours():
    there = ("192.168.1.5", 8080)
    assert ask(host="192.168.1.5:8080", server=there)[0] == 200
    assert socket(host="192.168.1.5:8080", origin="http://192.168.1.5:8080", server=there) == 200
    assert ask(host="192.168.1.6:8080", server=there)[0] == 421
    assert ask(host="192.168.1.5:8080")[0] == ask(host="evil.example:8080", server=there)[0] == 421
    assert socket(host="192.168.1.5:8080", origin="http://evil.example:8080", server=there) == 1008


def test_at_http_s_own_port_browsers_leave_it_out():
    assert names_of("Here", 80) == {"here:80", "here"} and names_of("here", 8080) == {"here:8080"}
    assert ask(host="127.0.0.1", server=("127.0.0.1", 80), origin="http://127.0.0.1")[0] == 200


def test_a_browser_is_told_the_address_by_a_file_of_ones_own():
    from plugins.page.app import doorway, outward

    door = doorway("http://127.0.0.1:8080/?token=secret")
    try:
        assert door.stat().st_mode & 0o777 == 0o600 and "url=http://127.0.0.1:8080/?token=secret" in door.read_text()
    finally:
        door.unlink()
    assert re.fullmatch(r"[0-9]+(\.[0-9]+){3}", outward())


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:8080", "http://127.0.0.1",
                                    "http://127.0.0.1:8080.evil.example", "http://localhost:9", ""])  # fmt: skip
def test_a_page_from_elsewhere_opens_no_socket(origin):
    assert socket(origin=origin) == 1008
    assert ask(origin=origin)[0] == 403


def test_a_socket_needs_an_origin_and_our_own_is_let_through():
    assert socket() == 1008
    assert socket(origin=f"http://{HOST}") == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_page_from_elsewhere_may_link_here_but_not_fetch(site):
    assert ask(sec_fetch_site=site, sec_fetch_mode="no-cors")[0] == 403
    assert ask("/_nicegui/3.0/static/library.js", sec_fetch_site=site, sec_fetch_mode="cors")[0] == 403
    assert ask(sec_fetch_site=site, sec_fetch_mode="navigate")[0] == 200
    assert ask(sec_fetch_site=site, sec_fetch_mode="navigate", token=None)[0] == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
def test_nothing_is_sent_but_questions(method):
    assert ask(method=method)[0] == 405
    assert ask(SOCKET, method=method, origin=f"http://{HOST}")[0] == 405


@pytest.mark.parametrize(
    "body", [{"content_length": "1"}, {"content_length": "0, 5"}, {"transfer_encoding": "chunked"}]
)
def test_a_question_has_no_body_and_a_refusal_closes_the_connection(body):
    status, headers = ask(**body)
    assert status == 413 and headers[b"connection"] == b"close"
    assert ask(content_length="0")[0] == 200
    assert ask(token=None)[1][b"connection"] == ask(method="POST", **body)[1][b"connection"] == b"close"


def test_a_name_in_front_of_the_server_is_let_in_only_with_the_option_and_the_refusal_names_it():
    name = "page.example:9000"
    assert ask(host=name)[0] == 421
    assert b"python main.py serve --allow-host page.example:9000" in ask.bodies[0]
    for host in (name, "PAGE.example:9000"):
        assert ask(host=host, allowed=[name])[0] == 200
    for scheme in ("http", "https"):
        assert socket(host=name, allowed=[name], origin=f"{scheme}://{name}") == 200
        assert socket(allowed=[name], origin=f"{scheme}://{name}") == 200, "a proxy may put our own name into Host"
    assert ask(host=name, allowed=[name], token=None)[0] == 403
    assert ask(host=HOST, allowed=[name], origin=f"https://{HOST}")[0] == 403
    for other in ("page.example", "page.example:9001", "other.page.example:9000", "page.example:9000.evil.example"):
        assert ask(host=other, allowed=[name])[0] == 421
        assert socket(host=name, allowed=[name], origin=f"https://{other}") == 1008
    assert ask(host="<b>evil</b>")[0] == 421 and ask.bodies == [b"this server does not answer for that host name"]


def test_who_has_the_token_is_shown_once_which_option_lets_his_proxy_in():
    said = []
    guard = Guard(None, hosts=[HOST], token="secret", say=said.append)
    for _ in range(2):
        assert socket(origin="https://page.example", guard=guard) == 1008
        assert ask(host="page.example:9", guard=guard)[0] == 421
        assert socket(origin="https://other.example", token="wrong", guard=guard) == 1008
        assert socket(origin="null", guard=guard) == 1008
    assert [text.rpartition(" ")[2] for text in said] == ["page.example", "page.example:9"]


def test_a_name_without_a_port_stands_for_those_that_browsers_leave_out_and_for_the_servers_own():
    assert allowed_names("Page.example", 8080) == {"page.example", "page.example:8080"}
    assert allowed_names("page.example:9000", 8080) == {"page.example:9000"}
    assert allowed_names("page.example:443", 8080) == {"page.example", "page.example:443"}
    assert allowed_names("[::1]:9000", 8080) == {"[::1]:9000"}
    for wrong in ("https://page.example", "page.example/", "a b", "", "*", "page:x", "page:", "p\n"):
        with pytest.raises(UserError, match="allow_host: expected NAME or NAME:PORT"):
            allowed_names(wrong, 8080)


def test_files_of_the_page_need_no_token_and_other_paths_do():
    for path in ("static/a.js", "libraries/a/b.js", "components/c.js", "resources/k/r.css", "esm/k/e.js",
                 "dynamic_resources/d"):  # fmt: skip
        assert ask(f"/_nicegui/3.0/{path}", token=None)[0] == 200 and ask.bodies == [b"inside"]
    assert ask("/favicon.ico", token=None)[0] == 200
    for path in ("/_nicegui_ws/socket.io/", "/anything", "/_nicegui/", "/_nicegui/nothing", "/_nicegui/3.0/nothing",
                 "/_nicegui/3.0/static/", "/_nicegui/3.0/static/a\nb", "/_nicegui/../x", "/_nicegui/3.0/static/a\n",
                 "/_nicegui/3.0/dynamic_resources/a/b", "/_nicegui/3.0/resources/a"):  # fmt: skip
        assert ask(path, token=None)[0] == 403, path


@pytest.mark.parametrize("answer", [206, 304, 301, 307, 400, 404, 500])
def test_without_the_token_no_answer_tells_more_than_that_there_is_no_such_file(answer):
    asked = "/_nicegui/3.0/static/library.js"
    found = answer in (206, 304)
    assert ask(asked, token=None, answer=answer)[0] == answer
    assert ask.bodies == [b"inside" if found else b"there is no such file"]
    assert ask(asked, answer=answer)[0] == answer and ask.bodies == [b"inside"]


def test_what_answers_first_imports_nothing_slow():
    script = (
        "import sys\nsys.argv = ['main.py']\nimport plugins.page.commands.serve, plugins.page.app\n"
        "import plugins.page.request_guard\n"
        "from nicegui import ui\n"
        "print([m for m in ('numba', 'tensorflow', 'keras', 'openvino', 'matplotlib') if m in sys.modules])"
    )
    pytest.importorskip("nicegui")
    place = Path(__file__).parents[4]
    done = subprocess.run([sys.executable, "-c", script], cwd=place, capture_output=True, text=True, timeout=900)
    assert done.stdout.strip() == "[]", done.stderr


def test_what_is_hidden_cannot_be_imported_and_can_be_again_afterwards():
    import json.tool  # noqa: F401

    from plugins.page.app import hidden

    sys.modules.pop("this", None)
    with hidden("this", "json.tool"):
        with pytest.raises(ImportError):
            __import__("this")
        __import__("json.tool")  # what is loaded stays
    assert "this" not in sys.modules and "json.tool" in sys.modules
    with pytest.raises(ZeroDivisionError), hidden("this"):
        raise ZeroDivisionError
    assert "this" not in sys.modules


def test_a_page_behind_a_proxy_with_tls_opens_its_socket_under_the_name_that_was_allowed():
    server, address = opened("--allow-host", "page.example")
    try:
        token = address.rpartition("=")[2]
        assert server.stdout.readline() == f"also page.example/?token={token}\n"
        for host, answer in (("page.example", b"101"), ("page2.example", b"403")):
            with sockets.create_connection(("127.0.0.1", int(re.findall(r":([0-9]+)/", address)[0])), 60) as client:
                client.sendall(
                    f"GET {SOCKET}?EIO=4&transport=websocket&token={token} HTTP/1.1\r\nHost: {host}\r\n"
                    f"Origin: https://{host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".encode()
                )
                assert client.recv(65536).split()[1] == answer
    finally:
        server.terminate()
        server.wait(600)
        server.stdout.close()


def test_the_address_is_told_when_the_page_answers():
    server, address = opened()
    try:
        with urllib.request.urlopen(address, timeout=600) as answer:
            page = answer.read()
            assert answer.status == 200 and b"nicegui" in page
        place, token = address.split("/?token=")
        files = re.findall(r'(?:href|src)="(/_nicegui/[^"]+)"', page.decode())
        with urllib.request.urlopen(place + files[0], timeout=600) as answer:
            assert answer.status == 200 and len(files) > 3
        version = files[0].split("/")[2]
        for path in ("nothing", "", f"{version}/nothing", f"{version}/static/nothing", f"{version}/libraries/a%0Ab",
                     f"{version}/static/a%0Ab", f"{version}/resources/a", f"{version}/dynamic_resources/a/b", "../x",
                     f"{version}/esm/a/b", f"{version}/components/nothing", f"{version}/static"):  # fmt: skip
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(f"{place}/_nicegui/{path}", timeout=600)
            with refused.value as answer:
                body = answer.read()
            assert answer.code in (307, 400, 403, 404) and len(body) < 200 and token.encode() not in body, path
    finally:
        server.send_signal(signal.SIGINT)
        assert server.wait(600) in (0, 130)
        server.stdout.close()


def test_ctrl_c_that_the_parent_ignores_ends_no_page():
    """As in the background of a script; a request to end does."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # the page inherits it
    try:
        server, address = opened()
    finally:
        signal.signal(signal.SIGINT, before)
    try:
        for _ in range(3):
            server.send_signal(signal.SIGINT)
            with urllib.request.urlopen(address, timeout=600) as answer:
                assert answer.status == 200
        server.terminate()
        assert server.wait(600) in (0, -signal.SIGTERM)
    finally:
        server.kill()
        server.stdout.close()


def test_a_terminal_that_is_closed_ends_the_page_in_order():
    server, _ = opened()
    server.send_signal(signal.SIGHUP)
    try:
        assert server.wait(600) in (0, 130), "what it trains is stopped"
    finally:
        server.kill()
        server.stdout.close()
