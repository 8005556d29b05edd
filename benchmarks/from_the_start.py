"""Games from the empty board, one side each: openings of random moves would give away what perfect play keeps.

    python benchmarks/from_the_start.py shipped solver --sims 800
    python benchmarks/from_the_start.py shipped 'gtp:gnugo --mode gtp --level 10 --seed {seed}' --game 'go(komi=24.5)'

The first player always begins, with --second it never does. `{seed}` in the other's name is 1, 2, ...: a program that
draws by lot then plays other games. How many of the games are different is told, as are the first moves.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import games
from evaluation.match import play_batch
from evaluation.openings import different
from players.by_name import make_player


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("player")
    parser.add_argument("other")
    parser.add_argument("--game", default="connect4")
    parser.add_argument("--games", type=int, default=10)
    parser.add_argument("--sims", type=int, default=400, help="simulations a move of a network")
    parser.add_argument("--second", action="store_true", help="the other begins")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    game = games.make(options.game)
    player, played = make_player(options.player, game, sims=options.sims), []
    for seed in range(1, options.games + 1):
        other = make_player(options.other.replace("{seed}", str(seed)), game, sims=options.sims)
        jobs: list[tuple[int, list[int], bool]] = [(seed, [], not options.second)]
        played += play_batch(game, (player, other), jobs, seed=seed)
    points = Counter(g.score for g in played)
    told: dict[str, Any] = {
        "won": points[1.0], "drawn": points[0.5], "lost": points[0.0],
        "different": different(game, [g.moves for g in played]),
        "openings": dict(Counter(game.move_name(g.moves[0]) for g in played if g.moves)),
    }  # fmt: skip
    if options.json:
        print(json.dumps(told))
        return
    side = "second" if options.second else "first"
    score = f"{told['won']} won, {told['drawn']} drawn, {told['lost']} lost; {told['different']} different games"
    print(f"{options.player} {side} against {options.other}, {game.spec}: {score}")
    print("first moves: " + ", ".join(f"{move} {count}" for move, count in told["openings"].items()))
    for g in played:
        print(f"  {g.score:g}  {game.format_moves(g.moves)}")


if __name__ == "__main__":
    main()
