"""Growth of a long run: memory, threads, open files, time and file sizes, an iteration and per thousand games.

    python benchmarks/growth.py [--iterations 600] [--workers 0]

Tic-tac-toe with a small network and 64 games an iteration, so that hundreds of iterations take minutes; every 10th has
a tournament and the scoreboard. A line of the table is a tenth of the run: the state at its end, the mean time. Rates
are slopes of a straight line through the second half, when the memory's window has long been full.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))
SETTINGS: dict[str, Any] = {
    "episodes": 64, "mcts_sims": 16, "fast_sims": 8, "games_in_flight": 64, "memory_size": 5000, "min_memory": 100,
    "batch_size": 64, "hidden_cnn_layers": ("16x3", "16x3"), "value_units": 16, "eval_episodes": 20,
    "score_every": 10, "score_positions": 50, "cache_size": 1 << 12,
}  # fmt: skip
COLUMNS = ("iteration", "games", "RSS MiB", "threads", "open files", "ms an iteration",
           "processor ms", "run.db KiB", "models KiB", "logs KiB", "metrics KiB")  # fmt: skip
TIMES = slice(5, 7)


def process() -> tuple[float, ...]:
    """Return this process's memory in MiB, its threads, its open files."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    of_process = [len(os.listdir(f"/proc/self/{what}")) for what in ("task", "fd")]
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20), *of_process


def clocks() -> np.ndarray:
    """Return seconds of the wall's clock and of the processors' for this process."""
    return np.array([time.perf_counter(), time.process_time()])


def size(path: Path) -> float:
    """Return KiB of a file with its companions, or of a folder."""
    files = [p for p in path.rglob("*") if p.is_file()] if path.is_dir() else list(path.parent.glob(path.name + "*"))
    return sum(p.stat().st_size for p in files) / 1024


def measure(iterations: int, workers: int) -> np.ndarray:
    """Return a row of `COLUMNS` for each iteration of a run."""
    from initialise import Session
    from loggers import Console
    from main import train
    from training.presets import preset

    config, rows = preset("tiny", iterations=iterations, workers=workers, **SETTINGS), []
    with (
        tempfile.TemporaryDirectory() as root,
        Session.start(config, root=Path(root), console=Console(quiet=True)) as session,
    ):
        began, folder = clocks(), session.folder

        def look(line: dict[str, Any]) -> None:
            nonlocal began
            spent = 1000 * (clocks() - began)
            files = [size(folder / name) for name in ("run.db", "models", "logs", "metrics.jsonl")]
            rows.append((line["iteration"], session.store.count_games(), *process(), *spent, *files))
            began = clocks()  # the looking does not count

        train(session, on_iteration=look)
    return np.array(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--iterations", type=int, default=600)
    parser.add_argument("--workers", type=int, default=0)
    args = parser.parse_args()
    rows = measure(args.iterations, args.workers)
    print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|")
    for part in np.array_split(rows, 10):
        shown = part[-1].copy()
        shown[TIMES] = part[:, TIMES].mean(axis=0)
        print("| " + " | ".join(f"{x:,.0f}" for x in shown) + " |")
    print("\n| in the second half | an iteration | per 1,000 games |\n|---|---|---|")
    half = rows[len(rows) // 2 :]
    for name, column in zip(COLUMNS[2:], half.T[2:], strict=True):
        an_iteration, a_game = (np.polyfit(half[:, k], column, 1)[0] for k in (0, 1))
        print(f"| {name} | {an_iteration:+.4f} | {1000 * a_game:+.3f} |")


if __name__ == "__main__":
    main()
