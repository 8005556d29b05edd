"""The player inside a worker of self-play, and each worker process's share of the machine."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import games
from config import Config, UserError, from_json, to_json, with_overrides
from game import Game
from games.own import digest
from network.choose_predictor import choose_backend, make_predictor, on_board
from network.predictor import STEADY, cores, side_by_side
from network.stored_network import open_network
from storage.atomic_files import DamagedData, arrays_from_bytes, read_checked, sha256
from storage.game_record import GameRecord
from storage.run_store import Store
from system import processes
from training.selfplay import Counts, SelfPlay
from training.size_plan import game_named, total
from training.worker_messages import expected_of
from training.worker_pool import WorkerPool
from training.worker_process import ProcessHandle


class NetworkPlayer:
    """Plays games with a network, on this worker's share of the cores."""

    def __init__(self, config: Config, game: Game, model: Any) -> None:
        """model: a `Gen_Model` or a `StoredNetwork`, without arrays."""
        self._config, self._game, self._board, self._model = config, game, "", model
        self._shapes = model.shapes
        self._past = Counts(0, 0, 0, 0, 0, 0, 0.0)
        self._begin(game, model)

    def _begin(self, game: Game, model: Any) -> None:
        streams = side_by_side(game, self._config.selfplay)[1]
        self._predictor = make_predictor(
            model,
            backend=self._config.backend,
            streams=streams,
            smallest=STEADY,
            in_8_bits=self._config.precision == "int8",
        )
        self._selfplay = SelfPlay(game, self._config, threads=cores())

    def counts(self) -> Counts:
        return total(self._past, self._selfplay.counts())

    def on_board(self, board: str) -> None:
        """Play the run's game on the board with this name from now on."""
        if board != self._board:
            self._past, self._board = self.counts(), board
            game = game_named(self._game, board)
            self._begin(game, on_board(self._model, game, self._model.get_weights(), self._config.backend))

    def load(self, weights: str | bytes, digest: str, iteration: int) -> None:
        data = weights if isinstance(weights, bytes) else read_checked(Path(weights), digest)
        if sha256(data) != digest:
            raise DamagedData("the network: expected the one that the run wrote, got another")
        self._predictor.load(arrays_from_bytes(data, self._shapes, "the network"))
        self._selfplay.clear_cache()
        self._selfplay.set_iteration(iteration)

    def play(
        self, todo: deque[tuple[int, int]], stop: Callable[[], bool], together: Callable[[], bool]
    ) -> Iterator[GameRecord]:
        return self._selfplay.play(self._predictor, todo, stop=stop, together=together)


def _network(config: Config, game: Game, folder: Path) -> Any:
    """Return the network of a run; Keras is loaded only where it evaluates."""
    library = choose_backend(config.backend)
    if library != "keras":
        store = Store(folder / "run.db", read_only=True)
        try:
            if (stored := open_network(folder, store, config, game, library)) is not None:
                return stored
        finally:
            store.close()
    from model import make_network

    return make_network(config, game, typed=False)


def make_network_player(settings: dict[str, Any]) -> NetworkPlayer:
    """Return the player of a new worker process.

    settings: {config: JSON, rules: the game's digest, folder: of the run, cores: [processors it may use]}.
    """
    processes.keep_to(settings["cores"])  # before the libraries count the cores
    os.environ.setdefault("TF_FORCE_GPU_ALLOW_GROWTH", "true")
    config = from_json(settings["config"])
    game = games.make(config.game)
    if digest(game) != settings["rules"]:
        raise UserError(f"{game.spec}: its files have changed while the run is at work; start the command again")
    return NetworkPlayer(config, game, _network(config, game, Path(settings["folder"])))


def share_of(config: Config) -> Config:
    """Return the settings of one worker: its part of the games in flight and of the evaluation cache."""
    games_in_flight = -(-config.games_in_flight // config.workers)
    return with_overrides(config, games_in_flight=games_in_flight, cache_size=config.cache_size // config.workers)


def cores_of(place: int, workers: int) -> list[int]:
    """Return the processors of a worker: its own, as long as there are enough for all."""
    known = processes.processors()
    return known[place % len(known) :: workers] or [known[place % len(known)]]


def process_pool(config: Config, game: Game, folder: Path, log: Callable[[str], None]) -> WorkerPool:
    """Return a pool of `config.workers` processes for a run; none is started before there are games to play."""
    mine = share_of(config)

    def spawn(place: int, report: Any) -> ProcessHandle:
        settings = {
            "config": to_json(mine),
            "rules": digest(game),
            "folder": str(folder),
            "cores": cores_of(place, config.workers),
        }
        return ProcessHandle(place, report, make_network_player, settings)

    trees, threads = side_by_side(game, mine.selfplay, len(cores_of(0, config.workers)))
    return WorkerPool(
        spawn,
        workers=config.workers,
        side_by_side=trees * threads,
        log=log,
        expected=lambda board: expected_of(game_named(game, board)),
    )
