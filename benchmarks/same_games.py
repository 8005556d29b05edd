"""Show that two commits play and learn the same: short runs of several games, their games, networks and digests.

    python benchmarks/same_games.py record OLD.json --checkout ../old --keep OLD_RUNS
    python benchmarks/same_games.py record NEW.json
    python benchmarks/same_games.py compare OLD.json NEW.json
    python benchmarks/same_games.py record RESUMED.json --resume OLD_RUNS

`--checkout` is a git worktree of the older commit, whose runs `--keep` keeps; with `--resume` they continue here.
A record holds, for each run, the digest that `verify` prints, a digest of every stored game and one of each network's
arrays, and for shipped players what a seeded search returns. Only commands are used, so any commit can be recorded.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

SMALL = (
    "--iterations 3 --episodes 40 --mcts-sims 24 --fast-sims 8 --full-search-share 0.5 --grow-sims 2 "
    "--games-in-flight 32 --min-memory 100 --training-loops 8 --batch-size 64 --eval-every 2 --eval-episodes 8 "
    "--eval-sims 8 --opening-plies 2 --score-positions 20 --score-sims 4 --score-games 2 --warmup-steps 4 "
    "--hidden-cnn-layers 16x3 16x3 16x3"
).split()
TINY = "--preset tiny --iterations 4 --eval-every 2 --eval-episodes 12 --score-every 2 --episodes 96".split()
RUNS: dict[str, list[str]] = {
    "tictactoe seed 0": ["--game", "tictactoe", "--seed", "0", *TINY],
    "tictactoe seed 1": ["--game", "tictactoe", "--seed", "1", *TINY],
    "connect4": ["--game", "connect4", *SMALL],
    "connect4 gumbel": ["--game", "connect4(rows=5,columns=5)", *SMALL, "--gumbel", "8"],
    "connect4 workers": ["--game", "connect4(rows=4,columns=5)", *SMALL, "--workers", "2", "--forced-playouts", "2"],
    "gomoku 9x9": ["--game", "gomoku", *SMALL, "--root-temperature", "1.2"],
    "go 5x5": ["--game", "go", *SMALL],
    "othello 6x6": ["--game", "othello(size=6)", *SMALL],
}
SEARCHES = {
    "connect4 shipped": ["explain", "--player", "shipped", "--moves", "4453", "--sims", "300", "--json"],
    "gomoku shipped": ["explain", "--player", "shipped", "--game", "gomoku", "--sims", "200", "--json"],
    "othello shipped": ["explain", "--player", "shipped", "--game", "othello", "--sims", "200", "--json"],
    "connect4 match": ["match", "shipped", "rollout:200", "--games", "6", "--json"],
    "go match": ["match", "rollout:50", "alphabeta:2", "--game", "go", "--games", "4", "--json"],
}
TIMES = ("seconds", "per_s", "_ms", "elapsed")


def main_py(checkout: Path, runs: Path, arguments: list[str]) -> str:
    """Run `python main.py` of a checkout with its runs in a folder; return what it printed."""
    environment = {**os.environ, "ALPHAZERO_RUNS": str(runs), "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        [sys.executable, "main.py", *arguments], cwd=checkout, env=environment, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"main.py {' '.join(arguments)}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done.stdout


def facts(folder: Path, checkout: Path, runs: Path, game: str) -> dict[str, Any]:
    """Return the digests of a run: what `verify` says, its games and match games, and each network."""
    state = json.loads(main_py(checkout, runs, ["verify", "--game", game, "--json"]))
    database = sqlite3.connect(f"file:{folder / 'run.db'}?mode=ro", uri=True)
    games, networks = hashlib.sha256(), {}
    for table in ("games", "matches"):
        for row in database.execute(f"SELECT * FROM {table} ORDER BY iteration, idx"):
            games.update(repr(row).encode())
    database.close()
    for path in sorted((folder / "models").glob("version*.npz")):
        digest = hashlib.sha256()
        with np.load(path, allow_pickle=False) as arrays:
            for name in sorted(arrays.files):
                digest.update(name.encode() + arrays[name].tobytes())
        networks[path.name] = digest.hexdigest()
    return {"state": state["state"], "damage": state["damage"], "games": games.hexdigest(), "networks": networks}


def timeless(value: Any) -> Any:
    """Return a JSON value without what depends on the machine's speed; numbers have twelve digits."""
    if isinstance(value, dict):
        return {k: timeless(v) for k, v in value.items() if not str(k).endswith(TIMES)}
    if isinstance(value, float):
        return float(f"{value:.12g}")
    return [timeless(v) for v in value] if isinstance(value, list) else value


def record(checkout: Path, resume: Path | None, keep: Path | None) -> dict[str, Any]:
    """Make every run of RUNS, or continue those of another commit for an iteration; return their facts."""
    found: dict[str, Any] = {}
    base = keep or Path(tempfile.mkdtemp(prefix="same_games_"))
    for name, arguments in RUNS.items():
        runs, game = base / name.replace(" ", "_"), arguments[1]
        if resume is None:
            main_py(checkout, runs, ["train", "--new", "--json", *arguments])
        else:
            shutil.copytree(resume / runs.name, runs)
            main_py(checkout, runs, ["train", "--json", "--run", "1", "--game", game, "--iterations", "5"])
        (folder,) = runs.glob("*/run0001")
        found[name] = facts(folder, checkout, runs, game)
        print(f"{name}: {found[name]['state'][:16]}", flush=True)
    if resume is None:
        for name, arguments in SEARCHES.items():
            said = main_py(checkout, base, arguments)
            found[name] = timeless([json.loads(line) for line in said.splitlines() if line.startswith("{")] or said)
            print(name, flush=True)
    return found


def differences(a: dict[str, Any], b: dict[str, Any]) -> list[str]:
    """Return which entries of two records differ."""
    return [name for name in sorted({*a, *b}) if timeless(a.get(name)) != timeless(b.get(name))]


def run() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser("record")
    making.add_argument("output", type=Path)
    making.add_argument("--checkout", type=Path, default=Path(__file__).parent.parent)
    making.add_argument("--resume", type=Path, help="folder with runs of another commit, made with --keep")
    making.add_argument("--keep", type=Path, help="folder for the runs, kept for --resume")
    comparing = commands.add_parser("compare")
    comparing.add_argument("first", type=Path)
    comparing.add_argument("second", type=Path)
    args = parser.parse_args()
    if args.command == "record":
        args.output.write_text(json.dumps(record(args.checkout.resolve(), args.resume, args.keep), indent=1))
        return 0
    first, second = (json.loads(path.read_text()) for path in (args.first, args.second))
    differ = differences(first, second)
    for name in differ:
        print(f"differs: {name}\n  {json.dumps(first.get(name))[:400]}\n  {json.dumps(second.get(name))[:400]}")
    print(f"{len({*first, *second}) - len(differ)} equal, {len(differ)} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(run())
