"""Measure how long turns of `littlego` take on a busy machine, and the first ones with no compiled code at hand.

    python benchmarks/littlego_clock.py --turns 100 --busy 10
    python benchmarks/littlego_clock.py --turns 12 --cold

Every turn is a process of its own, as a host starts it, on a position of a random game. Its time is taken outside, from
the start of the process to its end.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parents[1]
sys.path.insert(0, str(HERE))

from plugins.littlego.rules import PASS, PLIES, Given, after, legal  # noqa: E402

BUSY = "import os, time\nend = time.monotonic() + 3600\nwhile time.monotonic() < end and os.getppid() != 1: pass"


def positions(count: int, rng: random.Random) -> Iterator[Given]:
    """Yield positions of random games."""
    while True:
        given = Given(1, (0,) * PASS, (0,) * PASS)
        for _ in range(PLIES):
            if count == 0:
                return
            yield given
            count -= 1
            action = rng.choice(legal(given)[:-1] or [PASS])
            given = Given(-given.player, given.board, after(given.board, action, given.player) or given.board)


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Keep `count` processes computing."""
    processes = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()


def turn(folder: Path, given: Given, seconds: float) -> tuple[float, str]:
    """Return (seconds that a turn took, its line)."""
    digits = "".join("012"[stone] for stone in (*given.before, *given.board))
    lines = [str(given.player % 3), *(digits[i : i + 5] for i in range(0, 50, 5))]
    (folder / "input.txt").write_text("\n".join(lines) + "\n")
    command = [sys.executable, str(HERE / "main.py"), "littlego", "--seconds", str(seconds)]
    began = time.monotonic()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return time.monotonic() - began, done.stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=100)
    parser.add_argument("--busy", type=int, default=0, help="processes that compute next to it")
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--cold", action="store_true", help="begin without compiled code")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, busy(args.busy):
        folder = Path(name)
        if args.cold:
            (folder / "compiled").mkdir(mode=0o700)
            os.environ["NUMBA_CACHE_DIR"] = str(folder / "compiled")
        times, by = [], Counter[str]()
        for number, given in enumerate(positions(args.turns, random.Random(0)), 1):
            spent, line = turn(folder, given, args.seconds)
            times.append(spent)
            by[line.partition("(")[2].split(" ")[0].rstrip(":),")] += 1
            print(f"{number:>4} {spent:6.2f} s, load {os.getloadavg()[0]:.1f}: {line}", flush=True)
        middle, longest = statistics.median(times), max(times)
        print(f"{len(times)} turns of {args.seconds:g} s: median {middle:.2f} s, longest {longest:.2f} s")
        print(", ".join(f"{count} by {who}" for who, count in by.most_common()))


if __name__ == "__main__":
    main()
