"""Options of commands that play on a cluster, and the connection during a command."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from config import UserError
from interface.arguments import whole

if TYPE_CHECKING:
    from plugins.cluster.cluster import Cluster


class Options(Protocol):
    """Options of a command that can play on a cluster."""

    @property
    def cluster(self) -> str: ...
    @property
    def cluster_cores(self) -> int: ...
    @property
    def cluster_without_token(self) -> bool: ...


@contextmanager
def joined(options: Options, connect: Callable[[str, int, bool], Cluster]) -> Iterator[Cluster | None]:
    """Be connected to a command's cluster during the block; None without one. connect: (address, cores, open)."""
    whole(options.cluster_cores, "cluster_cores", 0, 1024)
    if not options.cluster:
        for name in ("cluster_cores", "cluster_without_token"):
            if getattr(options, name):
                raise UserError(f"expected --{name.replace('_', '-')} together with --cluster")
        yield None
        return
    cluster = connect(options.cluster, options.cluster_cores, options.cluster_without_token)
    try:
        yield cluster
    finally:
        cluster.close()
