"""The player inside an actor of a cluster: it has the network's graph, never Keras, and never the run's files."""

from __future__ import annotations

from typing import Any

import games
from config import UserError, from_json
from games.own import digest
from network.stored_network import StoredNetwork
from system import processes
from training.worker_messages import unpack
from training.worker_player import NetworkPlayer


def make_cluster_player(settings: dict[str, Any]) -> NetworkPlayer:
    """Return the player of an actor.

    settings: {settings: a message {config: JSON, rules: the game's digest, cores, shapes} with the graph of a user's
    own network; without one the network is that of model.py}.
    """
    head, graph = unpack(settings["settings"])
    processes.count_on(head["cores"])  # before the libraries count them
    config = from_json(head["config"])
    game = games.make(config.game)
    if digest(game) != head["rules"]:
        raise UserError(f"{game.spec}: expected the rules that the run's machine has, got others; copy its file")
    model = StoredNetwork(config, game, graph or None, [tuple(s) for s in head["shapes"]] if graph else None)
    return NetworkPlayer(config, game, model)
