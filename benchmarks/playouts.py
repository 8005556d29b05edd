"""Random games a second on one core, our compiled rules and OpenSpiel's C++ in turns: python benchmarks/playouts.py

OpenSpiel plays them inside one C++ call - a search of two simulations with many rollouts each, from the start and from
one move after it - so no Python is timed on either side.
Its gomoku is the quick one (not `mnk`), its Go has the same moves but for repetition (docs/play.md).
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import pyspiel

import games
from search.rollouts import random_games

PAIRS = {
    "tictactoe": "tic_tac_toe",
    "connect4": "connect_four",
    "gomoku(size=9)": "gomoku(size=9)",
    "gomoku(size=15)": "gomoku(size=15)",
    "othello": "othello",
    "go(size=5)": "go(board_size=5,komi=2.5)",
    "go(size=9)": "go(board_size=9,komi=7.5)",
    "go(size=19)": "go(board_size=19,komi=7.5)",
}
ROUNDS, SECONDS = 7, 0.4


def rate(play: Callable[[int], object], batch: int) -> float:
    """Return games a second."""
    began, done = time.process_time(), 0
    while time.process_time() - began < SECONDS:
        play(batch)
        done += batch
    return done / (time.process_time() - began)


def main() -> None:
    print(f"{'game':<18}{'ours/s':>12}{'OpenSpiel/s':>14}{'ratio':>8}   (lowest-highest ratio of {ROUNDS} pairs)")
    for spec, other in PAIRS.items():
        game, spiel = games.make(spec), pyspiel.load_game(other)
        state = spiel.new_initial_state()
        batch = 10 if game.max_plies > 100 else 100
        rollouts = pyspiel.RandomRolloutEvaluator(batch, 1)
        bot = pyspiel.MCTSBot(spiel, rollouts, 2.0, 2, 100, False, 1, False)
        seeds = iter(range(1, 10**9))
        random_games(game, 10, 0)
        ours, theirs = [], []
        for _ in range(ROUNDS):
            ours.append(rate(lambda n: random_games(game, n, next(seeds)), 2 * batch))  # noqa: B023
            theirs.append(rate(lambda n: bot.mcts_search(state), 2 * batch))  # noqa: B023
        ratios = sorted(a / b for a, b in zip(ours, theirs, strict=True))
        print(f"{spec:<18}{statistics.median(ours):>12,.0f}{statistics.median(theirs):>14,.0f}"
              f"{statistics.median(ratios):>8.2f}   ({ratios[0]:.2f}-{ratios[-1]:.2f})")  # fmt: skip


if __name__ == "__main__":
    main()
