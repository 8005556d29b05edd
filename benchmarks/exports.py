"""Do exported networks choose the same moves as the program? Every player that ships, in positions of its own games.

    python benchmarks/exports.py [--positions 1000] [--sims 16] [--formats onnx openvino] [--games connect4 go]

The positions are met when the network plays itself, each move drawn from its policy. The program evaluates in float32.
Compared are the best legal move of the policy, and the move of a search with the file in place of the network. Where
they differ, the program's logits of both moves are printed: equal ones are a tie.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np

import games
from agent import Agent
from config import Config
from game import Game, GameState
from network.choose_predictor import make_predictor
from network.export import ENDINGS, THROUGH_KERAS, export_network
from network.stored_network import StoredNetwork
from players.by_name import network_player
from search.expand import legal_softmax
from storage.run_folders import SHIPPED, read_config

Predictor = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def onnx(file: str) -> Predictor:
    import onnxruntime

    session = onnxruntime.InferenceSession(file)
    return lambda planes: tuple(session.run(["value", "logits"], {"planes": planes}))


def openvino(file: str) -> Predictor:
    import openvino

    network = openvino.compile_model(file, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})

    def evaluate(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = network({"planes": planes})
        return found["value"], found["logits"]

    return evaluate


def keras(file: str) -> Predictor:
    from network.keras_import import keras as library

    network = library.models.load_model(file)

    def evaluate(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        value, logits = network(planes)
        return np.asarray(value), np.asarray(logits)

    return evaluate


def tflite(file: str) -> Predictor:
    import tensorflow as tf

    run = tf.lite.Interpreter(file, num_threads=2).get_signature_runner()

    def evaluate(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = run(planes=planes)
        return found["value"], found["logits"]

    return evaluate


READERS = {"onnx": onnx, "openvino": openvino, "keras": keras, "tflite": tflite}


def flat(predictor: Predictor) -> Predictor:
    """Return a predictor of values [B] from one of values [B, 1]."""

    def evaluate(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        value, logits = predictor(planes)
        return value[:, 0], logits

    return evaluate


def positions(game: Game, predictor: Predictor, count: int) -> list[GameState]:
    """Return different positions of games that the network plays against itself, fewer if it meets no more."""
    rng = np.random.default_rng(0)
    found: dict[Any, GameState] = {}
    states = [game.start()] * 64
    for _ in range(100 * game.max_plies):
        found.update((state.id, state) for state in states)
        if len(found) >= count:
            break
        logits = np.array(predictor(np.stack([state.planes() for state in states]))[1])
        for i, state in enumerate(states):
            legal = list(state.allowedActions)
            after = state.takeAction(int(rng.choice(legal, p=legal_softmax(logits[i, legal]))))[0]
            states[i] = game.start() if after.isEndGame else after
    return list(found.values())[:count]


def in_batches(predictor: Predictor, states: list[GameState]) -> tuple[np.ndarray, np.ndarray]:
    """Return (values, logits) of positions."""
    parts = [states[first : first + 64] for first in range(0, len(states), 64)]
    found = [tuple(np.array(a) for a in predictor(np.stack([s.planes() for s in part]))) for part in parts]
    return np.concatenate([value for value, _ in found]), np.concatenate([logits for _, logits in found])


def searched(game: Game, predictor: Predictor, config: Config, states: list[GameState], sims: int) -> list[int]:
    """Return the move that a search chooses in each position."""
    agent, moves = Agent("file", game, predictor, config.search, mcts_sims=sims), []
    for first in range(0, len(states), agent.at_once):
        part = states[first : first + agent.at_once]
        agent.new_games(len(part))
        for slot in range(len(part)):
            agent.new_game(slot, 0)
        moves += [decision.action for decision in agent.act_many(range(len(part)), part, [0.0] * len(part))]
    return moves


def compare(game: Game, config: Config, formats: list[str], count: int, sims: int) -> None:
    """Print, for a game and each format, how many moves are the program's."""
    agent = network_player(game, 0, "current")
    stored = StoredNetwork(replace(config, precision="float32"), game)
    stored.set_weights(agent.model.get_weights())
    program = make_predictor(stored, backend="openvino")
    states = positions(game, program, count)
    values, logits = in_batches(program, states)
    legal = [list(state.allowedActions) for state in states]
    chosen = [best(row, moves) for row, moves in zip(logits, legal, strict=True)]
    sought = searched(game, program, config, states, sims)
    for form in formats:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"network{ENDINGS[form]}"
            export_network(_with_keras(stored) if form in THROUGH_KERAS else stored, path, form, agent.name)
            reader = flat(READERS[form](str(path)))
            found = in_batches(reader, states)
            others = [best(row, moves) for row, moves in zip(found[1], legal, strict=True)]
            by_search = searched(game, reader, config, states, sims)
        same = [sum(a == b for a, b in zip(*pair, strict=True)) for pair in ((chosen, others), (sought, by_search))]
        far = [np.abs(found[0] - values).max(), np.abs(found[1] - logits).max()]
        counts = f"{len(states):>6}{same[0]:>8}{same[1]:>8}"
        print(f"{game.spec:<18}{form:<10}{counts}{far[0]:>12.1e}{far[1]:>12.1e}", flush=True)
        for what, ours, theirs in (("policy", chosen, others), ("search", sought, by_search)):
            for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
                if a != b:
                    gap = logits[i, a] - logits[i, b]
                    print(f"    {what}: {game.move_name(a)} {game.move_name(b)}, logits differ by {gap:.1e}")


def best(logits: np.ndarray, legal: list[int]) -> int:
    """Return the legal move with the largest logit."""
    return legal[int(np.argmax(logits[legal]))]


def _with_keras(stored: StoredNetwork) -> Any:
    from model import make_network

    made = make_network(stored.config, stored.game)
    made.set_weights(stored.get_weights())
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--positions", type=int, default=1000)
    parser.add_argument("--sims", type=int, default=16)
    parser.add_argument("--formats", nargs="+", default=["onnx", "openvino"], choices=READERS)
    parser.add_argument("--games", nargs="*", default=[])
    args = parser.parse_args()
    print("game              format     positions same policy, search; largest difference of value, logits")
    for folder in sorted(SHIPPED.glob("*/run0001")):
        config = read_config(folder)
        if not args.games or config.game in args.games:
            compare(games.make(config.game), config, args.formats, args.positions, args.sims)


if __name__ == "__main__":
    main()
