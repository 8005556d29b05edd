"""Test the rules of a game."""

from __future__ import annotations

import json
from dataclasses import dataclass

from tyro.conf import Positional

from interface.arguments import parse, whole

EXAMPLES = {
    "python main.py check my_game.py:MyGame": "test the rules of your game",
    "python main.py check my_game.py:MyGame --games 1000": "more thoroughly",
    "python main.py check gomoku": "test a built-in game",
}


@dataclass(frozen=True)
class Check:
    """Test a game's rules against the contract of game.py."""

    game: Positional[str]
    games: int = 50
    """Random games to play."""
    json: bool = False
    """Print the result as JSON."""


def run(argv: list[str]) -> int:
    args = parse(Check, argv)
    import games
    from evaluation.game_contract import examine

    game = games.make(args.game)
    found = examine(game, games=whole(args.games, "games", 1, 100_000))
    won = {"first": found.results.get(1, 0), "drawn": found.results.get(0, 0), "second": found.results.get(-1, 0)}
    if args.json:
        print(json.dumps({"game": game.spec, "games": args.games, "faults": found.faults, **won, "plies": found.plies}))
    elif found.faults or found.end is None:
        print("\n".join(found.faults))
    else:
        print(f"{game.spec}: no fault in {args.games} random games")
        print(f"won by the player who began {won['first']}, by the other {won['second']}, drawn {won['drawn']}; "
              f"{found.plies[0]} to {found.plies[1]} plies; the last one ended so:\n{found.end.render()}")  # fmt: skip
        print(f"{game.pieces[found.end.playerTurn]} to move has {_result(found.end.value)}: is that right?")
    return 4 if found.faults else 0


def _result(value: float) -> str:
    return "won" if value > 0 else "lost" if value < 0 else "drawn"
