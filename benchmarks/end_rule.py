"""Is the end rule of Little-Go's rollouts right? Last moves with and without it, against the exact values of all moves.

    python benchmarks/end_rule.py [--seconds 150] [--seed 1]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np

import games
from game import PLY, Game, GameState
from players.rollout import RolloutPlayer
from search.alphabeta import Minimax

SIMS = 16, 64, 400
COUNTED = "positions whose moves differ in value", "moves that the rule changed", "right with it", "right without"


def chosen(game: Game, state: GameState, sims: int, seed: int, rule: bool) -> int:
    """Return the move of a player that begins to think here."""
    player = RolloutPlayer(game, sims=sims, end_rule=rule)
    player.new_game(0, seed)
    return player.act_many([0], [state], [0.0])[0].action


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=150.0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    game, rng = games.make("littlego"), np.random.default_rng(options.seed)
    solver, player = Minimax(game), RolloutPlayer(game, sims=64)
    passing, found = game.parse_move("pass"), Counter[tuple[int, int, str]]()
    end = time.monotonic() + options.seconds
    while time.monotonic() < end:
        player.new_game(0, int(rng.integers(1 << 40)))
        state, opening = game.start(), int(rng.integers(0, 9))
        while not state.isEndGame:
            ply = int(game.row_of(state)[PLY])
            values = (solver.solve_moves(state) if ply >= 20 else None) or {}
            if len(set(values.values())) > 1:
                best = max(values.values())
                for sims in SIMS:
                    seed = int(rng.integers(1 << 40))
                    ruled, free = (chosen(game, state, sims, seed, rule) for rule in (True, False))
                    found[sims, ply, COUNTED[0]] += 1
                    if ruled != free:
                        found[sims, ply, COUNTED[1]] += 1
                        found[sims, ply, COUNTED[2]] += values[ruled] == best
                        found[sims, ply, COUNTED[3]] += values[free] == best
            if ply < opening:
                action = int(rng.choice([a for a in state.allowedActions if a != passing]))
            else:
                action = player.act_many([0], [state], [0.0])[0].action
            state = state.takeAction(action)[0]
    print("simulations, ply: " + ", ".join(COUNTED))
    for sims, ply in sorted({key[:2] for key in found}):
        print(f"{sims:>11}, {ply}: " + ", ".join(str(found[sims, ply, what]) for what in COUNTED))


if __name__ == "__main__":
    main()
