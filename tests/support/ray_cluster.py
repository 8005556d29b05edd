"""A Ray cluster on this machine for tests: a head without cores, and nodes that come and go."""

import os
import time
from pathlib import Path

import pytest

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install -r requirements-dev.txt")
HERE = Path(__file__).parents[2]


class RayCluster:
    """Nodes are processes of this machine. Made before a driver connects; `close` ends all of them."""

    def __init__(self, nodes=3, cores=1):
        from ray.cluster_utils import Cluster

        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        paths = [str(HERE), str(HERE / "tests"), os.environ.get("PYTHONPATH", "")]
        before, os.environ["PYTHONPATH"] = os.environ.get("PYTHONPATH"), os.pathsep.join(filter(None, paths))
        self._path = before
        head = {"num_cpus": 0, "include_dashboard": False, "include_log_monitor": False}
        self._ray = Cluster(initialize_head=True, head_node_args=head)
        self.address = self._ray.address
        self.nodes = []
        for _ in range(nodes):
            self.add(cores)

    def add(self, cores=1):
        """Add a node with this many cores."""
        self.nodes.append(self._ray.add_node(num_cpus=cores))
        return self.nodes[-1]

    def remove(self, node):
        """End a node as a loss of power would."""
        self.nodes.remove(node)
        self._ray.remove_node(node, allow_graceful=False)

    def close(self):
        ray.shutdown()
        self._ray.shutdown()
        if self._path is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = self._path


def objects_left(seconds=120.0):
    """Return the bytes in the cluster's object stores, waiting until there are none for at most so long."""
    end = time.monotonic() + seconds
    while True:
        left = ray.cluster_resources()["object_store_memory"] - ray.available_resources().get("object_store_memory", 0)
        if not left or time.monotonic() > end:
            return left
        time.sleep(0.2)
