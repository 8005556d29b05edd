"""Workers that die, hang, run out of memory or fail each time: no game is lost, and no loop is endless."""

import os
import signal
import subprocess
import sys
import time
from collections import deque
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from initialise import Session
from main import train
from support import fake_workers
from support.fake_workers import Lease, expected, game_of, workman
from support.run_states import assert_same_run
from support.systems import needs_posix
from support.tiny_runs import QUIET, tiny
from training import worker_pool, worker_process
from training.selfplay import Counts, game_seed
from training.work import source_of
from training.worker_messages import game_message, pack, unpack
from training.worker_player import NetworkPlayer
from training.worker_pool import FAILURES, PATIENCE, RoundSpec, WorkerPool, WorkersFailed
from training.worker_process import ProcessHandle, _Worker

pytestmark = needs_posix

ROUND = RoundSpec("run", 3, 5, "net", "digest")
NOTHING = Counts(0, 0, 0, 0, 0, 0, 0.0)
HERE = Path(__file__).parents[3]


class Spawning:
    """Makes workers and keeps them to look at; the log is kept too."""

    def __init__(self, factory=workman, **settings):
        self.factory, self.settings = factory, settings
        self.handles, self.log = [], []

    def __call__(self, place, report):
        self.handles.append(ProcessHandle(place, report, self.factory, self.settings))
        return self.handles[-1]

    def pool(self, workers=2, side_by_side=4, **limits):
        return WorkerPool(
            self, workers=workers, side_by_side=side_by_side, log=self.log.append, expected=expected, **limits
        )


def same(one, other):
    return one.index == other.index and one.result == other.result and all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in ("moves", "visits", "values")
    )  # fmt: skip


def assert_all_there(records, count, order=ROUND):
    """Each game came once, and is the one that an undisturbed worker plays."""
    assert sorted(r.index for r in records) == list(range(count))
    for record in records:
        seed = game_seed(order.run, order.iteration, record.index)
        assert same(record, game_of(record.index, seed, order.weights))


def gone(handle):
    """Wait until a worker's process is no more; how long that may take is not what is tested."""
    for _ in range(6000):
        if not handle._process.is_alive():
            return True
        time.sleep(0.05)
    return False


def test_games_come_once_each_and_workers_serve_round_after_round():
    spawning = Spawning()
    pool = spawning.pool()
    assert_all_there(list(pool.play(ROUND, range(50))), 50)
    later = ROUND._replace(iteration=4, weights="another")
    assert_all_there(list(pool.play(later, range(30))), 30, later)
    assert list(pool.play(later, [])) == [] and len(spawning.handles) == 2
    counts = pool.counts()
    assert counts.evaluations == 80 and counts.simulations == 800 and counts.room == 8
    pool.close()
    assert all(gone(handle) for handle in spawning.handles) and spawning.log == []
    assert pool.counts() == counts


def test_workers_killed_at_any_moment_cost_no_game_and_bring_none_twice():
    rng, spawning, kills, found = np.random.default_rng(0), Spawning(pace=0.01), 0, []
    pool = spawning.pool(workers=3)
    for record in pool.play(ROUND, range(400)):
        found.append(record)
        if kills < 10 and len(found) >= 30 * (kills + 1):
            alive = [p.handle for p in pool._places if p.handle is not None and p.busy]
            if alive:
                os.kill(alive[rng.integers(len(alive))].pid, signal.SIGKILL)
                kills += 1
    pool.close()
    assert_all_there(found, 400)
    assert kills == 10 and len(spawning.handles) >= 10
    assert sum("ended by signal SIGKILL" in line for line in spawning.log) >= 9


def test_a_frozen_worker_is_replaced_when_its_lease_is_over(tmp_path):
    spawning = Spawning(freezes=[7], folder=str(tmp_path))
    pool = spawning.pool()
    lease = Lease(pool, tmp_path, 7)
    assert_all_there(list(pool.play(ROUND, range(20), stop=lease)), 20)
    pool.close()
    assert len(spawning.log) == 1 and spawning.log[0].startswith(f"{lease.frozen.name}: gave no sign for")
    assert all(gone(handle) for handle in spawning.handles)


def test_a_worker_that_fails_once_is_replaced_and_its_games_are_played(tmp_path):
    spawning = Spawning(fails_once=[0, 11], folder=str(tmp_path))
    pool = spawning.pool()
    assert_all_there(list(pool.play(ROUND, range(24))), 24)
    pool.close()
    assert len(spawning.log) == 2 and all("RuntimeError: only once" in line for line in spawning.log)


@pytest.mark.parametrize(
    "what, told",
    [("raises", "RuntimeError: game 7 is broken"), ("hungry", "MemoryError"), ("dies", "signal SIGKILL")],
)
def test_a_task_that_fails_each_time_stops_the_run_and_is_named_with_its_cause(what, told):
    spawning = Spawning(**{what: [7]})
    pool = spawning.pool(side_by_side=40)
    found = []
    with pytest.raises(WorkersFailed) as raised:
        for record in pool.play(ROUND, range(64)):
            found.append(record.index)
    pool.close()
    text = str(raised.value)
    assert raised.value.exit_code == 4 and len(text.splitlines()) == 1
    assert f"iteration 3 failed {FAILURES} times" in text and told in text
    assert 7 not in found and len(set(found)) == len(found)
    if what != "dies":
        assert "Traceback" in spawning.log[-1] and "fake_workers.py" in spawning.log[-1]
    assert all(gone(handle) for handle in spawning.handles)


def test_workers_that_cannot_start_stop_the_run_after_three_of_them():
    spawning = Spawning(fake_workers.never_ready)
    with pytest.raises(WorkersFailed, match="3 workers ended before they could play.*no module named wood") as raised:
        list(spawning.pool().play(ROUND, range(9)))
    assert raised.value.exit_code == 4 and FAILURES <= len(spawning.handles) <= FAILURES + 2


def test_a_users_mistake_met_by_a_worker_is_told_as_it_is():
    spawning = Spawning(fake_workers.mistaken)
    with pytest.raises(WorkersFailed) as raised:
        list(spawning.pool(workers=1).play(ROUND, range(9)))
    assert str(raised.value) == "expected a saw, got none" and raised.value.exit_code == 2
    assert len(spawning.handles) == 1


def test_a_stop_ends_the_round_and_the_same_workers_play_the_next():
    spawning, found = Spawning(pace=0.02), []
    pool = spawning.pool()
    for record in pool.play(ROUND, range(500), stop=lambda: len(found) >= 5):
        found.append(record)
    assert 5 <= len(found) < 500
    have = {r.index for r in found}
    found += pool.play(ROUND, [i for i in range(40) if i not in have])
    assert_all_there([r for r in found if r.index < 40], 40)
    pool.close()
    assert len(spawning.handles) == 2 and spawning.log == []


@pytest.mark.parametrize("side_by_side, games, held", [(128, 5000, 192), (128, 64, 32), (16, 5000, 32), (4, 5000, 16)])
def test_a_worker_holds_more_games_than_it_plays_side_by_side_but_no_more_than_its_share(side_by_side, games, held):
    sent = []

    class Takes:
        name, waits, lost = "takes", False, False

        def __init__(self, place, report):
            self.say = lambda head: report(self, pack(head))
            self.say({"kind": "ready"})

        def send(self, message):
            sent.append(message)
            if message["kind"] == "stop":
                self.say({"kind": "stopped", "round": message["round"]})

        def kill(self):
            pass

    pool, looks = WorkerPool(Takes, workers=2, side_by_side=side_by_side, log=print, expected=expected), []
    assert list(pool.play(ROUND, range(games), stop=lambda: looks.append(0) or len(looks) > 3)) == []
    counts = [len(message.get("games", ())) for message in sent]
    assert 2 * (held - max(counts)) < sum(counts) <= 2 * held, (counts, "a task is assigned whole")
    last = sum("last" in message for message in sent)
    assert last == (2 if games <= 2 * held else 0), "all are assigned: no others follow"


class Late:
    """A worker that ends its games when it is asked to stop, and says that it has stopped when the next ones come."""

    name, waits, lost = "late", False, False

    def __init__(self, place, report):
        self.say, self.stopped, self.games = (lambda data: report(self, data)), None, []
        self.say(pack({"kind": "ready"}))

    def send(self, message):
        if message.get("games"):
            self.games = message["games"]
            if self.stopped:
                self.say(self.stopped)
                self.play()
        elif message["kind"] == "stop":
            self.play()
            self.stopped = pack({"kind": "stopped", "round": message["round"]})

    def play(self):
        for i in self.games:
            record = game_of(i, game_seed(ROUND.run, ROUND.iteration, i), ROUND.weights)
            self.say(game_message(record, NOTHING))

    def kill(self):
        pass


def test_a_worker_that_says_late_that_it_has_stopped_keeps_the_games_of_the_next_round(monkeypatch):
    monkeypatch.setattr("training.worker_pool.TICK", 0.001)
    pool, asked = WorkerPool(Late, workers=1, side_by_side=4, log=print, expected=expected), []
    assert_all_there(list(pool.play(ROUND, [0], stop=lambda: bool(pool._places[0].tasks))), 1)
    found = list(pool.play(ROUND, [0], stop=lambda: asked.append(0) or len(asked) > 100))  # in vain: not for ever
    assert_all_there(found, 1)


def test_leaving_a_round_in_the_middle_leaves_no_game_of_it_for_the_next():
    spawning = Spawning(pace=0.01)
    pool = spawning.pool(workers=1)
    for _ in pool.play(ROUND, range(500)):
        break
    other = ROUND._replace(weights="another")
    assert_all_there(list(pool.play(other, range(12))), 12, other)
    pool.close()


DRIVER = """
import sys
sys.path[:0] = {paths!r}
from test_workers import ROUND, Spawning
if __name__ == "__main__":
    spawning = Spawning(pace=0.05)
    for i, record in enumerate(spawning.pool().play(ROUND, range(10_000))):
        if i == 4:
            print(*[handle.pid for handle in spawning.handles], flush=True)
"""


def test_workers_end_when_their_driver_is_killed(tmp_path):
    script = tmp_path / "driver.py"
    script.write_text(DRIVER.format(paths=[str(HERE), str(HERE / "tests"), str(Path(__file__).parent)]))
    driver = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True)
    pids = [int(pid) for pid in driver.stdout.readline().split()]
    assert len(pids) == 2 and all(Path(f"/proc/{pid}").exists() for pid in pids)
    driver.kill()
    driver.wait()
    for _ in range(6000):
        if not any(Path(f"/proc/{pid}").exists() for pid in pids):
            break
        time.sleep(0.05)
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


@pytest.fixture
def worker(monkeypatch):
    """Return the worker's side in this process, its messages put in by hand; it sends to `worker.said`."""
    monkeypatch.setattr(_Worker, "_receive", lambda self: None)
    said = []
    worker = _Worker(SimpleNamespace(send_bytes=said.append))
    worker.said, worker._spec = said, {"run": "run", "iteration": 3}
    return worker


GAMES = {"kind": "games", "games": [0, 1]}


def test_a_stopping_worker_ends_when_its_time_is_over_and_gives_signs_until_then(worker, monkeypatch):
    clock = SimpleNamespace(now=100.0, monotonic=lambda: clock.now)
    for module in (worker_pool, worker_process):
        monkeypatch.setattr(module, "time", clock)

    said = []

    def endless(predictor, todo, *, stop, together):
        while not stop():
            clock.now += 1.0
            said.append(together())
        yield from ()

    player = NetworkPlayer.__new__(NetworkPlayer)
    player._selfplay, player._predictor, player.counts = SimpleNamespace(play=endless), None, lambda: NOTHING
    worker._messages.extend([GAMES, {**GAMES, "games": [], "last": True}, {"kind": "stop", "round": 1}])
    worker._follow(player)
    assert not any(said), "a game that ends early is not lost"
    assert clock.now - 100.0 == PATIENCE and not worker._todo
    assert [unpack(data)[0]["kind"] for data in worker.said] == ["alive"] * (int(PATIENCE) + 1)


def test_the_last_games_of_a_round_end_together_and_those_before_do_not(worker):
    said = []

    def play(todo, stop, together):
        for message in ({**GAMES, "games": [7]}, {**GAMES, "games": [], "last": True}, {**GAMES, "games": [8]}):
            worker._messages.append(message)
            assert not stop()
            said.append((len(todo), together()))
        yield from ()

    worker._messages.append(GAMES)
    worker._follow(SimpleNamespace(counts=lambda: NOTHING, play=play))
    assert said == [(3, False), (3, True), (4, False)]


def test_a_stop_is_noticed_however_many_messages_come():
    class Flood:
        """As many messages as are taken, and three more."""

        taken = 0

        def qsize(self):
            return 3

        def get(self, timeout):
            self.taken += 1
            assert self.taken < 100
            return pool._places[0].handle, pack({"kind": "alive"})

    pool = WorkerPool(lambda place, report: None, workers=1, side_by_side=1, log=print, expected=expected)
    pool._inbox = Flood()
    pool._places[0].handle = SimpleNamespace(kill=lambda: None, waits=False, lost=False)
    assert list(pool._receive()) == [] and pool._inbox.taken == 3


def test_games_that_another_thread_takes_while_a_worker_looks_for_messages_do_no_harm(worker):
    player = SimpleNamespace(counts=lambda: NOTHING)

    class Messages(deque):
        def __bool__(self):
            """Games that came this moment are there; unless the lock is held, the other thread has them at once."""
            if worker._lock.locked():
                return len(self) > 0
            self.append(GAMES)
            with worker._lock:
                worker._take()
            return True

    worker._messages = Messages()
    assert not worker._beat(player)


def test_ctrl_c_in_the_terminal_reaches_the_driver_only():
    spawning, found = Spawning(pace=0.01), []
    pool = spawning.pool()
    for record in pool.play(ROUND, range(60)):
        found.append(record)
        if len(found) == 10:
            for handle in spawning.handles:
                os.kill(handle.pid, signal.SIGINT)
    pool.close()
    assert_all_there(found, 60)
    assert spawning.log == [] and len(spawning.handles) == 2


def test_a_run_with_workers_one_of_them_killed_is_the_run_without(begun, tmp_path):
    killed = []

    def kill_one():
        handles = [place.handle for place in source_of(session).pool._places if place.busy]
        if handles and not killed:
            os.kill(handles[0].pid, signal.SIGKILL)
            killed.append(handles[0].pid)
        return False

    with Session.start(tiny(workers=2), root=tmp_path, console=QUIET) as session:
        train(session, iterations=1, stop=kill_one)
        counts = source_of(session).pool.counts()
        handles = [place.handle for place in source_of(session).pool._places]
    assert killed and counts.evaluations > 0 and counts.room == 32
    assert_same_run(session.folder, begun, last=1)
    assert "ended by signal SIGKILL" in (session.folder / "logs" / "logger_main.log").read_text()
    assert all(gone(handle) for handle in handles if handle is not None)


def test_workers_search_with_the_budget_of_the_iteration(tmp_path):
    games = []
    for workers in (0, 1):
        config = tiny(workers=workers, mcts_sims=40, grow_sims=4)
        with Session.start(config, root=tmp_path / str(workers), console=QUIET) as session:
            train(session, iterations=1)
            games.append([*session.store.games_of(1)])
    assert max(game.visits.sum(axis=1).max() for game in games[0]) == 10
    for one, other in zip(*games, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
