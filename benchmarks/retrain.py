"""Train a network from zero on the games of a finished run and ask it solved positions: what settings of learning give.

    python benchmarks/retrain.py run/connect4/run0001 --steps 3000 --set value_from_search=0 --set value_lambda=0.95

The rate warms up over 100 steps and falls to zero along a cosine. The settings are those of the `laptop` preset, with
room for two million positions, but for --set; the run is only read. Prints one line of JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
from solved_shares import POSITIONS, measured

import games
from evaluation.solved_positions import oracle, positions
from initialise import Session
from loggers import Console
from memory import Batch
from storage.run_folders import read_config
from storage.run_store import Store
from training.presets import preset

WARMUP = 100


def setting(text: str) -> tuple[str, object]:
    """Return (name, value) of name=value; a value that is not JSON is a word."""
    name, _, value = text.partition("=")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--set", type=setting, action="append", default=[], metavar="NAME=VALUE")
    options = parser.parse_args()
    name = read_config(options.run).game
    c = preset("laptop", **{"game": name, "memory_size": 2_000_000, **dict(options.set)})
    game = games.make(name)
    who = oracle(game)
    if who is None:
        sys.exit(f"expected a run of a game that is solved, got one of {name}")
    store = Store(options.run / "run.db", read_only=True)
    with tempfile.TemporaryDirectory() as folder, Session.start(c, root=Path(folder), console=Console(quiet=True)) as s:
        for iteration in range(1, store.iterations_done() + 1):
            s.memory.extend(store.games_of(iteration))

        def sample(step: int) -> Batch:
            rng = np.random.default_rng([c.seed, 1, step])
            return s.memory.sample(
                c.batch_size, rng, value_from_search=c.value_from_search, duplicate_weight=c.duplicate_weight
            )

        def rate(step: int) -> float:
            fall = 0.5 * (1 + float(np.cos(np.pi * step / options.steps)))
            return c.learning_rate * min(1.0, (step + 1) / WARMUP) * fall

        began = time.perf_counter()
        losses = s.agent(0, name="current_player", role="current").replay(sample, options.steps, rate=rate)
        seconds = time.perf_counter() - began
        with s.store.transaction("retrain"):
            s.save_version(1, 1, losses)
        shares = measured(s, positions(game, who, POSITIONS, 0), who.bands)
        changed = dict(options.set)
        line = {**changed, "steps": options.steps, "positions": len(s.memory), **shares, **losses, "seconds": seconds}
        print(json.dumps(line, default=str))


if __name__ == "__main__":
    main()
