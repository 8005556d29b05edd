"""Options of commands that play on a cluster, and the connection during a command."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from config import UserError
from interface.arguments import whole

if TYPE_CHECKING:
    from training.cluster import Cluster


@contextmanager
def joined(address: str, cores: int, connect: Callable[[str, int], Cluster]) -> Iterator[Cluster | None]:
    """Be connected to the cluster at an address during the block; None without one. connect: (address, cores)."""
    whole(cores, "cluster_cores", 0, 1024)
    if not address:
        if cores:
            raise UserError("expected --cluster-cores together with --cluster")
        yield None
        return
    cluster = connect(address, cores)
    try:
        yield cluster
    finally:
        cluster.close()
