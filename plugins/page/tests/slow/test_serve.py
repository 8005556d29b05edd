"""The server as a user starts it: its address, its cookie in a browser's way, its end; a training with its figures."""

import http.cookiejar
import json
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

from plugins.page.tests.page_server import free_port, opened
from support.systems import needs_posix

pytest.importorskip("uvicorn")
SAFETY = 600
"""Seconds after which a test that waits for the server gives up."""


class Browser:
    """A browser without scripts: it keeps cookies and follows answers that lead elsewhere."""

    def __init__(self, address):
        self.place = address.split("/?token=")[0]
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))

    def open(self, path, values=None):
        """Return the answer to a GET, or to a POST of values."""
        headers = {"X-AlphaZero": "1", "Origin": self.place, "Content-Type": "application/json"}
        body = None if values is None else json.dumps(values).encode()
        address = path if path.startswith("http") else self.place + path
        request = urllib.request.Request(address, body, headers if body is not None else {})
        return self._opener.open(request, timeout=SAFETY)

    def read(self, path, values=None):
        with self.open(path, values) as answer:
            return json.loads(answer.read())


@contextmanager
def serving(*options):
    server, address = opened(*options)
    try:
        yield server, address
    finally:
        server.kill()
        server.wait(SAFETY)
        server.stdout.close()


def test_a_browser_opens_the_address_and_keeps_what_it_needs():
    with serving("--allow-host", "page.example") as (server, address):
        token = address.rpartition("=")[2]
        assert server.stdout.readline() == f"also page.example/?token={token}\n"
        browser, stranger = Browser(address), Browser(address)
        with browser.open(address) as answer:
            assert answer.status == 200 and answer.url == f"{browser.place}/" and token.encode() not in answer.read()
        tiles = browser.read("/api/home")["groups"][0]["tiles"]
        with browser.open(tiles[0]["url"]) as answer:
            page = answer.read()
            assert answer.status == 200 and b'id="wasm"' in page and len(page) > 300_000
        with browser.open("/api/search", {"game": "tictactoe", "moves": [4], "sims": 50}) as answer:
            end = json.loads(answer.read().splitlines()[-1])
        assert sum(end["opinion"]["visits"]) == 49 or end["opinion"]["sims"] == 50
        for path, values in (("/", None), ("/api/home", None), ("/api/stop", {"game": "tictactoe"})):
            with pytest.raises(urllib.error.HTTPError) as refused:
                stranger.open(path, values)
            with refused.value as answer:
                assert answer.code == 403 and token.encode() not in answer.read()
        server.send_signal(signal.SIGINT)
        assert server.wait(SAFETY) in (0, 130)


@needs_posix
def test_ctrl_c_that_the_parent_ignores_ends_no_server():
    """As in the background of a script; a request to end does, and a terminal that is closed."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server inherits it
    try:
        server, address = opened()
    finally:
        signal.signal(signal.SIGINT, before)
    try:
        browser = Browser(address)
        for _ in range(2):
            server.send_signal(signal.SIGINT)
            with browser.open(address) as answer:
                assert answer.status == 200
        server.terminate()
        assert server.wait(SAFETY) in (0, -signal.SIGTERM)
    finally:
        server.kill()
        server.stdout.close()
    with serving() as (server, _):
        server.send_signal(signal.SIGHUP)
        assert server.wait(SAFETY) in (0, 130), "what it trains is stopped"


def test_what_answers_first_imports_nothing_slow():
    script = (
        "import sys\nimport plugins.page.commands.serve, plugins.page.app, plugins.page.interface\n"
        "import plugins.page.connection_limits, plugins.page.request_guard\n"
        "print([m for m in ('numba', 'tensorflow', 'keras', 'openvino', 'matplotlib', 'games') if m in sys.modules])"
    )
    place = Path(__file__).parents[4]
    done = subprocess.run([sys.executable, "-c", script], cwd=place, capture_output=True, text=True, timeout=SAFETY)
    assert done.stdout.strip() == "[]", done.stderr


def test_the_browser_is_told_the_address_by_a_file_of_the_owner():
    from plugins.page.app import doorway, outward

    door = doorway("http://127.0.0.1:8080/?token=secret")
    try:
        assert door.stat().st_mode & 0o777 == 0o600 and "url=http://127.0.0.1:8080/?token=secret" in door.read_text()
    finally:
        door.unlink()
    assert re.fullmatch(r"[0-9]+(\.[0-9]+){3}", outward())


# ---- a training


@pytest.fixture
def training_server(tmp_path):
    """A server with no runs, whose trainings are small and long."""
    program = Path(__file__).parents[1] / "run_page.py"
    port = free_port()
    options = ["--no-open", "--game", "tictactoe", "--port", str(port)]
    command = [sys.executable, str(program), str(tmp_path), "serve", *options]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield server, re.findall(r"http://\S+", server.stdout.readline())[0], tmp_path
    finally:
        server.kill()
        server.wait(SAFETY)
        server.stdout.close()


def figures(answer):
    """Yield the events of a stream as (kind, values)."""
    kind = ""
    for line in answer:
        text = line.decode().rstrip("\n")
        if text.startswith("event: "):
            kind = text[7:]
        elif text.startswith("data: "):
            yield kind, json.loads(text[6:])


@needs_posix
def test_a_training_shows_a_new_figure_each_second_from_its_start_and_ends_with_the_server(training_server):
    server, address, runs = training_server
    browser = Browser(address)
    with browser.open(address) as answer:
        answer.read()
    with browser.open("/api/events?name=tictactoe/run0001") as answer:
        events = figures(answer)
        assert next(events) == ("runs", {"runs": []})
        started = {"game": "tictactoe", "preset": "tiny", "minutes": None, "resume": None}
        assert browser.read("/api/train", started) == {"ok": True}
        with pytest.raises(urllib.error.HTTPError) as refused:
            browser.open("/api/train", started)
        with refused.value as said:
            assert said.code == 409 and "is being trained already" in json.loads(said.read())["error"]
        seen, words, iterations = [], set(), 0
        while iterations < 2:
            kind, values = next(events)
            if kind == "standing":
                assert values["words"] not in words or values["minutes"] > seen[-1]["minutes"], "something is new"
                seen.append(values)
                words.add(values["words"])
            iterations += kind == "iteration"
            listed = values["runs"] if kind == "runs" else []
            assert all(one["mine"] and one["game"] == "tictactoe" for one in listed)
    starting = [one for one in seen if not one["name"]]
    working = [one for one in seen if one["name"] == "tictactoe/run0001"]
    assert starting and "starting" in starting[0]["words"] and working and working[-1]["iteration"] >= 2
    assert [one["minutes"] for one in working] == sorted(one["minutes"] for one in working)
    one = browser.read("/api/run?name=tictactoe/run0001")
    assert one["standing"]["process"] and one["standing"]["iteration"] >= 2 and one["newest"]["moves"]
    training = browser.read("/api/home")["training"]
    assert [(each["name"], each["spec"]) for each in training] == [("tictactoe/run0001", "tictactoe")]
    process = one["standing"]["process"]
    server.send_signal(signal.SIGINT)
    assert server.wait(SAFETY) in (0, 130)
    assert not Path(f"/proc/{process}").exists() or Path(f"/proc/{process}/stat").read_text().split()[2] == "Z"
    from plugins.page.run_reader import standing

    left = standing(runs / "tictactoe" / "run0001")
    assert left.process is None and not left.finished and left.iteration >= one["standing"]["iteration"]
