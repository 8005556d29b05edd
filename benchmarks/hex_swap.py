"""Does the swap make Hex fair? How many games of a network against itself, from the empty board, the first player wins.

    python benchmarks/hex_swap.py [--size 9] [--sims 200] [--games 60] [--temperature 0.5] [--player shipped]

Both draw their moves by the visits of their searches with a temperature, so that games differ. The first player has to
open with a stone that is worth as much to either side: the second takes over a better one.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import games
from evaluation.match import play_batch
from evaluation.openings import different
from evaluation.rating import wilson
from players.by_name import make_player
from players.tempered import TemperedPlayer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=9)
    parser.add_argument("--sims", type=int, default=200, help="simulations a move")
    parser.add_argument("--games", type=int, default=60)
    parser.add_argument("--temperature", type=float, default=0.5)
    parser.add_argument("--player", default="shipped", help="a network by its name")
    options = parser.parse_args()
    game = games.make(f"hex(size={options.size},swap=yes)")
    agent: Any = make_player(options.player, game, sims=options.sims)
    one, two = (TemperedPlayer(agent, options.sims, options.temperature) for _ in range(2))
    jobs: list[tuple[int, list[int], bool]] = [(number, [], True) for number in range(options.games)]
    played = play_batch(game, (one, two), jobs, seed=1)
    mean = sum(g.score for g in played) / len(played)
    low, high = wilson(mean, len(played))
    print(f"the first player won {100 * mean:.0f} % [{100 * low:.0f}, {100 * high:.0f}] of {len(played)} games, "
          f"{different(game, [g.moves for g in played])} of them different")  # fmt: skip
    for move, count in Counter(g.moves[0] for g in played).most_common():
        of = [g for g in played if g.moves[0] == move]
        swapped = sum(game.move_name(g.moves[1]) == "swap" for g in of)
        first = sum(g.score for g in of)
        print(f"  {game.move_name(move)}: {count} games, {swapped} of them swapped, {first:g} won by the first player")


if __name__ == "__main__":
    main()
