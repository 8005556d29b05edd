"""The players inside an actor of a cluster: of self-play, by the network's graph and without Keras, and of matches."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import games
from config import UserError, from_json
from evaluation.players_as_bytes import Visitor
from game import Game
from games.own import digest
from network.stored_network import StoredNetwork
from storage.atomic_files import DamagedData, sha256
from storage.game_record import GameRecord
from system import processes
from training.selfplay import Counts
from training.worker_messages import unpack
from training.worker_player import NetworkPlayer
from training.worker_process import TaskPlayer

SIDE_BY_SIDE = 16
"""Games of a match that are played side by side."""


def make_cluster_player(settings: dict[str, Any]) -> TaskPlayer:
    """Return the player of an actor.

    settings: {settings: a message {kind, rules: the game's digest, cores}, for "selfplay" with {config: JSON, shapes}
    and the graph of a user's own network, without one the network is that of model.py; for "match" with {game}}.
    """
    head, graph = unpack(settings["settings"])
    processes.count_on(head["cores"])  # before the libraries count them
    config = from_json(head["config"]) if head["kind"] == "selfplay" else None
    game = games.make(config.game if config else head["game"])
    if digest(game) != head["rules"]:
        raise UserError(f"{game.spec}: expected the rules that the run's machine has, got others; copy its files")
    if config is None:
        return MatchPlayer(game)
    model = StoredNetwork(config, game, graph or None, [tuple(s) for s in head["shapes"]] if graph else None)
    return NetworkPlayer(config, game, model)


class MatchPlayer:
    """Plays the games of matches that other machines describe."""

    def __init__(self, game: Game) -> None:
        self._visitor = Visitor(game)

    def counts(self) -> Counts:
        return Counts(0, 0, 0, 0, 0, 0, 0.0)

    def on_board(self, board: str) -> None:
        raise DamagedData("a match: expected no board, as each side brings its game")

    def load(self, weights: str | bytes, digest: str, iteration: int) -> None:
        if not isinstance(weights, bytes) or sha256(weights) != digest:
            raise DamagedData("a match: expected the one that the driver sent, got another")
        self._visitor.load(weights)

    def play(
        self, todo: deque[tuple[int, int]], stop: Callable[[], bool], together: Callable[[], bool]
    ) -> Iterator[GameRecord]:
        while not stop() and todo:
            yield from self._visitor.play([todo.popleft()[0] for _ in range(min(len(todo), SIDE_BY_SIDE))], stop)
