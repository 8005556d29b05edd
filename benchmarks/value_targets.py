"""How near to the game's values the value targets of a run's games are, and which mean of them would be nearer.

    python benchmarks/value_targets.py run/connect4/run0001 --positions 3000 --from-iteration 10

Positions that were taught, drawn from the run's games of Connect 4 and solved. A line is one target: its mean squared
and mean absolute distance from the exact value, its correlation with it, and its mean where that is won, drawn, lost,
all for the player to move.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np

import games
from evaluation.solved_positions import oracle
from storage.run_folders import read_config
from storage.run_store import Store

PLIES = ((0, 42), (0, 10), (10, 14), (14, 22), (22, 42))


def back(result: float, said: np.ndarray, explored: np.ndarray, ply: int, decay: float, cut: bool) -> float:
    """Return the lambda-return of a ply, for player 1; with `cut` not beyond a move that was made to explore."""
    found = result
    for k in range(len(said) - 1, ply - 1, -1):
        share = 0.0 if cut and explored[k] else decay
        found = (1.0 - share) * said[k] + share * found
    return found


def targets(result: float, said: np.ndarray, explored: np.ndarray, ply: int) -> dict[str, float]:
    """Return every target of a position, for player 1."""

    def mean(decay: float, cut: bool, search: float = 0.0) -> float:
        return (1.0 - search) * back(result, said, explored, ply, decay, cut) + search * float(said[ply])

    return {
        "the game's result": mean(1.0, False), "the search's value": mean(1.0, False, 1.0),
        "a quarter from the search": mean(1.0, False, 0.25), "half from the search": mean(1.0, False, 0.5),
        "lambda 0.95": mean(0.95, False), "lambda 0.9": mean(0.9, False), "cut": mean(1.0, True),
        "cut, a quarter from the search": mean(1.0, True, 0.25), "cut, lambda 0.95": mean(0.95, True),
        "cut, lambda 0.9": mean(0.9, True),
    }  # fmt: skip


def report(known: np.ndarray, found: dict[str, np.ndarray], say: Callable[[str], None] = print) -> None:
    """Print a line for each target beside the exact values."""
    for name, values in found.items():
        error, pair = values - known, np.corrcoef(values, known)[0, 1]
        means = " / ".join(f"{values[known == v].mean():+.2f}" if (known == v).any() else "-" for v in (1, 0, -1))
        say(f"  {name:32s} {np.square(error).mean():.3f}  {np.abs(error).mean():.3f}  {pair:.3f}  {means}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--positions", type=int, default=3000)
    parser.add_argument("--from-iteration", type=int, default=1)
    options = parser.parse_args()
    game = games.make(read_config(options.run).game)
    who = oracle(game)
    if who is None or game.spec != "connect4":
        sys.exit(f"expected a run of connect4, got one of {game.spec}")
    store, rng = Store(options.run / "run.db", read_only=True), np.random.default_rng(0)
    iterations = range(options.from_iteration, store.iterations_done() + 1)
    records = [record for iteration in iterations for record in store.games_of(iteration)]
    plies: list[int] = []
    known: list[float] = []
    found: list[dict[str, float]] = []
    while len(known) < options.positions:
        _, moves, visits, values, result, _ = records[rng.integers(len(records))]
        taught = np.flatnonzero(visits.any(axis=1))
        taught = taught[taught >= 6]  # before that solving takes seconds
        if not len(taught):
            continue
        ply = int(rng.choice(taught))
        state = game.start()
        for move in moves[:ply]:
            state = state.takeAction(int(move))[0]
        turns = np.where(np.arange(len(moves)) % 2, -1.0, 1.0)
        explored = visits[np.arange(len(moves)), moves] < visits.max(axis=1)
        scores = who.scores(state)
        if scores is None:
            continue
        known.append(np.sign(max(scores.values())))
        plies.append(ply)
        found.append({name: turns[ply] * v for name, v in targets(result, turns * values, explored, ply).items()})
    at, exact = np.array(plies), np.array(known)
    print("target, mean squared distance, mean distance, correlation, mean where won / drawn / lost")
    for low, high in PLIES:
        here = (at >= low) & (at < high)
        print(f"plies {low} to {high - 1}: {here.sum()} positions")
        report(exact[here], {name: np.array([line[name] for line in found])[here] for name in found[0]})


if __name__ == "__main__":
    main()
