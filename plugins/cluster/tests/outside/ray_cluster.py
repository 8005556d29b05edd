"""A Ray cluster on this machine for tests: a head without cores, and nodes that come and go."""

import json
import os
import secrets
import socket
import time
from pathlib import Path

import pytest

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install -r requirements-dev.txt")
from ray._private.authentication_test_utils import reset_auth_token_state  # noqa: E402

HERE = Path(__file__).parents[4]
PATIENT = {
    "RAY_agent_register_timeout_ms": "1200000", "RAY_worker_register_timeout_seconds": "300",
    "RAY_health_check_timeout_ms": "60000", "RAY_gcs_server_request_timeout_seconds": "600",
    "RAY_USAGE_STATS_ENABLED": "0", "RAY_prestart_worker_first_driver": "0", "RAY_worker_niceness": "0",
}  # fmt: skip
"""Limits that a machine ten times as busy still keeps, no process before it is needed, and none behind all others: the
tests wait for them. The loss of a node is noticed as soon as before."""
START = 1200.0
"""Seconds for which a node may start; Ray itself gives up after 30."""


def free_port():
    """Return the number of a free port."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def with_ports(start_raylet):
    """Return `Node.start_raylet`, which waits 30 seconds for the ports of helpers, with these ports known: none."""
    from ray._raylet import persist_port

    def start(node, *arguments, **options):
        node._ray_params.runtime_env_agent_port = port = free_port()
        names = ("metrics_agent_port", "metrics_export_port", "dashboard_agent_listen_port")
        for name, number in [*((name, -1) for name in names), ("runtime_env_agent_port", port)]:
            persist_port(node._session_dir, node._node_id, name, number)
        return start_raylet(node, *arguments, **options)

    return start


def without_agents(command_of):
    """Return what makes the command of a process of Ray; each node's two agents are programs that only wait.

    Nothing here asks the agents anything, and each start of one costs seconds of processor time. Ray wants a process
    that lasts as long as its node: this one reads from the node until there is no more.
    """

    def command(kind, folder):
        agent = kind in ("dashboard_agent", "runtime_env_agent")
        return ["sh", "-c", "cat > /dev/null"] if agent else command_of(kind, folder)

    return command


def patiently(get_node):
    """Return `services.get_node`, which raises while a node is not there yet, with more time."""

    def get(*arguments):
        end = time.monotonic() + START
        while True:
            try:
                return get_node(*arguments)
            except RuntimeError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.2)

    return get


class RayCluster:
    """Nodes are processes of this machine. Made before a driver connects; `close` ends all of them.

    The cluster has a token of its own, as docs/cluster.md wants it; with `token=False` it is open to all.
    """

    def __init__(self, nodes=3, cores=1, token=True):
        from ray.cluster_utils import Cluster

        self._patch = pytest.MonkeyPatch()
        mode = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(16)}
        for name, value in (PATIENT | (mode if token else {"RAY_AUTH_MODE": "disabled"})).items():
            self._patch.setenv(name, value)
        reset_auth_token_state()
        paths = [str(HERE), str(HERE / "tests"), os.environ.get("PYTHONPATH", "")]
        self._patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
        self._patch.setattr("ray._private.utils.get_dashboard_dependency_error", lambda: ImportError("not needed"))
        self._patch.setattr("ray._private.node.Node.start_raylet", with_ports(ray._private.node.Node.start_raylet))
        build = "_build_python_executable_command_memory_profileable"
        self._patch.setattr(f"ray._private.services.{build}", without_agents(getattr(ray._private.services, build)))
        self._patch.setattr("ray._private.node.Node.start_api_server", lambda *_, **__: None)
        self._patch.setattr("ray._private.services.get_node", patiently(ray._private.services.get_node))
        self._ray = Cluster()
        self._ray.add_node(wait=False, num_cpus=0, include_dashboard=False, include_log_monitor=False, no_monitor=True)
        self.address = self._ray.address
        self.nodes = []
        for _ in range(nodes):
            self.add(cores)

    def add(self, cores=1, facts=None):
        """Add a node with this many cores; facts: what it says of itself in place of the truth."""
        with pytest.MonkeyPatch.context() as patch:  # its processes inherit this one's environment
            patch.setenv("FACTS", json.dumps(facts or {}))
            self.nodes.append(self._ray.add_node(wait=False, num_cpus=cores))
        return self.nodes[-1]

    def keep(self, count):
        """Remove and add nodes until there are `count`; the newest ones are removed first."""
        while len(self.nodes) > count:
            self.remove(self.nodes[-1])
        while len(self.nodes) < count:
            self.add()

    def remove(self, node):
        """End a node as a loss of power would."""
        self.nodes.remove(node)
        self._ray.remove_node(node, allow_graceful=False)

    def close(self):
        ray.shutdown()
        for node in self._ray.list_all_nodes()[::-1]:
            self._ray.remove_node(node, allow_graceful=False)
        self._patch.undo()
        reset_auth_token_state()


def objects_left(seconds=120.0):
    """Return the bytes in the cluster's object stores, waiting until there are none for at most so long."""
    end = time.monotonic() + seconds
    while True:
        left = ray.cluster_resources()["object_store_memory"] - ray.available_resources().get("object_store_memory", 0)
        if not left or time.monotonic() > end:
            return left
        time.sleep(0.2)
