"""Options of commands that play on a cluster, and the connection during a command."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from config import Config, UserError
from interface.arguments import whole
from system.terminal import harmless

if TYPE_CHECKING:
    from evaluation.match import MatchMachines
    from game import Game
    from training.game_source import Machines


def _plainly(say: Callable[[str], None]) -> Callable[[str], None]:
    """Return what says a line in which a machine's own words can command no terminal."""
    return lambda text: say(harmless(text))


@dataclass(frozen=True)
class TrainOnCluster:
    """Options of `train`."""

    cluster: str = ""
    """Play the games of self-play on the machines of a Ray cluster: HOST:PORT of its head, where this has to run, or
    auto (docs/cluster.md). --workers is then the number of workers there, 0 = as many as there is room for."""
    cluster_cores: int = 0
    """Cores of a worker of the cluster; 0 = as many, up to 8, as leave the fewest of its machines' cores over."""
    cluster_without_token: bool = False
    """Also join a cluster that asks for no token. Whoever reaches such a cluster can run programs on its machines."""

    @contextmanager
    def machines(self, config: Config, say: Callable[[str], None]) -> Iterator[Machines | None]:
        """Be connected to the cluster during the block; None without one."""
        if not _wanted(self):
            yield None
            return
        from plugins.cluster.pool import connect

        say = _plainly(say)
        cluster = connect(self.cluster, self.cluster_cores, config, say, without_token=self.cluster_without_token)
        try:
            yield cluster
        finally:
            cluster.close()


@dataclass(frozen=True)
class MatchOnCluster:
    """Options of `match`."""

    cluster: str = ""
    """Share the games out over a Ray cluster: HOST:PORT of its head, or auto (docs/cluster.md). This has to run on the
    head. The games are the same."""
    cluster_cores: int = 0
    """Cores of a worker of the cluster; 0 = one."""
    cluster_without_token: bool = False
    """Also join a cluster that asks for no token. Whoever reaches such a cluster can run programs on its machines."""

    @contextmanager
    def machines(self, game: Game, say: Callable[[str], None]) -> Iterator[MatchMachines | None]:
        """Be connected to the cluster during the block; None without one."""
        if not _wanted(self):
            yield None
            return
        from plugins.cluster.match import ClusterMatches, connect

        say = _plainly(say)
        cluster = connect(self.cluster, self.cluster_cores, say, without_token=self.cluster_without_token)
        try:
            matches = ClusterMatches(cluster, game, say)
            yield matches
            matches.close()
        finally:
            cluster.close()


@dataclass(frozen=True)
class EvaluateOnCluster(MatchOnCluster):
    """Options of `evaluate`."""

    cluster: str = ""
    """Share the ladder's games out over a Ray cluster: HOST:PORT of its head, or auto (docs/cluster.md). This has to
    run on the head. The games are the same."""


def _wanted(options: Any) -> bool:
    """Return whether a command is to play on a cluster; raise `UserError` for options that do not fit together."""
    whole(options.cluster_cores, "cluster_cores", 0, 1024)
    if not options.cluster:
        for name in ("cluster_cores", "cluster_without_token"):
            if getattr(options, name):
                raise UserError(f"expected --{name.replace('_', '-')} together with --cluster")
    return bool(options.cluster)
