"""How long the page takes, cold and warm, and what its server holds: `python benchmarks/page.py`, as JSON.

    python benchmarks/page.py                # cold and warm starts, changes of game
    python benchmarks/page.py --load         # also the memory over 300 games and 200 open pages

Cold is a server with an empty folder of compiled code. Seconds are from the start of the process to the whole answer:
the first screen, and a game's page with rules, network and search, by which the browser plays at once (its own second
is measured by benchmarks/browser.py). Processor time is that of the server's process by then: on a busy machine it is
what the seconds would be on an idle one.
"""

from __future__ import annotations

import argparse
import http.cookiejar
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any

MAIN = Path(__file__).parent.parent / "main.py"
GAMES = "gomoku-size-15", "othello", "hex-size-9", "go-komi-7-size-9", "tictactoe"
"""The games that are changed to; gomoku-size-15 stands for `gomoku(size=15)`."""


class Server:
    """A server, and a browser without scripts that has its cookie."""

    def __init__(self, kept: str) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.began = time.perf_counter()
        command = [sys.executable, str(MAIN), "serve", "--no-open", "--port", str(port)]
        environment = {**os.environ, "NUMBA_CACHE_DIR": kept, "ALPHAZERO_RUNS": f"{kept}/runs"}
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        assert self.process.stdout is not None  # noqa: S101
        self.address = re.findall(r"http://\S+", self.process.stdout.readline())[0]
        self.place = self.address.split("/?")[0]
        jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self._opener = urllib.request.build_opener(jar)

    def read(self, path: str, values: dict[str, Any] | None = None) -> bytes:
        """Return the whole answer to a GET, or to a POST of values."""
        with self.open(path, values) as answer:
            return bytes(answer.read())

    def open(self, path: str, values: dict[str, Any] | None = None, **more: str) -> Any:
        """Return an answer to read."""
        headers = {"X-AlphaZero": "1", "Origin": self.place, "Content-Type": "application/json", **more}
        body = None if values is None else json.dumps(values).encode()
        request = urllib.request.Request(path if ":" in path else self.place + path, body, headers if body else {})
        return self._opener.open(request, timeout=600)

    def seconds(self) -> dict[str, float]:
        """Return the seconds since the start, and those of its processor."""
        words = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        work = (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
        return {"seconds": round(time.perf_counter() - self.began, 2), "processor": round(work, 2)}

    def megabytes(self) -> float:
        """Return the memory that the server holds."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return round(int(re.findall(r"VmRSS:\s+([0-9]+)", status)[0]) / 1024, 1)

    def end(self) -> None:
        """End the server."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)


def start(kept: str) -> tuple[Server, dict[str, Any]]:
    """Return (a server, how long its first screen and its first game took)."""
    server = Server(kept)
    server.read(server.address)
    found: dict[str, Any] = {"page": server.seconds()}
    tiles = json.loads(server.read("/api/home"))["groups"][0]["tiles"]
    found["tiles"] = server.seconds()
    found["bytes"] = len(server.read(tiles[0]["url"]))
    found["game"] = server.seconds()
    return server, found


def changes(server: Server) -> dict[str, dict[str, float]]:
    """Return how long the first page of each further game took."""
    found = {}
    for name in GAMES:
        before, began = server.seconds(), time.perf_counter()
        server.read(f"/play/{name}")
        work = server.seconds()["processor"] - before["processor"]
        found[name] = {"seconds": round(time.perf_counter() - began, 2), "processor": round(work, 2)}
    return found


def load(server: Server) -> dict[str, Any]:
    """Return the server's memory before, and after 300 games played by it and 200 pages open at once."""

    def game(number: int) -> None:
        moves: list[int] = []
        while len(moves) < 9:
            given = {"game": "tictactoe", "moves": moves, "player": "random"}
            with server.open("/api/move", given, **{"X-Tab": f"tab{number % 200}"}) as answer:
                end = json.loads(answer.read().splitlines()[-1])
            if "action" not in end or end["action"] is None:
                break
            moves.append(end["action"])

    for number in range(10):
        game(number)
    found: dict[str, Any] = {"at first": server.megabytes()}
    for number in range(300):
        game(number)
    found["after 300 games"] = server.megabytes()
    pages = [server.open("/api/events?name=") for _ in range(200)]
    for page in pages:
        page.readline()
    found["200 pages open"] = server.megabytes()
    try:
        server.open("/api/events?name=")
        found["one more"] = "let in"
    except urllib.error.HTTPError as error:
        found["one more"] = error.code
    answers: list[float] = []
    threads = [threading.Thread(target=lambda: answers.append(_timed(server))) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found["a tile's answer meanwhile, s"] = round(sorted(answers)[len(answers) // 2], 2)
    for page in pages:
        page.close()
    for spec in [f"gomoku(size={size})" for size in range(7, 16)] + ["othello", "hex(size=9)", "go", "connect4"]:
        server.read(f"/play/{spec}")
    found["after 13 games' pages"] = server.megabytes()
    return found


def _timed(server: Server) -> float:
    began = time.perf_counter()
    server.read("/api/home")
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--load", action="store_true", help="also the memory over many games and pages")
    with_load = parser.parse_args().load
    found: dict[str, Any] = {"load": round(os.getloadavg()[0], 1)}
    with tempfile.TemporaryDirectory() as kept:
        for name in ("cold", "warm"):
            server, found[name] = start(kept)
            if name == "cold":
                found["change of game"] = changes(server)
            elif with_load:
                found["megabytes"] = load(server)
            server.end()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
