"""Speed of self-play by threads of one process and by worker processes, with the network of the preset laptop.

    python benchmarks/worker_pools.py [--seconds 30] [--workers 0,1,2,0,1,2] [--games 1024]

Each way plays Connect 4 for that long after its start, in turn; the best of each counts, ratios are to threads (0
workers). With --games in iterations of this size, each played to its last game, after a first one. Where other work
runs next to it, look at simulations per second of processor time, all processes together.
"""

import argparse
import itertools
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))


def processor_seconds(pids: list[int]) -> float:
    """Return the time that processes have used so far, user and system."""
    fields = [Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split() for pid in pids]
    return sum(int(f[11]) + int(f[12]) for f in fields) / os.sysconf("SC_CLK_TCK")


def measure(root: Path, workers: int, seconds: float, games: int) -> tuple[float, ...]:
    """Return (seconds until the first game, then simulations/s, evaluations/s, batch fill, simulations/processor s).

    With `games` the first iteration takes the place of the first game.
    """
    from initialise import Session
    from loggers import Console
    from training.presets import preset
    from training.work import source_of
    from training.worker_pool import WorkerPool
    from training.worker_process import ProcessHandle

    config = preset("laptop", workers=workers)
    with Session.start(config, root=root, console=Console(quiet=True)) as session:
        pool, began = source_of(session).pool, time.perf_counter()
        first: Any = None
        last: Any = None

        def now() -> tuple[float, Any, float]:
            places = pool._places if isinstance(pool, WorkerPool) else []
            pids = [p.handle.pid for p in places if isinstance(p.handle, ProcessHandle)]
            return time.perf_counter(), pool.counts(), processor_seconds([os.getpid(), *pids])

        def moments() -> Iterator[None]:
            """Play on and yield after each game, or after each iteration of `games`."""
            spec = source_of(session).spec(0)
            for iteration in itertools.count(1):
                for _ in pool.play(spec._replace(iteration=iteration), range(games or 100_000)):
                    if not games:
                        yield
                yield

        for _ in moments():
            first = first or now()
            if time.perf_counter() - first[0] > seconds:
                last = now()
                break
    names = "simulations", "evaluations", "batches"
    done = {name: getattr(last[1], name) - getattr(first[1], name) for name in names}
    spent, used, fill = last[0] - first[0], last[2] - first[2], done["batches"] * last[1].room
    rates = done["simulations"] / spent, done["evaluations"] / spent, done["evaluations"] / max(fill, 1)
    return first[0] - began, *rates, done["simulations"] / used


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--workers", default="0,1,2,0,1,2")
    parser.add_argument("--games", type=int, default=0, help="of an iteration, 0 = it has no end")
    args = parser.parse_args()
    found: dict[int, list[tuple[float, ...]]] = {}
    for workers in map(int, args.workers.split(",")):
        with tempfile.TemporaryDirectory() as root:
            found.setdefault(workers, []).append(measure(Path(root), workers, args.seconds, args.games))
            print(workers, *(f"{x:,.2f}" for x in found[workers][-1]), flush=True)
    best = {workers: np.max(lines, axis=0) for workers, lines in found.items()}
    base = best.get(0, next(iter(best.values())))
    print("\n| workers | first game after s | simulations/s | ratio | evaluations/s | batch fill | "
          "simulations a processor's second | ratio |\n" + "|---" * 8 + "|")  # fmt: skip
    for workers, (_, sims, evaluations, fill, per_second) in best.items():
        start = min(line[0] for line in found[workers])
        print(f"| {workers} | {start:.1f} | {sims:,.0f} | {sims / base[1]:.2f} | {evaluations:,.0f} | {fill:.2f} | "
              f"{per_second:,.0f} | {per_second / base[4]:.2f} |")  # fmt: skip


if __name__ == "__main__":
    main()
