"""Does the trained tic-tac-toe player ever lose? Plays it against every line of play, from every opening move.

    python benchmarks/tictactoe_perfect.py [--player best] [--sims 64]

The opponent tries all its moves, so perfect play is among them; the player's own first move is forced to each of the
nine in turn when it begins. Prints the games that it ended with a win, a draw, a loss.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import games
from agent import Player
from game import GameState
from players.by_name import make_player


def ends(player: Player, side: int) -> Counter[str]:
    """Return how the games end in which the player has playerTurn `side` and the other tries everything."""
    found: Counter[str] = Counter()
    first = games.make("tictactoe").start()
    frontier = [first.takeAction(a)[0] for a in first.allowedActions]
    answers: dict[object, int] = {}
    while frontier:
        own = {s.id: s for s in frontier if not s.isEndGame and s.playerTurn == side and s.id not in answers}
        if own:
            states = list(own.values())
            player.new_games(len(states))
            for slot in range(len(states)):
                player.new_game(slot, 0)
            decisions = player.act_many(range(len(states)), states, [0.0] * len(states))
            answers.update({s.id: d.action for s, d in zip(states, decisions, strict=True)})
        following: list[GameState] = []
        for state in frontier:
            if state.isEndGame:
                value = state.value * state.playerTurn * side
                found["won" if value > 0 else "drawn" if value == 0 else "lost"] += 1
                continue
            moves = [answers[state.id]] if state.playerTurn == side else state.allowedActions
            following += [state.takeAction(a)[0] for a in moves]
        frontier = following
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sims", type=int, default=64)
    parser.add_argument("--player", default="best")
    options = parser.parse_args()
    player = make_player(options.player, games.make("tictactoe"), sims=options.sims)
    lost = 0
    for side, name in ((1, "first"), (-1, "second")):
        found = ends(player, side)
        lost += found["lost"]
        print(f"{player.name}, {options.sims} simulations, moving {name}: {dict(found)}")
    return int(lost > 0)


if __name__ == "__main__":
    sys.exit(main())
