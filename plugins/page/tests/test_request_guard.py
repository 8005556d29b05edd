"""Who may ask the server: hosts, origins, the token in address and cookie, methods, headers and bodies."""

import asyncio
import re

import pytest

from config import UserError
from plugins.page.request_guard import BODY_BYTES, HEADERS, POLICY, SHORT_BYTES, Guard, allowed_names, names_of
from plugins.page.tests.asgi_client import HOST, PORT, TOKEN, Client, posting, scope_of


async def application(scope, receive, send):
    """Answer everything, so that what is refused was refused before it."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"inside"})


def guarded(**more):
    return Guard(application, hosts=[HOST, "localhost:8080"], token=TOKEN, port=PORT, **more)


def ask(path="/", *, guard=None, body=b"", **more):
    """Return the answer to a request; the status is 200 where the application was reached."""
    place, _, query = path.partition("?")
    return asyncio.run(Client(guard or guarded()).ask(scope_of(place, query=query, **more), body))


def headers(**named):
    return [(name.replace("_", "-"), value) for name, value in named.items()]


def post(path="/api/move", *, body=b"{}", token=TOKEN, **changed):
    return ask(path, method="POST", token=token, headers=posting(body, **changed), body=body)


# ---- the token


def test_the_address_with_the_token_gives_a_cookie_and_leads_to_itself_without_it():
    answer = ask("/play/connect4?game=a%26b&player=x", cookie=False)
    assert answer.status == 303 and answer.headers[b"location"] == b"/play/connect4?game=a%26b&player=x"
    cookie = answer.headers[b"set-cookie"].decode()
    assert cookie == f"alphazero-{PORT}={TOKEN}; HttpOnly; SameSite=Lax; Path=/"
    assert answer.headers[b"cache-control"] == b"no-store" and answer.headers[b"referrer-policy"] == b"no-referrer"
    assert TOKEN.encode() not in answer.body and TOKEN.encode() not in answer.headers[b"location"]
    assert ask("/play/connect4", host="localhost:8080").status == 200, "the cookie is enough"


@pytest.mark.parametrize("path", ["//evil.example/", "/\\evil.example", "/a\r\nx: y"])
def test_nobody_is_led_elsewhere_by_the_token(path):
    answer = ask(path, cookie=False)
    place = answer.headers.get(b"location", b"/")
    assert answer.status in (303, 403) and re.match(rb"/(?![/\\])", place) and b"\n" not in place


@pytest.mark.parametrize("token", [None, "", "secre", "secrets", "SECRET", "é"])
def test_without_the_token_nothing_opens(token):
    for path in ("/", "/play/connect4", "/api/home", "/favicon.ico", "/anything"):
        for cookie in (True, False):
            answer = ask(path, token=token, cookie=cookie)
            assert answer.status == 403 and answer.headers[b"connection"] == b"close" and answer.body != b"inside"
    assert post(token=token).status == 403


def test_two_tokens_in_an_address_are_none():
    assert ask(f"/?token={TOKEN}", token="other", cookie=False).status == 403
    assert ask("/api/home", cookie=False).status == 403, "the interface needs the cookie"


@pytest.mark.parametrize("name", ["alphazero-8081", "alphazero", "xalphazero-8080", "alphazero-8080 "])
def test_the_cookie_of_another_server_is_none(name):
    scope = scope_of("/", token=None, headers=[("cookie", f"{name}x={TOKEN}")])
    assert asyncio.run(Client(guarded()).ask(scope, b"")).status == 403


# ---- places


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8080",
        "127.0.0.1",
        "127.0.0.1:80",
        "localhost:8081",
        "127.0.0.1:8080.evil.example",
        "evil.example@127.0.0.1:8080",
        "",
        None,
    ],
)
def test_another_host_name_is_refused_so_that_rebinding_a_name_gains_nothing(host):
    assert ask(host=host).status == 421


@pytest.mark.parametrize("second", [HOST, "evil.example"])
def test_there_is_exactly_one_host(second):
    assert ask(headers=headers(host=second)).status == 421


def test_the_address_that_was_connected_to_is_ours():
    there = ("192.168.1.5", 8080)
    assert ask(host="192.168.1.5:8080", server=there).status == 200
    assert ask(host="192.168.1.6:8080", server=there).status == ask(host="192.168.1.5:8080").status == 421
    assert ask(host="192.168.1.5:8080", server=there, headers=headers(origin="http://evil.example")).status == 403


def test_at_http_s_own_port_browsers_leave_it_out():
    assert names_of("Here", 80) == {"here:80", "here"} and names_of("here", 8080) == {"here:8080"}
    assert ask(host="127.0.0.1", server=("127.0.0.1", 80), headers=headers(origin="http://127.0.0.1")).status == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:8080", "http://127.0.0.1",
                                    "http://127.0.0.1:8080.evil.example", "http://localhost:9", ""])
def test_a_page_from_elsewhere_reads_nothing_and_changes_nothing(origin):
    assert ask("/api/home", headers=headers(origin=origin)).status == 403
    assert post(origin=origin).status == 403
    assert post(origin=f"http://{HOST}").status == 200 and post(origin=None).status == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_page_from_elsewhere_may_link_here_but_not_fetch_or_frame(site):
    def fetched(path="/", **named):
        return ask(path, headers=headers(sec_fetch_site=site, **named)).status

    assert fetched(sec_fetch_mode="no-cors") == fetched(sec_fetch_mode="cors") == 403
    assert fetched(sec_fetch_mode="navigate", sec_fetch_dest="document") == 200
    assert fetched("/play/hex", sec_fetch_mode="navigate") == 200
    assert fetched(sec_fetch_mode="navigate", sec_fetch_dest="iframe") == 403
    assert fetched("/api/home", sec_fetch_mode="navigate", sec_fetch_dest="document") == 403
    assert post(sec_fetch_site=site, sec_fetch_mode="navigate").status == 403


def test_a_name_in_front_of_the_server_is_let_in_only_with_the_option_and_the_refusal_names_it():
    name = "page.example:9000"
    assert b"python main.py serve --allow-host page.example:9000" in ask(host=name).body
    for host in (name, "PAGE.example:9000"):
        assert ask(host=host, guard=guarded(allowed=[name])).status == 200
    for scheme in ("http", "https"):
        for host in (name, HOST):  # a proxy may put our own name into Host
            given = headers(origin=f"{scheme}://{name}")
            assert ask(host=host, guard=guarded(allowed=[name]), headers=given).status == 200
    assert ask(host=name, guard=guarded(allowed=[name]), token=None).status == 403
    for other in ("page.example", "page.example:9001", "other.page.example:9000", "page.example:9000.evil.example"):
        assert ask(host=other, guard=guarded(allowed=[name])).status == 421
    assert ask(host="<b>evil</b>").body == b"this server does not answer for that host name"


def test_who_has_the_token_is_shown_once_which_option_lets_his_proxy_in():
    said = []
    guard = guarded(say=said.append)
    for _ in range(2):
        assert ask(guard=guard, headers=headers(origin="https://page.example")).status == 403
        assert ask(guard=guard, host="page.example:9").status == 421
        assert ask(guard=guard, headers=headers(origin="https://other.example"), token="wrong").status == 403
    assert [re.findall(r"--allow-host (\S+)", line) for line in said] == [["page.example"], ["page.example:9"]]


@pytest.mark.parametrize("place", ["", "a b", "http://a", "a:b", "a:123456", "[1::2", "a/b"])
def test_what_is_no_place_is_refused(place):
    with pytest.raises(UserError, match="allow_host: expected NAME or NAME:PORT"):
        allowed_names(place, 8080)


def test_a_place_without_a_port_stands_for_the_usual_ones():
    assert allowed_names("Page.example", 81) == {"page.example", "page.example:81"}
    assert allowed_names("page.example:443", 81) == {"page.example", "page.example:443"}
    assert allowed_names("[::1]:9000", 81) == {"[::1]:9000"}


# ---- methods, headers, bodies


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT"])
def test_other_methods_are_refused(method):
    assert ask("/api/home", method=method).status == 405


def test_only_the_interface_is_posted_to():
    for path in ("/", "/play/connect4", "/apix"):
        assert post(path).status == 405


@pytest.mark.parametrize("site", [None, "1.0", "0", "11", "true"])
def test_a_form_of_another_place_cannot_send_our_header(site):
    """What HTML sends without a question first: these types, and no header of ours."""
    assert post(x_alphazero=site).status == 403
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=a", "", None):
        assert post(x_alphazero=site, content_type=kind).status == 403
        assert post(content_type=kind).status == 415


@pytest.mark.parametrize(
    "body", [{"content_length": "1"}, {"content_length": "0, 5"}, {"transfer_encoding": "chunked"}]
)
def test_a_question_has_no_body_and_a_refusal_closes_the_connection(body):
    answer = ask(headers=headers(**body))
    assert answer.status == 413 and answer.headers[b"connection"] == b"close"
    assert ask(headers=headers(content_length="0")).status == 200


def test_a_refusal_has_the_form_of_the_interface_below_api_and_is_text_elsewhere():
    for answer in ask("/api/runs", token=None), post("/api/search", x_alphazero=None):
        assert answer.status == 403 and answer.headers[b"content-type"] == b"application/json" and answer.error
    page = ask("/", token=None)
    assert page.status == 403 and page.headers[b"content-type"].startswith(b"text/plain") and b"token" in page.body


def test_a_body_says_its_length_and_is_limited():
    assert post(content_length=None).status == post(content_length="x").status == 411
    assert post(transfer_encoding="chunked").status == post(content_length="-1").status == 411
    assert post(content_length=str(BODY_BYTES)).status == 200
    assert post(content_length=str(BODY_BYTES + 1)).status == post(content_length="9" * 9).status == 413
    assert post("/api/train", content_length=str(SHORT_BYTES + 1)).status == 413


def test_no_socket_opens():
    sent = []

    async def script():
        scope = scope_of("/", headers=headers(origin=f"http://{HOST}")) | {"type": "websocket"}
        await guarded()(scope, None, lambda message: _kept(sent, message))

    asyncio.run(script())
    assert [message["type"] for message in sent] == ["websocket.close"]


async def _kept(sent, message):
    sent.append(message)


def test_each_answer_forbids_what_it_does_not_need():
    for answer in (ask(), ask(token=None), ask(host="evil.example"), post()):
        assert dict(HEADERS).items() <= answer.headers.items()
        assert answer.headers[b"content-security-policy"] == POLICY.encode()
        assert answer.headers[b"cache-control"] == b"no-store"
