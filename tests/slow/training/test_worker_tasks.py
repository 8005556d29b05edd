"""Which end of a worker counts as the failure of a game: those that the game may have caused, and no other."""

from types import SimpleNamespace

import pytest

from support.fake_workers import expected, game_of
from training import worker_pool
from training.selfplay import Counts, game_seed
from training.worker_messages import game_message, pack
from training.worker_pool import RoundSpec, WorkerPool, WorkersFailed
from training.worker_tasks import ENDS, FAILURES, Task

ROUND = RoundSpec("run", 3, 5, "net", "digest")
POISON = 7


class Worker:
    """Plays games at once until the one with the number of `POISON`; what then happens is an item of `script`."""

    waits = False

    def __init__(self, script, place, report):
        self.name, self.script = f"worker {place + 1}", script
        self.say = lambda data: report(self, data)
        self.over = self.lost_by_now = False
        self.say(pack({"kind": "ready"}))

    @property
    def lost(self):
        return self.lost_by_now

    def send(self, message):
        for index in message.get("games", ()) if not self.over else ():
            what = self.script.pop(0) if index == POISON and self.script else "plays"
            if what == "plays":
                record = game_of(index, game_seed(ROUND.run, ROUND.iteration, index), ROUND.weights)
                self.say(game_message(record, Counts(0, 0, 0, 0, 0, 0, 0.0)))
                continue
            if what == "raises":
                self.say(pack({"kind": "failed", "text": "RuntimeError: broken", "exit_code": 0}))
            self.over, self.lost_by_now = True, what == "machine"
            if what != "silent":  # that one ends when it is killed
                self.say(None)
            return

    def kill(self):
        self.over = True
        self.say(None)

    def cause(self):
        return "the process ended"


@pytest.fixture
def play(monkeypatch):
    """Return a function (script) -> the games that came; `play.log` is the log, `play.workers` are all workers.

    Time passes by a second with each look at the clock, so that no delay lasts.
    """
    clock = SimpleNamespace(now=0.0)

    def tick():
        clock.now += 1.0
        return clock.now

    monkeypatch.setattr(worker_pool, "time", SimpleNamespace(monotonic=tick))
    monkeypatch.setattr(worker_pool, "TICK", 0.0)

    def play(script, count=64, workers=2):
        def spawn(place, report):
            play.workers.append(Worker(script, place, report))
            return play.workers[-1]

        pool = WorkerPool(
            spawn, workers=workers, side_by_side=32, log=play.log.append, expected=expected, lease=3.0
        )
        play.found = []
        for record in pool.play(ROUND, range(count)):
            play.found.append(record.index)
        return sorted(play.found)

    play.log, play.workers, play.found = [], [], []
    return play


@pytest.mark.parametrize("what, words", [("raises", "RuntimeError: broken"), ("dies", "the process ended")])
def test_a_game_that_ends_its_worker_each_time_ends_the_run_after_three_and_is_named(play, what, words):
    script = [what] * 100
    with pytest.raises(WorkersFailed, match=f"3 failed {FAILURES} times; the last time: {words}") as raised:
        play(script)
    assert len(script) == 100 - FAILURES
    assert f" {POISON}" in str(raised.value) and POISON not in play.found


@pytest.mark.parametrize("what", ["machine", "silent"])
def test_ends_that_no_game_caused_do_not_count_as_its_failures(play, what):
    assert play([what] * (ENDS - 1)) == list(range(64))
    assert sum("games go to others" in line for line in play.log) == ENDS - 1


@pytest.mark.parametrize("what", ["machine", "silent"])
def test_they_have_a_limit_of_their_own_and_only_the_task_that_meets_them_each_time_is_named(play, what):
    script = [what] * 100
    with pytest.raises(WorkersFailed, match=f"3 ended no game with {ENDS} workers in a row, which were lost") as raised:
        play(script)
    assert len(script) == 100 - ENDS
    assert f" {POISON}" in str(raised.value) and raised.value.exit_code == 4
    assert set(range(16, 64)) <= set(play.found)


def test_failures_among_losses_are_counted(play):
    with pytest.raises(WorkersFailed, match=f"failed {FAILURES} times"):
        play(["machine", "dies", "silent", "dies", "machine", "dies", "plays"])
    assert play(["machine", "dies", "silent", "dies", "machine", "plays"]) == list(range(64))


def test_a_game_of_the_task_wipes_out_what_was_before():
    task = Task(1, [3, 4, 5])
    for _ in range(FAILURES - 1):
        task.ended(None, silent=False)
    assert task.alone and task.failures == FAILURES - 1 and not task.fault
    task.played(4)
    assert not task.alone and task.failures == 0 and str(task) == "games 3, 5"


def test_a_loss_that_becomes_known_later_is_no_failure_any_more():
    task, workers = Task(1, [3]), [SimpleNamespace(lost=False) for _ in range(FAILURES)]
    for worker in workers[:-1]:
        task.ended(worker, silent=False)
    workers[0].lost = True
    task.ended(workers[-1], silent=False)
    assert task.failures == FAILURES - 1 and not task.fault
    task.ended(SimpleNamespace(lost=False), silent=False)
    assert task.failures == FAILURES and task.fault == f"failed {FAILURES} times"
