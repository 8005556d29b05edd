"""Test the rules of a game, or a network of your own."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from interface.arguments import Positional, parse, whole
from interface.commands import waiting

if TYPE_CHECKING:
    from game import Game

EXAMPLES = {
    "python main.py check my_game.py:MyGame": "test the rules of your game",
    "python main.py check gomoku": "test a built-in game",
    "python main.py check connect4 --network my_network.py:MyNetwork": "test a network for a game",
}


@dataclass(frozen=True)
class Check:
    """Test a game's rules against the contract of game.py, or a network for the game against that of model.py."""

    game: Positional[str]
    games: int = 50
    """Random games to play."""
    network: str | None = None
    """A network of your own, FILE.py:CLASS, which is tested in the place of the rules."""
    json: bool = False
    """Print the result as JSON."""


def run(argv: list[str]) -> int:
    args = parse(Check, argv)
    import games
    from evaluation.game_contract import examine

    game = games.make(args.game)
    if args.network is not None:
        return _check_network(game, args.network, as_json=args.json)
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


def _check_network(game: Game, spec: str, *, as_json: bool) -> int:
    with waiting():
        from model import make_network
    from network.network_contract import faults_of
    from network.own_network import full_name
    from training.presets import preset

    settings = preset("laptop", game=game.spec, network=full_name(spec), learning_rate=0.001, batch_size=32)
    network = make_network(settings, game)
    faults = faults_of(network)
    if as_json:
        print(json.dumps({"game": game.spec, "network": settings.network, "faults": faults}))
    elif faults:
        print("\n".join(faults))
    else:
        weights = sum(w.size for w in network.get_weights())
        print(f"{spec}: no fault in a network of {weights:,} weights for {game.spec}")
    return 4 if faults else 0


def _result(value: float) -> str:
    return "won" if value > 0 else "lost" if value < 0 else "drawn"
