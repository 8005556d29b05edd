"""What each technique is worth at equal core-minutes: whole runs of Connect 4, several seeds, against the plain run.

    python benchmarks/ablations.py OUT [--minutes 60] [--cores 1] [--seeds 3] [--first-seed 0] [--only NAME ...]
    python benchmarks/ablations.py OUT --game "connect4(rows=4,columns=5)" --minutes 1 --set episodes=64 mcts_sims=32

Each variant changes the base, the preset of the game, in one thing. A run's clock is processor time divided by
`--cores`, to which the program is bound, so other work on the machine takes nothing from it. OUT holds the runs, and
OUT/lines.jsonl a line for each finished one: the share of solved positions whose value its move keeps by stage (network
alone and with --sims simulations), and the games of its last network against that of the base with the same seed. Begun
runs continue and finished ones are not run again, so it can be stopped at any time. At the end it prints the table: Elo
with the 95 % interval of all games and each seed's Elo, and of the shares mean and standard error over seeds. Several
processes, each with its own processors and seeds (`taskset -c 1 ... --seeds 4 --first-seed 2`), can share OUT.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import typing
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np

import games
from config import FIELDS, TYPES, Config, UserError, to_json, with_overrides
from evaluation.match import contest
from evaluation.move_accuracy import choose, choose_alone, measure
from evaluation.rating import rate
from evaluation.solved_positions import oracle, positions
from initialise import Session
from loggers import Console
from main import train
from storage.run_folders import find_run, game_folder, runs_of
from system import processes
from training import fit, stage_bookkeeping
from training.presets import preset, preset_for

ALWAYS: dict[str, Any] = {
    "iterations": 10**6,
    "score_every": 0,
    "score_games": 0,
    "eval_every": 10**6,
    "workers": 0,
    "reanalyse_share": 0.0,
}
"""Settings of every run: it ends by its minutes, nothing is spent on looking at it, and the base has no technique."""
VARIANTS: dict[str, dict[str, Any]] = {
    "base": {},
    "reanalysis of a tenth": {"reanalyse_share": 0.1},
    "reanalysis of three tenths": {"reanalyse_share": 0.3},
    "PUCT that grows to 64 simulations": {"gumbel": 0, "mcts_sims": 64, "grow_sims": 20, "reuse": 6.0},
    "24 simulations": {"gumbel": 0, "mcts_sims": 24, "grow_sims": 0, "reuse": 3.0},
    "Gumbel search of 16 moves, 24 simulations": {"gumbel": 16, "mcts_sims": 24, "grow_sims": 0, "reuse": 3.0},
    "endings solved from 12 plies before the end": {"endgame": 12},
    "average of the weights": {"weight_average": 0.999},
    "a network that grows for the last third": {"grown_from": ("filters", 2)},
}
"""Changes of the base. grown_from: by what its filters are divided in the run of the first two thirds."""
OPENING_PLIES = 4


def changed(base: Config, variant: dict[str, Any], seed: int) -> tuple[Config, Config | None]:
    """Return (settings of a variant's run, those of the run before it, if it continues a smaller network)."""
    changes = {k: v for k, v in variant.items() if k != "grown_from"}
    config = with_overrides(base, **changes, seed=seed)
    if "grown_from" not in variant:
        return config, None
    factor = variant["grown_from"][1]
    layers = (text.split("x") for text in base.hidden_cnn_layers)
    small = tuple(f"{int(filters) // factor}x{size}" for filters, size in layers)
    first = with_overrides(config, hidden_cnn_layers=small, minutes=config.minutes * 2 / 3)
    return with_overrides(config, minutes=config.minutes / 3), first


def opened(config: Config, begun: list[Path], root: Path) -> Session:
    """Continue the newest of some runs, or start one."""
    console = Console(quiet=True)
    return Session.open(begun[-1], console=console) if begun else Session.start(config, root=root, console=console)


def trained(config: Config, first: Config | None, root: Path) -> Session:
    """Train a run to its end, or continue it; return its session. `first`: settings of the run that it begins with."""
    begun = runs_of(config.game, root)
    if first is not None and len(begun) < 2:
        with opened(first, begun, root) as s:
            train(s)
            version, last = s.current_version, s.iteration - 1
        session = Session.start(
            config, root=root, console=Console(quiet=True), INITIAL_RUN_NUMBER=1, INITIAL_MODEL_VERSION=version,
            INITIAL_MEMORY_VERSION=last,
        )  # fmt: skip
    else:
        session = opened(config, begun, root)
    train(session)
    return session


def accuracy(session: Session, count: int, sims: int) -> dict[str, float]:
    """Return the share of solved positions whose value is kept, in percent, as {"alone plies 0-11": 81.0, ...}."""
    who = oracle(session.game)
    found = positions(session.game, who, count, 0) if who else []
    if not found or who is None:
        return {}
    agent = session.agent(session.current_version, sims=sims)
    chosen = {"alone": choose_alone(agent, found), f"{sims}": choose(agent, found, (sims,))[sims]}
    lines: dict[str, float] = {}
    for name, moves in chosen.items():
        result = measure(moves, found, who.bands)
        for stage, share in [("all", result.kept), *result.stages]:
            if share.share is not None:
                lines[f"{name} {stage}"] = 100 * share.share
    return lines


def against(session: Session, base: Path, count: int, sims: int) -> list[float]:
    """Return the scores of a run's last network in games against that of the base's run, pairs adjacent."""
    if base == session.folder:
        return []
    with Session.open(base, console=Console(quiet=True)) as other:
        players = session.agent(session.current_version, name="variant", sims=sims), other.agent(
            other.current_version, name="base", sims=sims
        )
        return contest(session.game, players, count, seed=session.config.seed, opening_plies=OPENING_PLIES)


def table(lines: list[dict[str, Any]]) -> str:
    """Return a line for each variant: Elo over the base with the interval of all its games and that of each seed in
    brackets, which differ by more than the games alone; shares with standard errors over seeds."""
    by_name: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in lines:
        by_name[line["variant"]].append(line)
    columns = [*dict.fromkeys(name for line in lines for name in line["kept"])]
    head = ["variant", "seeds", "Elo", *columns, "steps", "games"]
    text = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for name, runs in by_name.items():
        scores = [score for run in runs for score in run["scores"]]
        won = rate(scores) if scores else None
        cells = [f"{won.elo:+.0f} [{won.low:+.0f}, {won.high:+.0f}]" if won else "0"]
        each = [f"{rate(run['scores']).elo:+.0f}" for run in runs if run["scores"]]
        cells[0] += f" ({', '.join(each)})" if len(each) > 1 else ""
        for column in columns:
            values = np.array([run["kept"].get(column, np.nan) for run in runs], float)
            error = f" ± {values.std(ddof=1) / len(values) ** 0.5:.1f}" if len(values) > 1 else ""
            cells.append(f"{values.mean():.1f}{error}")
        cells += [f"{np.mean([run[what] for run in runs]):,.0f}" for what in ("steps", "games")]
        text.append(f"| {name} | {len(runs)} | {' | '.join(cells)} |")
    return "\n".join(text)


def on_cores(count: int) -> None:
    """Bind the program to some cores, and let the clock of a run's work be its processor time divided by them."""
    processes.keep_to(processes.processors()[:count])
    clock = SimpleNamespace(perf_counter=lambda: time.process_time() / count)
    for module in (stage_bookkeeping, fit):
        vars(module)["time"] = clock


def parsed(pair: str) -> tuple[str, Any]:
    """Return (name, value) of a setting given as NAME=VALUE."""
    name, _, text = pair.partition("=")
    if name not in FIELDS:
        raise UserError(f"expected NAME=VALUE with a setting's name, got {pair!r}")
    if TYPES[name] is str or typing.get_origin(TYPES[name]) is typing.Literal:
        return name, text
    return name, tuple(text.split(",")) if name == "hidden_cnn_layers" else json.loads(text.lower())


def run_all(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Run what is missing, and return the lines of these settings."""
    base = preset(preset_for(options.game), **{
        "game": options.game, **ALWAYS, "minutes": options.minutes, **dict(map(parsed, options.set))})  # fmt: skip
    same = {"base": to_json(base), "cores": options.cores, "positions": options.positions, "sims": options.sims,
            "match": options.games}  # fmt: skip
    path = options.out / "lines.jsonl"
    before = [json.loads(text) for text in path.read_text().splitlines()] if path.exists() else []
    lines = [line for line in before if same.items() <= line.items()]
    if len(lines) < len(before):
        raise UserError(f"expected runs of these options in {options.out}, got some of others: name another folder")
    done = {(line["variant"], line["seed"]) for line in lines}
    for seed in range(options.first_seed, options.seeds):
        for name in ["base", *(name for name in options.only if name != "base")]:
            if (name, seed) in done:
                continue
            root = options.out / f"seed{seed}"
            config, first = changed(base, VARIANTS[name], seed)
            with trained(config, first, root / name.replace(" ", "_").replace(",", "")) as session:
                against_base = find_run(base.game, 1, root / "base")
                line = {
                    "variant": name, "seed": seed, **same, "kept": accuracy(session, options.positions, options.sims),
                    "scores": against(session, against_base, options.games, options.sims),
                    "steps": int(session.store.get("steps", "0") or 0), "games": session.store.count_games(),
                }  # fmt: skip
            lines.append(line)
            with path.open("a") as file:
                file.write(json.dumps(line) + "\n")
            print(name, seed, line["kept"], rate(line["scores"]) if line["scores"] else "", flush=True)
    return lines


def warm_up(options: argparse.Namespace) -> None:
    """Compile what a run needs, so that the first one does not pay for it."""
    root = options.out / "warm"
    if not (root / game_folder(options.game)).exists():
        config = preset(preset_for(options.game), **{
            "game": options.game, **ALWAYS, **dict(map(parsed, options.set)), "iterations": 2, "episodes": 16,
            "min_memory": 16, "training_loops": 2, "reanalyse_share": 0.1,
        })  # fmt: skip
        with Session.start(config, root=root, console=Console(quiet=True)) as session:
            train(session)
            accuracy(session, 20, 8)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--game", default="connect4")
    parser.add_argument("--minutes", type=float, default=60.0, help="of work for each run, on --cores cores")
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0, help="begin with this one; --seeds counts from 0")
    parser.add_argument("--positions", type=int, default=3000)
    parser.add_argument("--sims", type=int, default=400)
    parser.add_argument("--games", type=int, default=200, help="against the base, with each seed")
    parser.add_argument("--only", nargs="*", default=list(VARIANTS), choices=list(VARIANTS))
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help="settings of the base")
    options = parser.parse_args(arguments)
    options.game = games.make(options.game).spec
    options.out.mkdir(parents=True, exist_ok=True)
    on_cores(options.cores)
    warm_up(options)
    print(table(run_all(options)))


if __name__ == "__main__":
    main()
