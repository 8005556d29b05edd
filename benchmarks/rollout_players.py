"""Simulations a second of one core, our rollout player and OpenSpiel's MCTSBot in turns.

    python benchmarks/rollout_players.py

Both search the first position from nothing with one random game a leaf, MCTSBot in C++ with its own rollout evaluator;
neither proves anything at the start of these games. Processor time is measured, so other work on the machine counts
little. OpenSpiel's bot makes all children of a leaf at once, ours one; both count a visit of the root as a simulation.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import pyspiel

import games
from game import GameState
from players.rollout import RolloutPlayer
from players.uct import MEMORY, spiel_name

SPECS = ("connect4", "gomoku", "go", "othello")
SIMS, ROUNDS, SECONDS = 5000, 7, 0.8


def rate(search: Callable[[int], object]) -> float:
    """Return simulations a second of searches with SIMS of them each."""
    began, done = time.process_time(), 0
    while time.process_time() - began < SECONDS:
        search(done)
        done += SIMS
    return done / (time.process_time() - began)


def main() -> None:
    print(f"{'game':<12}{'ours/s':>12}{'MCTSBot/s':>12}{'ratio':>8}   (lowest-highest ratio of {ROUNDS} pairs)")
    for spec in sys.argv[1:] or SPECS:
        game = games.make(spec)
        player = RolloutPlayer(game, sims=SIMS)
        start, spiel = game.start(), pyspiel.load_game(spiel_name(game))
        position = spiel.new_initial_state()

        def ours(seed: int, player: RolloutPlayer = player, start: GameState = start) -> None:
            player.new_game(0, seed)
            player.act(start, 0.0)

        def theirs(seed: int, spiel: Any = spiel, position: Any = position) -> None:
            evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
            pyspiel.MCTSBot(spiel, evaluator, 1.4, SIMS, MEMORY, False, seed, False).step(position)

        ours(0)
        pairs = [(rate(ours), rate(theirs)) for _ in range(ROUNDS)]
        ratios = sorted(a / b for a, b in pairs)
        mine, other = (statistics.median(rates) for rates in zip(*pairs, strict=True))
        print(f"{spec:<12}{mine:>12,.0f}{other:>12,.0f}{statistics.median(ratios):>8.2f}"
              f"   ({ratios[0]:.2f}-{ratios[-1]:.2f})", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
