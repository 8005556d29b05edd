"""Learning while games are played (`--lag 1`): what it costs in strength at equal games, and what it saves in time.

    python benchmarks/lag.py strength OUT.jsonl --runs FOLDER [--iterations 24] [--seeds 2]
    python benchmarks/lag.py time [--learning 0.5 1 2] [--python 0 20] [--times 3]

strength: runs of Connect 4 with lag 0 and lag 1, the same number of games, then solved positions and a match of the two
last networks, a line of OUT each. It can be stopped at any time: runs resume, lines that are there are not made again.
time: the games are real; the learner only waits, as one does that has a device of its own. `--learning`: its time as a
multiple of that of the games; `--python`: the percentage of its time in which it holds the interpreter's lock, as
Python does between two steps. Prints seconds an iteration with both lags, and the share saved of what could be.
"""

from __future__ import annotations

import argparse
import itertools
import json
import logging
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
from solved_shares import POSITIONS, measured

from agent import Agent
from config import Config
from evaluation.rating import rate
from evaluation.solved_positions import oracle, positions
from funcs import playMatches
from initialise import Session
from loggers import Console
from main import train
from storage.run_folders import runs_of
from training.presets import preset

GAMES, SIMS = 400, 100
"""Of the match between the last networks of two runs: games, simulations a move."""
STEP = 0.02
"""Seconds of a step of the learner that waits."""


# ---- strength


def opened(config: Config, root: Path) -> Session:
    """Return the session of a run, resumed if it has begun."""
    root.mkdir(parents=True, exist_ok=True)
    found = runs_of(config.game, root)
    return Session.open(found[-1], config) if found else Session.start(config, root=root)


def strength(options: argparse.Namespace) -> None:
    """Train, measure, and let the networks of the two lags play each other."""
    out: Path = options.out
    lines = [json.loads(text) for text in out.read_text().splitlines()] if out.exists() else []
    done = {(line["seed"], line["lag"]) for line in lines}

    def add(line: dict[str, Any]) -> None:
        lines.append(line)
        with out.open("a") as file:
            file.write(json.dumps(line) + "\n")
        print(line, flush=True)

    for seed in range(options.seeds):
        sessions = []
        for lag in (0, 1):
            config = preset("laptop", game="connect4", iterations=options.iterations, seed=seed, lag=lag,
                            score_every=0, score_games=0, eval_every=10**6, reanalyse_share=0.0)  # fmt: skip
            session = opened(config, options.runs / f"seed{seed}lag{lag}")
            sessions.append(session)
            train(session)
            if session.is_unfinished():
                sys.exit("stopped; the same command resumes")
            if (seed, lag) not in done:
                if (who := oracle(session.game)) is None:
                    sys.exit("expected a solver of Connect 4: pip install bitbully")
                found = measured(session, positions(session.game, who, POSITIONS, 0), who.bands)
                spent = {"games": session.store.count_games(), "steps": int(session.store.get("steps") or 0)}
                add({"seed": seed, "lag": lag, **spent, **found})
        if (seed, "match") not in done:
            players = [s.agent(s.current_version, name=f"lag {s.config.lag}", sims=SIMS) for s in sessions]
            match = playMatches(
                sessions[0].game, players[1], players[0], GAMES, logging.getLogger("match"), 0, seed=seed,
                opening_plies=4,
            )  # fmt: skip
            add({"seed": seed, "lag": "match", "lag 1 against lag 0": str(rate(match.points["lag 1"]))})
        for session in sessions:
            session.close()
    print("\n".join(map(str, lines)))


# ---- time


def waiting(seconds: float, share: float) -> Callable[..., dict[str, float]]:
    """Return a `replay` that takes `seconds`, of which it holds the interpreter's lock for a share."""

    def replay(agent: Agent, sample: Any, loops: int, *, report: Any = None, **options: Any) -> dict[str, float]:
        end = time.perf_counter() + seconds
        while (now := time.perf_counter()) < end:
            while time.perf_counter() < now + share * STEP:
                pass
            time.sleep(max(0.0, min(end, now + STEP) - time.perf_counter()))
            report(loops)
        return {"loss": 1.0, "value_loss": 1.0, "policy_loss": 1.0}

    return replay


def iteration_seconds(options: argparse.Namespace, lag: int, seconds: float, share: float, root: Path) -> np.ndarray:
    """Return [times, 2]: seconds of self-play and of an iteration; the first two iterations are not counted."""
    config = preset("laptop", game="connect4", seed=0, iterations=10**6, episodes=options.games, grow_sims=0,
                    min_memory=10, score_every=0, score_games=0, eval_every=10**6, lag=lag,
                    workers=options.workers)  # fmt: skip
    before, Agent.replay = Agent.replay, waiting(seconds, share)  # type: ignore[method-assign]
    try:
        with Session.start(config, root=root, console=Console(quiet=True)) as session:
            lines = train(session, iterations=options.times + 2)
    finally:
        Agent.replay = before  # type: ignore[method-assign]
    return np.array([(line["self_play_seconds"], line["seconds"]) for line in lines[2:]])


def saved(options: argparse.Namespace) -> None:
    """Print seconds an iteration with lag 0 and lag 1; the network stays as it was at first, so the games are equal."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        games = float(np.median(iteration_seconds(options, 0, 0.0, 0.0, root)[:, 0]))
        print(f"{games:.2f} s for the games alone, workers {options.workers}", flush=True)
        for times, percent in itertools.product(options.learning, options.python):
            one, other = (
                np.median(iteration_seconds(options, lag, times * games, percent / 100, root), 0)
                for lag in (0, 1)
            )
            share = 100 * (one[1] - other[1]) / min(one[0], times * games)
            print(f"learning {times * games:.2f} s, {percent:g} % in Python: an iteration {one[1]:.2f} s with lag 0, "
                  f"{other[1]:.2f} s with lag 1, {share:.0f} % of what could be saved; its games {one[0]:.2f} and "
                  f"{other[0]:.2f} s", flush=True)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    strong = commands.add_parser("strength")
    strong.add_argument("out", type=Path)
    strong.add_argument("--runs", type=Path, required=True)
    strong.add_argument("--iterations", type=int, default=24)
    strong.add_argument("--seeds", type=int, default=2)
    timed = commands.add_parser("time")
    timed.add_argument("--learning", type=float, nargs="+", default=[0.5, 1.0, 2.0])
    timed.add_argument("--python", type=float, nargs="+", default=[0.0, 20.0])
    timed.add_argument("--times", type=int, default=3)
    timed.add_argument("--workers", type=int, default=0)
    timed.add_argument("--games", type=int, default=512, help="an iteration")
    options = parser.parse_args()
    (strength if options.command == "strength" else saved)(options)


if __name__ == "__main__":
    main()
