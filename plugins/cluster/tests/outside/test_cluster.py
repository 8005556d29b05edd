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
from plugins.cluster import pool as cluster_pool
from plugins.cluster.cluster import Cluster
from plugins.cluster.facts import facts
from plugins.cluster.pool import ClusterPool
from plugins.cluster.tests.fake_actors import FakeActor
from plugins.cluster.tests.outside.ray_cluster import RayCluster, objects_left, ray
from storage.atomic_files import sha256
from storage.run_store import Store
from storage.verify import verify
from support.browser import until
from support.fake_workers import Lease, expected, game_of
from support.run_states import assert_same_run
from support.systems import needs_posix
from support.tiny_runs import QUIET, tiny
from system.program import sources_digest
from training.selfplay import game_seed
from training.work import source_of, work_of
from training.worker_pool import RoundSpec, WorkersFailed

pytestmark = [needs_posix, pytest.mark.keras]
HERE = Path(__file__).parents[4]
NET = b"net"


@pytest.fixture(scope="module")
def machines():
    """Return a cluster: a head without cores, and the nodes that the tests want."""
    found = RayCluster(nodes=0)
    yield found
    found.close()


class Fakes:
    """A driver of fake actors; `said` and `log` are what the user reads."""

    def __init__(self, machines, folder, **settings):
        self.said, self.log, self.folder = [], [], folder
        self.cluster = Cluster(
            machines.address, library="openvino", precision="float32", say=self.said.append, actor=FakeActor
        )
        path = folder / "net"
        path.write_bytes(NET)
        self.spec = RoundSpec("run", 3, 5, str(path), sha256(NET))
        words = json.dumps({"folder": str(folder), **settings}).encode()
        self.pool = ClusterPool(
            self.cluster, words, workers=0, side_by_side=4, log=self.log.append, expected=expected
        )

    def play(self, games, **options):
        return self.pool.play(self.spec, games, **options)

    def handles(self, **wanted):
        return [p.handle for p in self.pool._places if p.handle and all(getattr(p, k) == v for k, v in wanted.items())]

    def play_until(self, workers):
        """Play games until this many workers are ready; return them."""
        return list(self.play(range(10**5, 10**6), stop=lambda: len(self.handles(ready=True)) >= workers))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.pool.close()
        self.cluster.close()


FREEZES, FAILS, DIES = 1007, 2007, 2007
"""Games at which an actor of `fakes` freezes or raises once, or ends its process each time."""


@pytest.fixture(scope="class")
def one_cluster(machines, tmp_path_factory):
    """Return a driver whose actors serve one test after the other."""
    settings = {"pace": 0.02, "freezes": [FREEZES], "fails_once": [FAILS], "dies": [DIES]}
    with Fakes(machines, tmp_path_factory.mktemp("fakes"), **settings) as found:
        yield found


@pytest.fixture
def fakes(one_cluster, monkeypatch):
    """Return the same with nothing said yet."""
    monkeypatch.setattr("plugins.cluster.cluster.LOOK", 0.0)
    one_cluster.log.clear()
    one_cluster.said.clear()
    return one_cluster


def assert_all_there(records, games):
    """Each game came once, and is the one that an undisturbed worker plays."""
    assert sorted(r.index for r in records) == list(games)
    for record in records:
        wanted = game_of(record.index, game_seed("run", 3, record.index), NET)
        assert record.result == wanted.result and record.moves.tolist() == wanted.moves.tolist()


def process_of(handle):
    return int(handle.name.split("process ")[1].rstrip(")"))


class TestOneDriver:
    """Each test leaves machines and actors that the next one can use, and needs none of them."""

    def test_a_machine_that_joins_late_plays_and_until_there_is_one_the_user_is_told(
        self, machines, fakes, monkeypatch
    ):
        monkeypatch.setattr("plugins.cluster.cluster.WAITED", 0.0)
        machines.keep(0)
        found, slots = [], fakes.cluster.slots

        def slots_with_one():
            if fakes.said and not machines.nodes:  # it has looked for one in vain
                machines.add()
            return slots()

        monkeypatch.setattr(fakes.cluster, "slots", slots_with_one)
        list(fakes.play([]))
        for record in fakes.play(range(50_000), stop=lambda: len(fakes.handles(ready=True)) > 1):
            found.append(record)
            if len(found) == 10:
                machines.add(cores=2)
        assert "waiting for a machine" in fakes.said[0] and len(fakes.pool._places) >= 3
        assert len({record.index for record in found}) == len(found) > 10

    def test_games_come_once_each_round_after_round_and_the_object_stores_are_empty_after_each(self, machines, fakes):
        machines.keep(max(len(machines.nodes), 2))
        workers = fakes.cluster.slots()
        fakes.play_until(workers)
        fakes.log.clear()
        before = fakes.pool.counts().evaluations
        for _ in range(5):
            assert_all_there(list(fakes.play(range(60))), range(60))
            assert objects_left() == 0 and fakes.cluster.content is None
        assert len(fakes.handles(ready=True)) == workers and fakes.pool.counts().evaluations - before == 300
        assert until(lambda: all(handle._outgoing == [] for handle in fakes.handles()))
        assert fakes.log == [] and len(fakes.cluster.classes) == 1

    def test_a_frozen_actor_is_replaced_when_its_lease_is_over(self, machines, fakes):
        machines.keep(max(len(machines.nodes), 2))
        fakes.play_until(1)
        games, lease = range(FREEZES - 7, FREEZES + 13), Lease(fakes.pool, fakes.folder, FREEZES)
        assert_all_there(list(fakes.play(games, stop=lease)), games)
        assert any(line.startswith(f"{lease.frozen.name}: gave no sign for") for line in fakes.log)

    def test_actors_killed_at_any_moment_cost_no_game_and_bring_none_twice(self, machines, fakes):
        machines.keep(max(len(machines.nodes), 2))
        found, killed = [], set()
        for record in fakes.play(range(200)):
            found.append(record)
            busy = [handle for handle in fakes.handles(busy=True) if process_of(handle) not in killed]
            if len(killed) < 4 and len(found) >= 20 * (len(killed) + 1) and busy:
                os.kill(process_of(busy[0]), signal.SIGKILL)
                killed.add(process_of(busy[0]))
        assert_all_there(found, range(200))
        assert len(killed) == 4 and sum("games go to others" in line for line in fakes.log) >= 4

    def test_a_node_that_is_gone_in_the_middle_of_tasks_costs_no_game_and_nobody_is_blamed(self, machines, fakes):
        machines.keep(max(len(machines.nodes), 3))
        fakes.play_until(2)
        found, seen, gone = [], set(), []
        for record in fakes.play(range(150)):
            found.append(record)
            seen.update(fakes.handles())
            at_work = {handle._machine for handle in fakes.handles(busy=True)}
            playing = [node for node in machines.nodes if node.node_id in at_work]
            if playing and len(found) >= 30 and len(gone) < 2:  # another may have no actor yet
                gone.append(playing[0])
                machines.remove(playing[0])
        assert_all_there(found, range(150))
        ended = seen - set(fakes.handles())
        assert len(gone) == 2 and len(ended) >= 2 and "games go to others" in "".join(fakes.log)
        until(lambda: all(handle.lost for handle in ended))  # Ray may know of a process before it does of its machine

    def test_a_game_that_ends_its_worker_each_time_ends_the_run_and_the_log_has_the_workers_own_words(
        self, machines, fakes
    ):
        """Raises the first time, then ends its process; the machine stays."""
        machines.keep(1)
        with pytest.raises(WorkersFailed, match="2007.* failed 3 times; the last time: .*process has died"):
            list(fakes.play(range(FAILS - 7, FAILS + 13)))
        assert "RuntimeError: only once" in "".join(fakes.log) and "fake_workers.py" in "".join(fakes.log)
        assert objects_left() == 0


def test_a_machine_with_other_packages_ends_the_run_where_it_is_alone_and_else_the_others_play(
    machines, tmp_path, monkeypatch
):
    monkeypatch.setattr("plugins.cluster.cluster.LOOK", 0.0)
    machines.keep(0)
    machines.add(facts={"packages": {"numpy": "1.0"}})
    with Fakes(machines, tmp_path) as fakes:
        with pytest.raises(UserError, match="no machine that can play.*expected numpy.* got 1.0; install the same"):
            list(fakes.play(range(4)))
        machines.add()
        fakes.play_until(1)
        assert_all_there(list(fakes.play(range(40))), range(40))
        assert len(fakes.cluster._parked) == 1 and sum("expected numpy" in text for text in fakes.said) == 1
    machines.remove(machines.nodes[0])


def test_machines_with_another_commit_are_refused_by_their_sources(machines, tmp_path, monkeypatch):
    """The driver's program is a copy with one more line; what the machines say of theirs is true."""
    for name in subprocess.run(["git", "ls-files", "*.py"], cwd=HERE, capture_output=True, text=True).stdout.split():
        (tmp_path / "copy" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(HERE / name, tmp_path / "copy" / name)
    assert sources_digest(tmp_path / "copy") == sources_digest(HERE)
    with (tmp_path / "copy" / "game.py").open("a") as file:
        file.write("# changed\n")
    other = facts() | {"sources": sources_digest(tmp_path / "copy"), "commit": "abc1234"}
    monkeypatch.setattr("plugins.cluster.cluster.facts", lambda: other)
    machines.keep(1)
    with Fakes(machines, tmp_path) as fakes:
        words = "no machine that can.*expected the program of this machine .commit abc1234"
        with pytest.raises(UserError, match=words):
            list(fakes.play(range(4)))


# ---- tokens


OPEN = """
import os, sys
sys.path[:0] = [{root!r}, {tests!r}]
from config import UserError
from plugins.cluster.tests.outside.ray_cluster import RayCluster, ray, reset_auth_token_state
from plugins.cluster.cluster import Cluster
if __name__ == "__main__":
    machines = RayCluster(nodes=0, token=False)
    os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN="ab" * 16)  # the driver has one, the cluster takes all
    reset_auth_token_state()
    try:
        Cluster(machines.address, library="openvino", precision="float32", say=print)
    except UserError as error:
        print(error, ray.is_initialized())
    one = Cluster(machines.address, library="openvino", precision="float32", say=print, without_token=True)
    print("joined", ray.is_initialized())
    one.close()
    machines.close()
"""


def test_a_cluster_that_answers_callers_without_a_token_is_left_again_though_the_driver_has_one(tmp_path):
    script = tmp_path / "driver.py"
    script.write_text(OPEN.format(root=str(HERE), tests=str(HERE / "tests")))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    refused, joined = done.stdout.splitlines()
    assert "expected a cluster that asks for a token, got one that answers without; start Ray with" in refused
    assert "--cluster-without-token" in refused and refused.endswith("False") and joined == "joined True"


def test_a_driver_with_another_token_is_refused_in_one_line(machines, tmp_path):
    script = tmp_path / "driver.py"
    words = "Cluster(sys.argv[1], library='openvino', precision='float32', say=print)"
    start = f"import sys\nsys.path.insert(0, {str(HERE)!r})\nfrom plugins.cluster.cluster import Cluster\n"
    script.write_text(f"{start}{words}\n")
    other = {**os.environ, "RAY_AUTH_TOKEN": "cd" * 16}
    done = subprocess.run(
        [sys.executable, script, machines.address], env=other, capture_output=True, text=True, timeout=900
    )
    last = done.stderr.rstrip().splitlines()[-1]
    assert done.returncode == 1 and "cannot connect (" in last and "is this its head, and the token its own?" in last


def test_under_uv_run_the_workers_start_in_the_folder_that_was_prepared(machines, tmp_path):
    """Ray sees a driver whose parent is `uv run`, and would have its workers started by uv, in a copy of the folder."""
    (tmp_path / "run").write_text("import subprocess, sys\nsubprocess.run(sys.argv[1:], check=True)\n")
    (tmp_path / "driver.py").write_text(
        f"import sys\nsys.path.insert(0, {str(HERE)!r})\nfrom plugins.cluster.cluster import Cluster, os\n"
        "one = Cluster(sys.argv[1], library='openvino', precision='float32', say=print)\n"
        "print(dict(one._ray.get_runtime_context().runtime_env))\none.close()\n"
    )
    done = subprocess.run(
        ["uv", "run", sys.executable, "driver.py", machines.address], executable=sys.executable, cwd=tmp_path,
        capture_output=True, text=True, timeout=900,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "{}\n"


# ---- whole runs


DRIVER = """
import sys
sys.path[:0] = [{root!r}, {tests!r}]
from pathlib import Path
from config import UserError
from initialise import Session
from main import train
from support.tiny_runs import QUIET, tiny
from plugins.cluster.pool import connect
from training.work import work_of
if __name__ == "__main__":
    with Session.start(tiny(), root=Path(sys.argv[2]), console=QUIET) as session:
        work_of(session).machines = connect(sys.argv[1], 0, session.config, print)
        print(session.folder, flush=True)
        train(session)
"""


def test_a_run_whose_driver_is_killed_whose_node_is_lost_and_to_which_another_joins_is_the_run_without_a_cluster(
    machines, trained, tmp_path
):
    """And a driver that was killed leaves no actor."""
    machines.keep(2)
    script = tmp_path / "driver.py"
    script.write_text(DRIVER.format(root=str(HERE), tests=str(HERE / "tests")))
    driver = subprocess.Popen(
        [sys.executable, script, machines.address, tmp_path / "runs"], stdout=subprocess.PIPE, text=True
    )
    folder = Path(driver.stdout.readline().strip())
    while driver.poll() is None:
        store = Store(folder / "run.db", read_only=True)
        games = store.count_games()
        store.close()
        if games > 10:
            driver.kill()
            break
        time.sleep(0.02)
    driver.wait()
    events, lost_in = [], []

    def disturb():
        places = source_of(session).pool._places
        if not events and any(place.busy for place in places):
            machines.remove(machines.nodes[0])
            events.append("lost")
            lost_in.append(session.iteration)
        elif events == ["lost"] and session.iteration > lost_in[0]:
            machines.add()
            events.append("joined")
        return False

    with Session.open(folder, tiny(), console=QUIET) as session:
        work_of(session).machines = cluster_pool.connect(machines.address, 0, tiny(), lambda text: None)
        for _ in range(12000):  # the actors of the driver that was killed end, so that all cores are free
            if ray.available_resources().get("CPU", 0) == 2:
                break
            time.sleep(0.1)
        assert ray.available_resources().get("CPU", 0) == 2 and session.iteration < 4
        train(session, stop=disturb)
        counts = source_of(session).pool.counts()
        assert objects_left() == 0
    work_of(session).machines.close()
    assert events == ["lost", "joined"] and counts.evaluations > 0
    assert_same_run(folder, trained)
    found = verify(folder)
    assert found.state == verify(trained).state and found.mixed == () and found.games == 96
