"""What bfloat16 costs a player that ships: logits, the same best move in positions of random games, a match.

    python benchmarks/precision.py "go(komi=7,size=9)" --positions 200 --games 100 --sims 64

The match is the network in bfloat16 against itself in float32, on a processor that has bfloat16. A line of JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any, cast

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np

import games
from agent import Agent
from config import with_overrides
from evaluation.match import contest
from evaluation.rating import rate
from game import Game, GameState
from network.choose_predictor import make_predictor
from network.cpu_features import native_bfloat16
from network.stored_network import StoredNetwork
from players.by_name import make_player


def positions(game: Game, count: int) -> list[GameState]:
    """Return a position of each of `count` random games."""
    rng = np.random.default_rng(0)
    found: list[GameState] = []
    while len(found) < count:
        line = [game.start()]
        while not (after := line[-1].takeAction(int(rng.choice(line[-1].allowedActions)))[0]).isEndGame:
            line.append(after)
        found.append(line[int(rng.integers(len(line)))])
    return found


def player(game: Game, precision: str, sims: int) -> Agent:
    """Return the player that ships, evaluated in a precision."""
    agent = cast(Agent, make_player("shipped", game, sims=sims))
    network = StoredNetwork(with_overrides(agent.model.config, precision=precision), game)
    network.set_weights(agent.model.get_weights())
    agent.predictor, agent.name = make_predictor(network, backend="openvino"), precision
    return agent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game")
    parser.add_argument("--positions", type=int, default=200)
    parser.add_argument("--games", type=int, default=0)
    parser.add_argument("--sims", type=int, default=64)
    options = parser.parse_args()
    if not native_bfloat16():
        sys.exit("expected a processor that has bfloat16")
    game = games.make(options.game)
    rough, exact = (player(game, precision, options.sims) for precision in ("bfloat16", "float32"))
    states = positions(game, options.positions)
    planes = np.stack([state.planes() for state in states])
    legal = np.zeros((len(states), game.action_size), bool)
    for row, state in zip(legal, states, strict=True):
        row[state.allowedActions] = True
    (_, logits), (_, rounded) = exact.predict(planes), rough.predict(planes)
    logits, rounded = np.where(legal, logits, np.nan), np.where(legal, rounded, np.nan)
    line: dict[str, Any] = {
        "game": game.spec,
        "same_best_move": float(np.mean(np.nanargmax(logits, axis=1) == np.nanargmax(rounded, axis=1))),
        "largest_logit": float(np.nanmax(np.abs(logits))),
        "largest_mean": float(np.abs(np.nanmean(logits, axis=1)).max()),
    }
    if options.games:
        line["match"] = str(rate(contest(game, (rough, exact), options.games, seed=1, opening_plies=2)))
    print(json.dumps(line))


if __name__ == "__main__":
    main()
