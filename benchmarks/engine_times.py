"""Measure the engines: the first answer after a start, what a move takes beyond its thinking time, analysis in time.

    python benchmarks/engine_times.py [--starts 5] [--moves 20] [--lines 40] [--interval 0.1]

A first start compiles; these are starts after it. Thinking time is what the engine gives itself of a move's limit
(clock.less_lag), so the overhead holds the pipe, the commands, the last batch of evaluations and the choice of a move.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np

from plugins.engines.clock import less_lag

MAIN = [sys.executable, str(Path(__file__).parent.parent / "main.py")]
QUERY = {"id": "a", "moves": [], "rules": "chinese", "komi": 2.5, "boardXSize": 5, "boardYSize": 5, "maxVisits": 10**8}
FIRST = {
    "gtp": ("name", "genmove b"), "gomocup": ("ABOUT", "START 9\nINFO timeout_turn 0\nBEGIN"),
    "analysis": ('{"id":"v","action":"query_version"}', json.dumps({**QUERY, "maxVisits": 8})),
}  # fmt: skip
"""{protocol: (a question that needs no player, one that needs it)}"""


class Talk:
    """An engine as a child."""

    def __init__(self, *words: str) -> None:
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            [*MAIN, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True, bufsize=1,
        )  # fmt: skip

    def send(self, line: str) -> None:
        if self.process.stdin is not None:
            self.process.stdin.write(f"{line}\n")

    def line(self) -> str:
        """Return the next line that is not empty."""
        while self.process.stdout is not None and (line := self.process.stdout.readline()):
            if line.strip():
                return line.strip()
        raise RuntimeError("the engine has ended")

    def end(self) -> None:
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.process.wait(60)


def spread(seconds: list[float]) -> str:
    """Return median and largest in milliseconds."""
    return f"median {1000 * float(np.median(seconds)):.1f} ms, largest {1000 * max(seconds):.1f} ms"


def starts(count: int) -> None:
    for protocol, (easy, whole) in FIRST.items():
        first, ready = [], []
        for _ in range(count):
            talk = Talk(protocol)
            talk.send(easy)
            talk.line()
            first.append(time.monotonic() - talk.began)
            talk.send(whole)
            talk.line()
            if protocol == "gomocup":
                talk.line()
            ready.append(time.monotonic() - talk.began)
            talk.end()
        print(f"{protocol}: first answer {spread(first)}; first move or result {spread(ready)}", flush=True)


def overhead(moves: int, seconds: float) -> None:
    talk = Talk("gtp", "--game", "gomoku")
    talk.send(f"time_settings 0 {seconds:g} 1")
    talk.line()
    found = []
    for _ in range(moves):
        talk.send("clear_board")
        talk.line()
        began = time.monotonic()
        talk.send("genmove b")
        talk.line()
        found.append(time.monotonic() - began - less_lag(seconds))
    talk.end()
    print(f"genmove beyond its thinking time of {less_lag(seconds):g} s: {spread(found)}", flush=True)


def intervals(lines: int, every: float) -> None:
    for command in ("lz-analyze", "kata-analyze"):
        talk = Talk("gtp")
        talk.send("name")
        talk.line()
        talk.send("genmove b")
        talk.line()
        talk.send(f"{command} w {round(100 * every)}")
        talk.line()  # =
        times = [time.monotonic()]
        for _ in range(lines):
            talk.line()
            times.append(time.monotonic())
        off = [abs(float(seconds) - every) for seconds in np.diff(times[1:])]
        print(f"{command}: {lines} lines, from the interval of {every:g} s they are off by {spread(off)}", flush=True)
        talk.send("quit")
        talk.end()
    talk = Talk("analysis")
    talk.send(json.dumps({**QUERY, "reportDuringSearchEvery": every}))
    times = []
    for _ in range(lines + 1):
        talk.line()
        times.append(time.monotonic())
    off = [abs(float(seconds) - every) for seconds in np.diff(times)]
    print(f"analysis: {lines} reports, from the interval of {every:g} s they are off by {spread(off)}", flush=True)
    talk.process.kill()
    talk.process.wait()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--moves", type=int, default=20)
    parser.add_argument("--lines", type=int, default=40)
    parser.add_argument("--interval", type=float, default=0.1)
    args = parser.parse_args()
    starts(args.starts)
    overhead(args.moves, 1.0)
    intervals(args.lines, args.interval)


if __name__ == "__main__":
    main()
