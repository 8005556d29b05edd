"""Gomoku's forced wins: are wins by continuous fours found, what the search for them costs, what it gains.

    python benchmarks/forced_wins.py found "gomoku(size=15)" --positions 500
    python benchmarks/forced_wins.py cost --sims 400
    python benchmarks/forced_wins.py match --pairs 100 --seconds 0.1

`found`: generated positions with a win by fours of 3 to 9 plies by the slow solver of tests/support/slow_fours.py; each
must be found at a new position's effort, and the move found must win by that solver too. `cost`: processor time of
searches with the shipped network, without and with forced wins, in turns, and of the search for wins alone. `match`:
the shipped player with forced wins against itself without, both with the same seconds a move, or simulations.
"""

from __future__ import annotations

import argparse
import logging
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import numpy as np

import games
from config import UserError
from funcs import playMatches
from game import Game, GameState
from players.by_name import network_player
from search.solving.forced import AT_ROOT, NEW, ForcedSearch
from search.tables import ENDLESS
from support.slow_fours import SlowFours, crowded_board


def positions(game: Game, slow: SlowFours, rng: random.Random) -> Iterator[tuple[Any, list[int], int]]:
    """Yield positions where no move wins at once and the other threatens one point at most: (state, stones, player)."""
    size = game.grid_shape[0]
    while True:
        board, player = crowded_board(rng, size, rng.randint(size, 3 * size), 2), rng.choice((1, -1))
        stones = board.ravel().tolist()
        if slow.winning_points(stones, 1) or slow.winning_points(stones, -1):
            continue
        try:
            yield game.set_up(board, player), stones, player
        except UserError:
            continue


def found(args: argparse.Namespace) -> None:
    """Count wins found and missed."""
    game = games.make(args.game)
    slow, search = SlowFours(game), ForcedSearch(game)
    lengths, missed, wrong, longer, looked = Counter[int](), 0, 0, 0, 0
    for state, stones, player in positions(game, slow, random.Random(args.seed)):
        slow.known.clear()
        looked += 1
        plies = next((n for n in (3, 5, 7, 9) if slow.wins(stones, player, n)), 0)
        answer = search(state, NEW)
        lengths[plies] += plies > 0
        missed += plies > 0 and answer.move is None
        longer += plies == 0 and answer.move is not None
        if answer.move is not None:
            wrong += not slow.four_wins(stones, player, answer.move, answer.plies)
        if sum(lengths.values()) == args.positions:
            break
    by_length = ", ".join(f"{n} plies {count}" for n, count in sorted(lengths.items()) if n)
    print(f"{game.spec}: {looked} positions, {args.positions} with a win by fours ({by_length}): "
          f"{missed} missed, {wrong} wrong moves; {longer} longer wins found")  # fmt: skip


def late_positions(game: Game, count: int, seed: int) -> list[GameState]:
    """Return positions of random plies of games that the shipped network plays against itself."""
    agent, rng = network_player(game, 0, "best", sims=16), np.random.default_rng(seed)
    states: list[GameState] = []
    while len(states) < count:
        state, agent.MCTS = game.start(), None
        for _ in range(4):
            state = state.takeAction(int(rng.choice(state.allowedActions)))[0]
        while not state.isEndGame:
            if rng.random() < 0.1 and len(states) < count:
                states.append(state)
            state = state.takeAction(agent.act(state, 1.0)[0])[0]
    return states


def cost(args: argparse.Namespace) -> None:
    """Print processor time of a simulation by setting, and of one search for wins."""
    game = games.make(args.game)
    states = late_positions(game, args.positions, args.seed)
    shipped = network_player(game, 0, "best", sims=args.sims, cache_size=1)
    agents = {n: shipped.twin(game, args.sims, changes={"forced_wins": n}) for n in (0, 1, 2)}
    times: dict[int, list[float]] = {n: [] for n in agents}
    for turn in range(args.rounds + 1):
        for n, agent in agents.items():
            began, visits = time.process_time(), 0
            for state in states:
                agent.MCTS = None
                visits += agent.think(state).visits
            times[n] += [1e6 * (time.process_time() - began) / max(visits, 1)] * (turn > 0)
    for n, all_times in times.items():
        print(f"forced_wins {n}: {statistics.median(all_times):.1f} us of processor time a simulation")
    search = ForcedSearch(game)
    for name, effort in (("new position", NEW), ("root", AT_ROOT)):
        spent = []
        for state in states:
            began = time.perf_counter()
            search(state, effort)
            spent.append(1e6 * (time.perf_counter() - began))
        print(f"{name}: median {statistics.median(spent):.1f} us, mean {statistics.mean(spent):.1f}, "
              f"most {max(spent):.0f} (with the call from Python)")  # fmt: skip


def match(args: argparse.Namespace) -> None:
    """Play with and without, at equal time or at equal simulations, and print the score."""
    game = games.make(args.game)
    limit = {"sims": ENDLESS, "seconds": args.seconds} if args.seconds else {"sims": args.sims}
    players = [network_player(game, 0, "best", changes={"forced_wins": n}, **limit) for n in (args.level, 0)]
    players[0].name, players[1].name = f"forced_wins {args.level}", "without"
    logger = logging.getLogger("forced_wins")
    result = playMatches(
        game, players[0], players[1], 2 * args.pairs, logger, 0, opening_plies=args.plies, seed=args.seed,
        report=lambda n: print(f"{n} games", end="\r", file=sys.stderr),
    )  # fmt: skip
    points = np.array(result.points[players[0].name]).reshape(-1, 2).mean(axis=1)
    error = 196 * points.std(ddof=1) / len(points) ** 0.5
    each = f"{args.seconds:g} s" if args.seconds else f"{args.sims} simulations"
    print(f"{game.spec}, {each} a move: {players[0].name} scores {100 * points.mean():.1f} % "
          f"+- {error:.1f} in {2 * args.pairs} games {result.scores}")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("found", "cost", "match"))
    parser.add_argument("game", nargs="?", default="gomoku")
    parser.add_argument("--positions", type=int, default=100)
    parser.add_argument("--sims", type=int, default=400, help="simulations of a search")
    parser.add_argument("--seconds", type=float, default=0.1, help="of a move, for `match`; 0: `--sims`")
    parser.add_argument("--pairs", type=int, default=50)
    parser.add_argument("--plies", type=int, default=4, help="random moves before a game")
    parser.add_argument("--level", type=int, default=1, help="forced_wins of the first player")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    {"found": found, "cost": cost, "match": match}[args.what](args)


if __name__ == "__main__":
    main()
