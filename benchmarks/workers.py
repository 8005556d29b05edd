"""Speed of self-play by threads of one process and by worker processes, with the network of the preset laptop.

    python benchmarks/workers.py [--seconds 30] [--crews 0,1,2]

Each way plays Connect 4 for that long after its start; ratios are to threads (0 workers). Start-up is told apart.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))


def measure(root, workers, seconds):
    """Return (seconds until the first game, simulations/s, evaluations/s, mean batch fill) once games come."""
    from config import preset
    from initialise import Session
    from loggers import Console

    config = preset("laptop", workers=workers)
    with Session.start(config, root=root, console=Console(quiet=True)) as session:
        pool, began, first = session.pool, time.perf_counter(), None
        stop = lambda: first is not None and time.perf_counter() - first[0] > seconds  # noqa: E731
        for _ in pool.play(session.order(0), range(100_000), stop=stop):
            if first is None:
                first = time.perf_counter(), pool.counts()
            last = time.perf_counter(), pool.counts()
            if stop():
                break
        spent = last[0] - first[0]
        done = {
            name: getattr(last[1], name) - getattr(first[1], name) for name in ("simulations", "evaluations", "batches")
        }
        fill = done["evaluations"] / max(done["batches"] * last[1].room, 1)
        return first[0] - began, done["simulations"] / spent, done["evaluations"] / spent, fill


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--crews", default="0,1,2,0,1,2")
    args = parser.parse_args()
    found = {}
    for workers in map(int, args.crews.split(",")):
        with tempfile.TemporaryDirectory() as root:
            found.setdefault(workers, []).append(measure(Path(root), workers, args.seconds))
            print(workers, *(f"{x:,.2f}" for x in found[workers][-1]), flush=True)
    base = max(sims for _, sims, _, _ in found.get(0, next(iter(found.values()))))
    print("\n| workers | first game after s | simulations/s | evaluations/s | batch fill | ratio |")
    print("|---" * 6 + "|")
    for workers, lines in found.items():
        start, sims, evaluations, fill = max(lines, key=lambda line: line[1])
        print(f"| {workers} | {start:.1f} | {sims:,.0f} | {evaluations:,.0f} | {fill:.2f} | {sims / base:.2f} |")


if __name__ == "__main__":
    main()
