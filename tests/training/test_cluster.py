"""Self-play on a Ray cluster whose machines come, go, freeze and differ: no game is lost, none comes twice."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from config import UserError
from initialise import Session
from main import train
from storage.atomic_files import sha256
from storage.run_store import Store
from storage.verify import verify
from support.fake_actors import FakeActor
from support.fake_workers import game_of
from support.ray_cluster import RayCluster, objects_left, ray
from support.run_states import assert_same_run
from support.systems import needs_posix
from support.tiny_runs import QUIET, tiny
from system.program import sources_digest
from training import cluster_pool
from training.cluster import Cluster
from training.cluster_facts import facts
from training.cluster_pool import ClusterPool
from training.game_source import source_of
from training.selfplay import game_seed
from training.worker_pool import RoundSpec, WorkersFailed

pytestmark = needs_posix
HERE = Path(__file__).parents[2]
NET = b"net"


@pytest.fixture(scope="module")
def machines():
    """Return a cluster: a head without cores and three nodes of one core."""
    found = RayCluster()
    yield found
    found.close()


@pytest.fixture
def three(machines):
    """Return the same with its three nodes there, whatever other tests did to them."""
    while len(machines.nodes) > 3:
        machines.remove(machines.nodes[-1])
    while len(machines.nodes) < 3:
        machines.add()
    return machines


class Fakes:
    """A driver of fake actors; `said` and `log` are what the user reads."""

    def __init__(self, machines, folder, **settings):
        self.said, self.log = [], []
        self.cluster = Cluster(
            machines.address, library="openvino", precision="float32", say=self.said.append, actor=FakeActor
        )
        self._path = folder / "net"
        self._path.write_bytes(NET)
        self._settings = json.dumps({"folder": str(folder), **settings}).encode()
        self.pool = None

    def spec(self, iteration=3):
        return RoundSpec("run", iteration, 5, str(self._path), sha256(NET))

    def play(self, count, *, workers=0, side_by_side=4, **limits):
        if self.pool is None:
            self.pool = ClusterPool(
                self.cluster, self._settings, workers=workers, side_by_side=side_by_side, log=self.log.append, **limits
            )
        return self.pool.play(self.spec(), range(count))

    def handles(self, **wanted):
        return [p.handle for p in self.pool._places if p.handle and all(getattr(p, k) == v for k, v in wanted.items())]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.pool is not None:
            self.pool.close()
        self.cluster.close()


def assert_all_there(records, count):
    """Each game came once, and is the one that an undisturbed worker plays."""
    assert sorted(r.index for r in records) == list(range(count))
    for record in records:
        wanted = game_of(record.index, game_seed("run", 3, record.index), NET)
        assert record.result == wanted.result and record.moves.tolist() == wanted.moves.tolist()


def process_of(handle):
    return int(handle.name.split("process ")[1].rstrip(")"))


def test_games_come_once_each_round_after_round_and_the_object_stores_are_empty_after_each(three, tmp_path):
    with Fakes(three, tmp_path) as fakes:
        for _ in range(5):
            assert_all_there(list(fakes.play(60)), 60)
            assert objects_left() == 0 and fakes.cluster.content is None
        assert len(fakes.handles(ready=True)) == 3 and fakes.pool.counts().evaluations == 300
        assert all(handle._outgoing == [] for handle in fakes.handles())
        assert fakes.log == [] and len(fakes.cluster.classes) == 1
    assert list(fakes.cluster.classes)  # and a driver that has ended leaves no actor


def test_a_node_that_is_gone_in_the_middle_of_tasks_costs_no_game_and_nobody_is_blamed(three, tmp_path):
    found, seen = [], set()
    with Fakes(three, tmp_path, pace=0.05) as fakes:
        for record in fakes.play(150):
            found.append(record)
            seen.update(fakes.handles())
            if len(found) in (30, 60) and len(three.nodes) > 1:
                three.remove(three.nodes[0])
        assert_all_there(found, 150)
        assert len(three.nodes) == 1 and "games go to others" in "".join(fakes.log)
        ended = seen - set(fakes.handles())
        assert ended and all(handle.lost for handle in ended)


def test_actors_killed_at_any_moment_cost_no_game_and_bring_none_twice(three, tmp_path):
    found, killed = [], set()
    with Fakes(three, tmp_path, pace=0.02) as fakes:
        for record in fakes.play(200):
            found.append(record)
            busy = [handle for handle in fakes.handles(busy=True) if process_of(handle) not in killed]
            if len(killed) < 4 and len(found) % 20 == 0 and busy:
                os.kill(process_of(busy[0]), signal.SIGKILL)
                killed.add(process_of(busy[0]))
    assert_all_there(found, 200)
    assert len(killed) == 4 and sum("games go to others" in line for line in fakes.log) >= 4


def test_a_frozen_actor_is_replaced_when_its_lease_is_over(three, tmp_path):
    with Fakes(three, tmp_path, freezes=[7]) as fakes:
        assert_all_there(list(fakes.play(20, lease=6.0)), 20)
    assert "gave no sign for 6 s" in "".join(fakes.log)


def test_a_machine_that_joins_late_plays_and_until_there_is_one_the_user_is_told(three, tmp_path, monkeypatch):
    monkeypatch.setattr("training.cluster.WAITED", 0.0)
    while three.nodes:
        three.remove(three.nodes[0])
    found = []
    with Fakes(three, tmp_path, pace=0.05) as fakes:
        slots = fakes.cluster.slots

        def slots_with_one():
            if fakes.said and not three.nodes:  # it has looked for one in vain
                three.add()
            return slots()

        fakes.cluster.slots = slots_with_one
        list(fakes.play(0))
        for record in fakes.pool.play(fakes.spec(), range(50_000), stop=lambda: len(fakes.handles(ready=True)) > 1):
            found.append(record)
            if len(found) == 10:
                three.add(cores=2)
        assert "waiting for a machine" in fakes.said[0] and len(fakes.pool._places) >= 3
    assert len({record.index for record in found}) == len(found) > 10


def test_a_task_that_fails_each_time_stops_the_run_with_the_workers_own_words(three, tmp_path):
    with Fakes(three, tmp_path, raises=[7]) as fakes:
        with pytest.raises(WorkersFailed, match="failed 3 times; the last time: RuntimeError: game 7 is broken"):
            list(fakes.play(20))
        assert "fake_workers.py" in "".join(fakes.log)
        assert objects_left() == 0


def test_a_machine_with_other_packages_is_refused_and_the_others_play(three, tmp_path):
    three.remove(three.nodes[0])
    three.add(facts={"packages": {"numpy": "1.0"}})
    with Fakes(three, tmp_path) as fakes:
        assert_all_there(list(fakes.play(40)), 40)
        assert len(fakes.cluster._parked) in (0, 1)
        if fakes.cluster._parked:
            (said,) = [text for text in fakes.said if "expected numpy" in text]  # one may have been waited for, too
            assert "got 1.0; install the same" in said
    three.remove(three.nodes[-1])


def test_where_no_machine_can_play_the_run_ends_with_the_reason(three, tmp_path):
    while three.nodes:
        three.remove(three.nodes[0])
    three.add(facts={"sources": "other", "commit": "abc1234"})
    with Fakes(three, tmp_path) as fakes, pytest.raises(UserError, match="no machine that can.*got commit abc1234"):
        list(fakes.play(4))
    three.remove(three.nodes[0])


def test_machines_with_another_commit_are_refused_by_their_sources(three, tmp_path, monkeypatch):
    """The driver's program is a copy with one more line; what the machines say of theirs is true."""
    for name in subprocess.run(["git", "ls-files", "*.py"], cwd=HERE, capture_output=True, text=True).stdout.split():
        (tmp_path / "copy" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(HERE / name, tmp_path / "copy" / name)
    assert sources_digest(tmp_path / "copy") == sources_digest(HERE)
    with (tmp_path / "copy" / "game.py").open("a") as file:
        file.write("# changed\n")
    other = facts() | {"sources": sources_digest(tmp_path / "copy"), "commit": "abc1234"}
    monkeypatch.setattr("training.cluster.facts", lambda: other)
    with Fakes(three, tmp_path) as fakes:
        with pytest.raises(UserError, match="expected the program of this machine .commit abc1234."):
            list(fakes.play(4))


# ---- whole runs


def on_cluster(machines, config, root=None, folder=None):
    """Return a session of a new run, or of the one in a folder, on the cluster."""
    session = Session.open(folder, config, console=QUIET) if folder else Session.start(config, root=root, console=QUIET)
    session.cluster = cluster_pool.connect(machines.address, 0, config, lambda text: None)
    return session


def test_a_run_on_a_cluster_is_the_run_without_though_a_node_is_lost_and_another_joins(three, trained, tmp_path):
    events = []

    def disturb():
        places = source_of(session).pool._places
        if not events and any(place.busy for place in places):
            three.remove(three.nodes[0])
            events.append("lost")
        elif events == ["lost"] and session.iteration == 2:
            three.add()
            events.append("joined")
        return False

    with on_cluster(three, tiny(), tmp_path) as session:
        train(session, stop=disturb)
        counts = source_of(session).pool.counts()
        assert objects_left() == 0
    session.cluster.close()
    assert events == ["lost", "joined"] and counts.evaluations > 0
    assert_same_run(session.folder, trained)
    found = verify(session.folder)
    assert found.state == verify(trained).state and found.mixed == () and found.games == 96


DRIVER = """
import sys
sys.path[:0] = [{root!r}, {tests!r}]
from pathlib import Path
from config import UserError
from initialise import Session
from main import train
from support.tiny_runs import QUIET, tiny
from training.cluster_pool import connect
if __name__ == "__main__":
    with Session.start(tiny(), root=Path(sys.argv[2]), console=QUIET) as session:
        session.cluster = connect(sys.argv[1], 0, session.config, print)
        print(session.folder, flush=True)
        train(session)
"""


def test_a_driver_killed_in_the_middle_is_resumed_as_the_same_run_and_leaves_no_actor(three, trained, tmp_path):
    script = tmp_path / "driver.py"
    script.write_text(DRIVER.format(root=str(HERE), tests=str(HERE / "tests")))
    driver = subprocess.Popen(
        [sys.executable, script, three.address, tmp_path / "runs"], stdout=subprocess.PIPE, text=True
    )
    folder = Path(driver.stdout.readline().strip())
    while driver.poll() is None:
        store = Store(folder / "run.db", read_only=True)
        games = store.count_games()
        store.close()
        if games > 30:
            driver.kill()
            break
        time.sleep(0.02)
    driver.wait()
    with on_cluster(three, tiny(), folder=folder) as session:
        for _ in range(1200):  # the actors of the driver that was killed end, so that all cores are free
            if ray.available_resources().get("CPU", 0) == 3:
                break
            time.sleep(0.1)
        assert ray.available_resources().get("CPU", 0) == 3
        train(session)
    session.cluster.close()
    assert_same_run(folder, trained)
    assert verify(folder).state == verify(trained).state
