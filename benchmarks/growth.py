"""Growth of a long run: memory, time and file sizes after each tenth of the iterations, and per thousand games.

    python benchmarks/growth.py [--iterations 200] [--workers 0]

The settings are those of the preset tiny (tic-tac-toe, 256 games an iteration) with a tournament every 10 iterations.
Rates are slopes of a straight line through the second half, when the memory's window is full.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))
COLUMNS = ("iteration", "games", "RSS MiB", "s an iteration", "run.db KiB", "models KiB", "logs KiB", "metrics KiB")


def resident():
    """Return this process's memory in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def size(path):
    """Return KiB of a file with its companions, or of a folder."""
    files = [p for p in path.rglob("*") if p.is_file()] if path.is_dir() else list(path.parent.glob(path.name + "*"))
    return sum(p.stat().st_size for p in files) / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--iterations", type=int, default=200)
    parser.add_argument("--workers", type=int, default=0)
    args = parser.parse_args()
    from config import preset
    from initialise import Session
    from loggers import Console
    from main import train

    config, lines = preset("tiny", iterations=args.iterations, workers=args.workers), []
    with (
        tempfile.TemporaryDirectory() as root,
        Session.start(config, root=Path(root), console=Console(quiet=True)) as session,
    ):
        began, folder = time.perf_counter(), session.folder

        def look(line):
            nonlocal began
            now = time.perf_counter()
            files = [size(folder / name) for name in ("run.db", "models", "logs", "metrics.jsonl")]
            lines.append((line["iteration"], session.store.count_games(), resident(), now - began, *files))
            began = now

        train(session, on_iteration=look)
    table = np.array(lines)
    print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|")
    for part in np.array_split(table, 10):
        last = [f"{x:,.0f}" for x in part[-1]]
        print("| " + " | ".join([*last[:3], f"{part[:, 3].mean():.2f}", *last[4:]]) + " |")
    half = table[len(table) // 2 :]
    for name, column in zip(COLUMNS[2:], half.T[2:], strict=True):
        an_iteration, a_game = np.polyfit(half[:, 0], column, 1)[0], np.polyfit(half[:, 1], column, 1)[0]
        print(f"{name}: {an_iteration:+.4f} an iteration, {1000 * a_game:+.4f} per 1,000 games")


if __name__ == "__main__":
    main()
