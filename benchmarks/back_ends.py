"""Compare Keras's back ends: positions learned, evaluations and self-play a second, in turns in one run.

    python benchmarks/back_ends.py --back-ends tensorflow jax torch --rounds 3

Each turn is a process of its own. Self-play's evaluations are those of the back end's compiled function here
(`--backend keras`); on a CPU a run's self-play uses OpenVINO under any back end.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

BATCH, STEPS = 256, 40


def learned(game_name: str) -> float:
    """Return the positions learned a second by `fit`, in batches of random positions made before."""
    from training_steps import random_batch

    import games
    from model import make_network
    from training.presets import preset

    game = games.make(game_name)
    model = make_network(preset("laptop", game=game_name, batch_size=BATCH), game)
    batch = random_batch(game, BATCH)
    model.fit(lambda _: batch, 4)  # compiles
    began = time.perf_counter()
    model.fit(lambda _: batch, STEPS)
    return BATCH * STEPS / (time.perf_counter() - began)


def one(game_name: str, seconds: float) -> dict[str, float]:
    """Return the rates of the back end of this process."""
    from training.bench import bench
    from training.presets import preset

    found = bench(preset("laptop", game=game_name, backend="keras"), seconds=seconds)
    names = "raw_evals_per_s", "selfplay_evals_per_s", "share"
    return {"learned_per_s": learned(game_name), **{name: found[name] for name in names}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--back-ends", nargs="+", default=["tensorflow", "jax", "torch"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--game", default="connect4")
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(one(args.game, args.seconds)))
        return
    found: dict[str, list[dict[str, float]]] = {}
    for _ in range(args.rounds):
        for name in args.back_ends:
            command = [sys.executable, __file__, "--one", "--game", args.game, "--seconds", str(args.seconds)]
            done = subprocess.run(
                command, env={**os.environ, "KERAS_BACKEND": name}, stdout=subprocess.PIPE, text=True, check=True
            )
            found.setdefault(name, []).append(json.loads(done.stdout.splitlines()[-1]))
            print(name, found[name][-1], flush=True)
    for name, rounds in found.items():
        print(f"{name:<12}" + ", ".join(
            f"{key} {statistics.median(each[key] for each in rounds):,.3g}" for key in rounds[0]
        ))  # fmt: skip


if __name__ == "__main__":
    main()
