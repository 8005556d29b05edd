"""Memory and processor time of large search trees, with a network that costs next to nothing.

    python benchmarks/tree_memory.py
    python benchmarks/tree_memory.py connect4 limit --checkout ../old

Each case is searched in a process of its own. peak: the most memory that the process has had; trees: its growth since
the tables were made. `--checkout` is a git worktree of another commit, which may not know every case.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np


class Case(NamedTuple):
    """A search to measure."""

    game: str
    sims: int
    """Visits for which the tree has room."""
    visits: int
    """Visits after which the search is stopped."""
    mebibytes: int | None = None
    """Memory limit of the tree."""
    logged: bool = False
    """Whether each simulation is logged, as by `explain --trace`."""


CASES = {
    "few": Case("gomoku(size=15)", 100_000, 80),
    "logged": Case("gomoku(size=15)", 100_000, 80, logged=True),
    "connect4": Case("connect4", 1_000_000, 1_000_000),
    "gomoku": Case("gomoku(size=15)", 1_000_000, 1_000_000, 5000),
    "go": Case("go(size=19)", 1_000_000, 80, 5000),
    "limit": Case("connect4", 1_000_000, 1_000_000, 64),
}


def projection(inputs: int, actions: int) -> Any:
    """Return a network of one random matrix, so that a search has better and worse moves."""
    weights = np.random.default_rng(0).normal(scale=0.5, size=(inputs, 1 + actions)).astype(np.float32)

    def answer(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = planes.reshape(len(planes), -1).astype(np.float32) @ weights
        return np.tanh(0.3 * found[:, 0]), np.ascontiguousarray(found[:, 1:])

    return answer


def peak() -> float:
    """Return the most memory that this process has had, in MiB."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 2**20 if sys.platform == "darwin" else most / 2**10


def measured(case: Case) -> dict[str, Any]:
    """Search a case in this process."""
    import games
    from agent import Agent
    from config import SearchSettings
    from search.trace import SearchLog

    game = games.make(case.game)
    network = projection(int(np.prod(game.input_shape)), game.action_size)
    log = logging.getLogger("tree_memory")
    log.addHandler(logging.NullHandler())
    log.setLevel(logging.INFO)
    log.propagate = False
    options: dict[str, Any] = {"observer": SearchLog(log)} if case.logged else {}
    if case.mebibytes is not None:
        options["tree_bytes"] = case.mebibytes * 2**20
    Agent("warm", game, network, SearchSettings(), mcts_sims=9, **options).think(game.start())  # compiles and loads
    agent = Agent("large", game, network, SearchSettings(), mcts_sims=case.sims, **options)
    before, began = peak(), time.process_time()
    agent.think(game.start(), stop=lambda: agent.MCTS is not None and agent.MCTS.root.visits >= case.visits)
    seconds, tree = time.process_time() - began, agent.MCTS
    if tree is None:
        raise RuntimeError("expected a tree")
    return {
        "visits": tree.root.visits,
        "positions": len(tree),
        "dropped": tree.dropped() if hasattr(tree, "dropped") else 0,
        "trees": peak() - before,
        "peak": peak(),
        "seconds": seconds,
        "moves": np.argsort(-tree.visit_counts())[:3].tolist(),
        "value": tree.root.Q,
    }


def run() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", choices=[[], *CASES], help="by default all")
    parser.add_argument("--checkout", type=Path, default=Path(__file__).parent.parent)
    parser.add_argument("--here", action="store_true", help="search in this process and print JSON")
    args = parser.parse_args()
    checkout = str(args.checkout.resolve())
    if args.here:
        sys.path.insert(0, checkout)
        print(json.dumps(measured(CASES[args.cases[0]])))
        return 0
    print(f"{'case':<9} {'game':<15} {'room for':>9} {'limit':>6} {'visits':>9} {'positions':>9} {'dropped':>9} "
          f"{'trees MiB':>9} {'peak MiB':>8} {'CPU s':>6}  best moves, value")  # fmt: skip
    for name in args.cases or CASES:
        case = CASES[name]
        command = [sys.executable, __file__, name, "--here", "--checkout", checkout]
        alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # threads that wait would count as processor time
        done = subprocess.run(command, capture_output=True, text=True, cwd=checkout, env=alone)
        if done.returncode:
            print(f"{name:<9} {case.game:<15} {case.sims:>9,}  {done.stderr.strip().splitlines()[-1]}", flush=True)
            continue
        found = json.loads(done.stdout)
        limit = case.mebibytes or ""
        print(f"{name:<9} {case.game:<15} {case.sims:>9,} {limit:>6} {found['visits']:>9,} {found['positions']:>9,} "
              f"{found['dropped']:>9,} {found['trees']:>9,.0f} {found['peak']:>8,.0f} {found['seconds']:>6.1f}  "
              f"{' '.join(map(str, found['moves']))}, {found['value']:+.3f}", flush=True)  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(run())
