"""What each technique is worth on Connect 4 at equal compute: the same number of evaluations in self-play.

    python benchmarks/ablation.py OUT.jsonl [--evaluations 5e6] [--seeds 3] [--only NAME ...]

Each variant changes the base in one thing. A line of OUT is one run: the share of solved positions whose value its
move keeps (network alone, 100 and 400 simulations), training steps and processor time. Lines that are there already
are not run again, so that it can be stopped at any time (those of another base or number of evaluations do not count);
at the end it prints the table.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np

import games
from config import Config, to_json
from evaluation.move_accuracy import choose, choose_alone, measure, value_error
from evaluation.solved_positions import Solved, oracle, positions
from initialise import Session
from loggers import Console
from main import train

BASE: dict[str, Any] = {
    "iterations": 10**6, "episodes": 256, "eval_every": 10**6, "hidden_cnn_layers": ("32x3",) * 5,
    "learning_rate_schedule": "constant", "learning_rate": 0.001, "memory_size": 100_000,
    "mcts_sims": 100, "fast_sims": 25, "full_search_share": 0.25, "grow_sims": 0, "reuse": 4.0, "optimizer": "adamw",
    "score_every": 0, "score_games": 0, "endgame": 0, "duplicate_weight": "linear", "weight_decay": 1e-4,
    "ownership_weight": 0.0, "soft_policy_weight": 0.0,
}  # fmt: skip
VARIANTS: dict[str, dict[str, Any]] = {
    "base": {},
    "no proofs": {"proofs": False},
    "proofs without a look ahead": {"look_ahead": 0},
    "forced playouts, k = 2": {"forced_playouts": 2.0},
    "root temperature 1.25": {"root_temperature": 1.25},
    "duplicates by the logarithm of their number": {"duplicate_weight": "log"},
    "weight average 0.99": {"weight_average": 0.99},
    "every search in full": {"full_search_share": 1.0, "mcts_sims": 44},
    "every search in full, 24 simulations": {"full_search_share": 1.0, "mcts_sims": 24},
    "Gumbel, every search in full, 44 simulations": {"full_search_share": 1.0, "mcts_sims": 44, "gumbel": 16},
    "Gumbel, every search in full, 24 simulations": {"full_search_share": 1.0, "mcts_sims": 24, "gumbel": 16},
    "no value from the search": {"value_from_search": 0.0},
    "value half from the search": {"value_from_search": 0.5},
    "one ply of look ahead": {"look_ahead": 1},
    "lambda 0.9": {"value_from_search": 0.0, "value_lambda": 0.9},
    "lambda 0.97": {"value_from_search": 0.0, "value_lambda": 0.97},
    "no random openings": {"random_opening_share": 0.0},
    "random openings of up to 12 moves in half of the games": {
        "random_opening_plies": 12,
        "random_opening_share": 0.5,
    },
    "no temperature": {"turns_until_tau0": 0},
    "no temperature, all games from random openings": {"turns_until_tau0": 0, "random_opening_share": 1.0},
    "first search after random moves in full": {"full_after_opening": True},
    "muon": {"optimizer": "muon"},
    "half the rate": {"learning_rate": 0.0005},
    "twice the rate": {"learning_rate": 0.002},
    "each position used 8 times": {"reuse": 8.0},
    "each position used 16 times": {"reuse": 16.0},
    "unvisited moves count as 0": {"fpu_reduction": -1.0},
    "no evaluation cache": {"cache_size": 0},
    "50 simulations": {"mcts_sims": 50, "fast_sims": 12},
    "320 simulations": {"mcts_sims": 320, "fast_sims": 64},
    "global pooling": {"global_pooling": True},
    "batch normalisation": {"normalisation": "batch"},
}
POSITIONS = 3000


def trained(config: Config, evaluations: float, folder: Path) -> tuple[Session, dict[str, float]]:
    """Train until so many evaluations were made in self-play."""
    spent = {"evaluations": 0.0, "simulations": 0.0, "steps": 0, "games": 0}
    began = time.process_time()
    session = Session.start(config, root=folder, console=Console(quiet=True))

    def add(line: dict[str, Any]) -> None:
        spent["evaluations"] += line["self_play_evals_per_s"] * line["self_play_seconds"]
        spent["simulations"] += line["self_play_sims_per_s"] * line["self_play_seconds"]
        spent["steps"] += line.get("retrain_steps", 0)
        spent["games"] += line["self_play_games"]

    train(session, stop=lambda: spent["evaluations"] >= evaluations, on_iteration=add)
    return session, {**spent, "processor_seconds": time.process_time() - began}


def measured(session: Session, found: list[Solved], bands: tuple[int, ...]) -> dict[str, float]:
    """Return the share of positions whose value is kept, in percent; `late`: by a search of 400 in the last stage.

    `value error`: mean distance of the value head from the exact values, in hundredths.
    """
    agent = session.agent(session.current_version, sims=400)
    shares = {"network": measure(choose_alone(agent, found), found, bands).kept.share}
    for sims, chosen in choose(agent, found, (100, 400)).items():
        result = measure(chosen, found, bands)
        shares[f"{sims} simulations"] = result.kept.share
    shares["late"] = result.stages[-1][1].share
    percent = {name: 100 * (share or 0.0) for name, share in shares.items()}
    return {**percent, "value error": 100 * value_error(agent, found).mean_absolute_error}


def table(lines: list[dict[str, Any]]) -> str:
    """Return mean and standard error over seeds, a line each variant."""
    by_name: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in lines:
        by_name[line["variant"]].append(line)
    exact = ["network", "100 simulations", "400 simulations", "late", "value error"]
    columns = [*exact, "steps", "games", "processor_seconds"]
    text = [f"| variant | seeds | {' | '.join(columns)} |", "|---" * (len(columns) + 2) + "|"]
    for name, runs in by_name.items():
        cells = []
        for column in columns:
            values = np.array([run[column] for run in runs], float)
            error = f" ± {values.std(ddof=1) / len(values) ** 0.5:.1f}" if len(values) > 1 else ""
            cells.append(f"{values.mean():.1f}{error}" if column in exact else f"{values.mean():,.0f}")
        text.append(f"| {name} | {len(runs)} | {' | '.join(cells)} |")
    return "\n".join(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--evaluations", type=float, default=5e6)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=list(VARIANTS), choices=list(VARIANTS))
    options = parser.parse_args()
    before = [json.loads(text) for text in options.out.read_text().splitlines()] if options.out.exists() else []
    same = {"base": to_json(Config(**BASE)), "evaluations": options.evaluations}
    lines = [line for line in before if same.items() <= line.items()]
    done = {(line["variant"], line["seed"]) for line in lines}
    if len(lines) < len(before):
        print(f"{len(before) - len(lines)} lines are of another base or number of evaluations: left out")
    game = games.make("connect4")
    who = oracle(game)
    found, bands = (positions(game, who, POSITIONS, 0), who.bands) if who else ([], ())
    for seed in range(options.seeds):
        for name in options.only:
            if (name, seed) in done:
                continue
            config = dataclasses.replace(Config(), **{**BASE, **VARIANTS[name], "seed": seed})
            with tempfile.TemporaryDirectory() as folder:
                session, spent = trained(config, options.evaluations, Path(folder))
                with session:
                    line = {"variant": name, "seed": seed, **same, **measured(session, found, bands), **spent}
            lines.append(line)
            with options.out.open("a") as file:
                file.write(json.dumps(line) + "\n")
            print({name: value for name, value in line.items() if name != "base"}, flush=True)
    print(table(lines))


if __name__ == "__main__":
    main()
