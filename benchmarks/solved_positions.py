"""How often a network keeps a Connect 4 position's value, by an independent solver (`pip install bitbully`).

    python benchmarks/solved_positions.py [--player best] [--sims 400] [--positions 600]

Positions come from random play of 0-35 plies, from a seed; only those count whose legal moves differ in value.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
from bitbully import BitBully, Board

import games
from agent import Agent
from explain import after_moves
from lineup import make_player

STAGES = ((0, 12), (12, 24), (24, 42))


def solved(count: int, seed: int) -> list[tuple[list[int], set[int]]]:
    """Return (moves from the start, the moves that keep the value) of `count` positions."""
    rng, solver = np.random.default_rng(seed), BitBully()
    found: list[tuple[list[int], set[int]]] = []
    game = games.make("connect4")
    while len(found) < count:
        state, moves = game.start(), []
        for _ in range(int(rng.integers(0, 36))):
            moves.append(int(rng.choice(state.allowedActions)))
            state = state.takeAction(moves[-1])[0]
            if state.isEndGame:
                break
        if state.isEndGame:
            continue
        board = Board()
        for move in moves:
            board.play(move)
        signs = {move: int(np.sign(score)) for move, score in solver.score_all_moves(board).items()}
        if len(set(signs.values())) > 1:
            found.append((moves, {m for m, s in signs.items() if s == max(signs.values())}))
    return found


def report(name: str, chosen: list[int], positions: list[tuple[list[int], set[int]]]) -> None:
    kept = np.array([move in good for move, (_, good) in zip(chosen, positions, strict=True)])
    plies = np.array([len(moves) for moves, _ in positions])
    parts = [f"plies {a}-{b - 1}: {100 * kept[(plies >= a) & (plies < b)].mean():.1f} %" for a, b in STAGES]
    print(f"{name:<40}{100 * kept.mean():.1f} %   " + "   ".join(parts), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--player", default="best")
    parser.add_argument("--sims", type=int, default=400)
    parser.add_argument("--positions", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    game = games.make("connect4")
    player = make_player(options.player, game, sims=options.sims)
    positions = solved(options.positions, options.seed)
    states = [after_moves(game, moves) for moves, _ in positions]
    if isinstance(player, Agent):
        alone = [int(np.argmax(player.get_preds(state)[1])) for state in states]
        report(f"{player.name}, network alone", alone, positions)
    player.new_games(len(states))
    for slot, (moves, _) in enumerate(positions):
        player.new_game(slot, slot)
        for move in moves:
            player.observe(slot, move)
    decisions = player.act_many(range(len(states)), states, [0.0] * len(states))
    report(f"{player.name}, {options.sims} simulations", [d.action for d in decisions], positions)


if __name__ == "__main__":
    main()
