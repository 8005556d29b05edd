"""What bfloat16 or 8 bits cost a player that ships, and what they save: best moves, speed, a match.

    python benchmarks/precision.py "go(komi=7,size=9)" --positions 200 --games 100 --sims 64
    python benchmarks/precision.py connect4 --precision int8 --games 100

The network in bfloat16 against itself in float32, or in 8 bits against itself in bfloat16, in positions of random
games, on a processor that has bfloat16. Speeds are evaluations for a second of processor time, in turns, the best of
each. A line of JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
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

FINER = {"bfloat16": "float32", "int8": "bfloat16"}
BATCH, TURNS = 256, 6
"""Positions of a batch whose speed is measured, and turns of each precision, of TURN seconds."""
TURN = 0.5


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
    in_8_bits = precision == "int8"
    agent.predictor = make_predictor(network, backend="openvino", in_8_bits=in_8_bits)
    agent.name = agent.predictor.name.removeprefix("openvino ")
    if agent.name != precision:
        sys.exit(f"expected a network that {precision} suits, got one that is evaluated in {agent.name}")
    return agent


def rates(players: tuple[Agent, Agent], planes: np.ndarray) -> list[float]:
    """Return the evaluations for a second of processor time of each."""
    batch, best = np.resize(planes, (BATCH, *planes.shape[1:])), [0.0] * len(players)
    for _ in range(TURNS):
        for i, one in enumerate(players):
            one.predict(batch)
            start, count = time.process_time(), 0
            while (spent := time.process_time() - start) < TURN:
                one.predict(batch)
                count += BATCH
            best[i] = max(best[i], count / spent)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game")
    parser.add_argument("--precision", choices=list(FINER), default="bfloat16")
    parser.add_argument("--positions", type=int, default=200)
    parser.add_argument("--games", type=int, default=0)
    parser.add_argument("--sims", type=int, default=64)
    options = parser.parse_args()
    if not native_bfloat16():
        sys.exit("expected a processor that has bfloat16")
    game = games.make(options.game)
    rough, exact = (player(game, p, options.sims) for p in (options.precision, FINER[options.precision]))
    states = positions(game, options.positions)
    planes = np.stack([state.planes() for state in states])
    legal = np.zeros((len(states), game.action_size), bool)
    for row, state in zip(legal, states, strict=True):
        row[state.allowedActions] = True
    (values, logits), (near, rounded) = exact.predict(planes), rough.predict(planes)
    logits, rounded = np.where(legal, logits, np.nan), np.where(legal, rounded, np.nan)
    speed = rates((rough, exact), planes)
    line: dict[str, Any] = {
        "game": game.spec,
        "precisions": [rough.name, exact.name],
        "same_best_move": float(np.mean(np.nanargmax(logits, axis=1) == np.nanargmax(rounded, axis=1))),
        "value_error": float(np.abs(values - near).mean()),
        "largest_logit": float(np.nanmax(np.abs(logits))),
        "largest_mean": float(np.abs(np.nanmean(logits, axis=1)).max()),
        "evaluations_per_core_second": [round(rate) for rate in speed],
        "times_as_fast": speed[0] / speed[1],
    }
    if options.games:
        line["match"] = str(rate(contest(game, (rough, exact), options.games, seed=1, opening_plies=2)))
    print(json.dumps(line))


if __name__ == "__main__":
    main()
