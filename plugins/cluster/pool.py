"""Self-play on a cluster: a pool whose workers are actors, each with the network's graph and one object a version."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from config import Config, UserError, to_json, with_overrides
from games.own import digest
from initialise import Session
from network.cpu_features import resolve_precision
from network.predictor import STEADY, side_by_side
from network.stored_network import open_network
from plugins.cluster.cluster import Cluster
from plugins.cluster.handle import ActorHandle
from storage.atomic_files import read_checked
from storage.game_record import GameRecord
from training.size_plan import game_named
from training.worker_messages import expected_of, pack
from training.worker_pool import RoundSpec, WorkerPool


class ClusterPool(WorkerPool):
    """Games played by the actors of a cluster: as many as its machines have room for, or as many as are named."""

    def __init__(
        self, cluster: Cluster, settings: bytes, *, workers: int,
        content: Callable[[RoundSpec], bytes] = lambda spec: read_checked(Path(spec.weights), spec.sha256),
        **options: Any,
    ) -> None:  # fmt: skip
        """content: returns what all games of a round need, by default the network's file."""

        def spawn(place: int, report: Any) -> ActorHandle:
            return ActorHandle(cluster, place, report, settings)

        self._cluster, self._named, self._content = cluster, workers, content
        super().__init__(spawn, workers=max(workers or cluster.slots(), 1), places=self._room, **options)

    def _room(self) -> int:
        found = self._cluster.slots()
        return self._named or found

    def play(
        self, spec: RoundSpec, games: Sequence[int], *, stop: Callable[[], bool] = lambda: False
    ) -> Iterator[GameRecord]:
        with self._cluster.round(self._content(spec)):
            yield from super().play(spec, games, stop=stop)


def backend_of(backend: str) -> str:
    """Return the library that evaluates in actors; raise `UserError` where that would be Keras."""
    if backend == "keras":
        raise UserError("cluster: its machines evaluate without Keras; expected --backend auto or openvino, got keras")
    known = ("openvino", "onnxruntime") if backend == "auto" else (backend,)
    for name in known:
        if find_spec(name) is not None:
            return name
    raise UserError(f"cluster: {known[0]} is not installed on this machine; `pip install {known[0]}`")


class SelfPlayCluster(Cluster):
    """A cluster that plays a session's self-play (`training.game_source.Machines`)."""

    def pool(self, session: Session) -> ClusterPool:
        """Return the pool that plays a run's games here."""
        return cluster_pool(session, self)


def connect(
    address: str, cores: int, config: Config, say: Callable[[str], None], *, without_token: bool = False
) -> SelfPlayCluster:
    """Return the connection to a cluster for a run."""
    library, precision = backend_of(config.backend), resolve_precision(config.precision)
    return SelfPlayCluster(
        address, cores=cores, library=library, precision=precision, say=say, without_token=without_token
    )


def cluster_pool(session: Session, cluster: Cluster, **limits: Any) -> ClusterPool:
    """Return the pool that plays a run's games on a cluster. limits: those of `WorkerPool`."""
    s = session
    workers = max(s.config.workers or cluster.slots(), 1)
    mine = actors_config(s.config, workers, cluster.cores)
    settings = _settings(s, mine, cluster.cores)
    trees, threads = side_by_side(s.game, mine.selfplay, cluster.cores)
    return ClusterPool(
        cluster,
        settings,
        workers=s.config.workers,
        side_by_side=trees * threads,
        log=s.loggers.main.warning,
        expected=lambda board: expected_of(game_named(s.game, board)),
        **limits,
    )


def actors_config(config: Config, workers: int, cores: int) -> Config:
    """Return the settings of one actor: as many games as fill its batches, if the run has that many in flight."""
    share, full = -(-config.games_in_flight // workers), min(config.games_in_flight, STEADY * cores)
    return with_overrides(
        config, games_in_flight=max(share, full), backend=backend_of(config.backend),
        precision=resolve_precision(config.precision),
    )  # fmt: skip


def _settings(session: Session, config: Config, cores: int) -> bytes:
    """Return what an actor is made from; see `cluster_player.make_cluster_player`."""
    s, game = session, session.game
    _ = s.model  # building it records how it is evaluated without Keras
    stored = open_network(s.folder, s.store, config, game, config.backend)
    if stored is None:
        raise UserError(f"cluster: expected a network that {config.backend} evaluates, got one that needs Keras")
    head = {"kind": "selfplay", "config": to_json(config), "rules": digest(game), "cores": cores,
            "shapes": stored.shapes}  # fmt: skip
    return pack(head, stored.graph or b"")
