"""Conversations with our engines in this process: all lines at once, or one after the other through a pipe."""

import io
import json
import os
import queue
import threading

import games
from plugins.engines import analysis, gomocup, gtp
from plugins.engines.analysis_results import Analysis
from plugins.engines.gomocup_session import Session as GomocupSession
from plugins.engines.gtp_session import Session as GtpSession
from plugins.engines.serving import PlayerSource


def gtp_server(source, target, *, game="go", player="random", sims=8, seed=0, **options):
    def load(server):
        return GtpSession(PlayerSource(player, sims=sims, seed=seed), games.make(game), server, **options)

    return gtp.Server(source, target, game, load, "")


def gomocup_server(source, target, *, game="gomoku", player="random", sims=8, seed=0):
    def load(server):
        return GomocupSession(PlayerSource(player, sims=sims, seed=seed), games.make(game), server)

    return gomocup.Server(source, target, load)


def analysis_server(source, target, *, game="go", player="shipped", visits=8, count=4):
    def load(server):
        source = PlayerSource(player, sims=visits)
        return Analysis(source, games.make(game).longer(), server, visits=visits, count=count)

    return analysis.Server(source, target, load)


def told_gtp(*lines, **options):
    """Send lines at once; return the answers, each without its empty line."""
    target = io.BytesIO()
    gtp_server(io.BytesIO("".join(f"{line}\n" for line in lines).encode()), target, **options).serve()
    text = target.getvalue().decode()
    assert text == "" or text.endswith("\n\n")
    return text.split("\n\n")[:-1]


def told_gomocup(*lines, **options):
    """Send lines at once; return the lines of the answers."""
    target = io.BytesIO()
    gomocup_server(io.BytesIO("".join(f"{line}\r\n" for line in lines).encode()), target, **options).serve()
    text = target.getvalue().decode()
    assert text == "" or text.endswith("\r\n")
    return text.split("\r\n")[:-1]


def told_analysis(*queries, **options):
    """Send objects, or lines as they are, at once; return the objects of the answers."""
    target = io.BytesIO()
    lines = [query if isinstance(query, str) else json.dumps(query) for query in queries]
    analysis_server(io.BytesIO("".join(f"{line}\n" for line in lines).encode()), target, **options).serve()
    return [json.loads(line) for line in target.getvalue().decode().splitlines()]


class Live:
    """A server in a thread, to be talked to line by line."""

    def __init__(self, make, **options):
        ends = os.pipe(), os.pipe()
        self._to, self._from = open(ends[0][1], "wb", buffering=0), open(ends[1][0], "rb")
        self._source, self._target = open(ends[0][0], "rb"), open(ends[1][1], "wb", buffering=0)
        self._lines = queue.Queue()
        self._server = make(self._source, self._target, **options)
        self._threads = [threading.Thread(target=run, daemon=True) for run in (self._serve, self._read)]
        for thread in self._threads:
            thread.start()

    def _serve(self):
        try:
            self._server.serve()
        finally:
            self._target.close()

    def _read(self):
        for line in self._from:
            self._lines.put(line.decode().rstrip("\r\n"))
        self._lines.put(None)

    def send(self, line):
        self._to.write(f"{line}\n".encode())

    def line(self):
        """Return the next line, None at the end."""
        return self._lines.get(timeout=600)

    def answer(self):
        """Return the lines up to an empty one."""
        lines = []
        while line := self.line():
            lines.append(line)
        return lines

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._to.close()
        for thread in self._threads:
            thread.join(600)
        self._source.close()
        self._from.close()
