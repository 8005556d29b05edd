"""Killed at any point and started again, a run ends as one that nobody disturbed; what was acknowledged is there.

The same with lag 1, while one version plays and the next is learned; there signals and errors in either thread, too.
"""

import functools
import shutil
import signal
import sqlite3
from contextlib import closing
from typing import NamedTuple

import pytest

from storage.atomic_files import DamagedData
from storage.run_folders import runs_of
from storage.run_store import Store
from storage.verify import verify
from support.crashable_process import GAME

KILLED = -9
LAG = {"lag": 1, "iterations": 4, "training_loops": 60, "score_games": 0}
"""Enough steps that the games of an iteration end while it is learned, and after that. Matches pass no point."""
KINDS = {"no lag": {}, "lag 1": LAG}
CONCERNED = "fit", "game", "self-play", "retrain", "model", "iteration"
"""Beginnings of the points of both stages and of the next iteration's beginning: with lag only these are others."""


class Undisturbed(NamedTuple):
    """A run that nobody disturbed."""

    changes: dict
    """Its settings that are not the usual ones."""
    passes: dict
    """{point: how often it is passed}"""
    state: str


@pytest.fixture(scope="module")
def undisturbed_of(nursery, tmp_path_factory):
    """Return f(kind) -> such a run, made once."""

    @functools.cache
    def made(kind):
        found = nursery.ask("passes", tmp_path_factory.mktemp("undisturbed"), changes=KINDS[kind])
        return Undisturbed(KINDS[kind], found["passes"], found["state"])

    return made


@pytest.fixture
def undisturbed(undisturbed_of):
    return undisturbed_of("no lag")


@pytest.fixture
def with_lag(undisturbed_of):
    found = undisturbed_of("lag 1")
    assert found.passes["fit.step"] == 180 and found.passes["model.after_row"] == 4
    return found


def places(passes, kind):
    """Return (point, pass) pairs: of each point the first, the last and one between; with lag more of the frequent."""
    for point, count in sorted(passes.items()):
        parts = 8 if kind == "lag 1" and point in ("fit.step", "game.after") else 2
        if kind == "no lag" or point.startswith(CONCERNED):
            yield from ((point, k) for k in sorted({1, count, *range(1, count, max(1, -(-count // parts)))}))


def test_the_points_of_the_loop_are_passed(undisturbed):
    passes = undisturbed.passes
    stages = "create", "start", "game", "self-play", "retrain", "match", "promote", "iteration", "mark", "model"
    for stage in stages:
        for moment in ("written", "synced", "replaced") if stage in ("mark", "model") else ("before", "in_tx", "after"):
            assert passes[f"{stage}.{moment}"] >= 1, (stage, moment)
    assert passes["game.after"] >= 24 // 4 and passes["fit.step"] >= 3 and passes["model.after_row"] == 4


@pytest.mark.parametrize("kind", KINDS)
def test_killed_at_any_point_and_started_again_it_is_the_same_run(nursery, undisturbed_of, tmp_path, kind):
    changes, passes, state = undisturbed_of(kind)
    kills = list(places(passes, kind))
    assert len(kills) >= 50
    for number, (point, k) in enumerate(kills):
        root = tmp_path / str(number)
        assert nursery.ask("live", root, fail=f"{point}:{k}", changes=changes)["code"] == KILLED, (point, k)
        assert nursery.finish(root, changes=changes) == state, (point, k)
        shutil.rmtree(root)


@pytest.mark.parametrize("kind, first, step, least", [("no lag", 7, 5, 5), ("lag 1", 40, 7, 3)])
def test_killed_again_and_again_it_is_the_same_run(nursery, undisturbed_of, tmp_path, kind, first, step, least):
    changes, _, state = undisturbed_of(kind)
    deaths = 0
    for number in range(40):
        code = nursery.ask("live", tmp_path, fail=f"*:{first + step * number}", changes=changes)["code"]
        deaths += code == KILLED
        if code == 0:
            break
    assert deaths >= least and nursery.finish(tmp_path, changes=changes) == state


def test_a_kill_at_a_promotion_leaves_exactly_one_best(nursery, tmp_path):
    for number, moment in enumerate(("before", "in_tx", "after")):
        root = tmp_path / str(number)
        assert nursery.ask("live", root, fail=f"promote.{moment}:1")["code"] == KILLED
        store = Store(runs_of(GAME, root)[-1] / "run.db", read_only=True)
        known, best = [row[0] for row in store.versions()], store.best()
        done = "tournament" in store.finished(1)
        promoted = done and store.finished(1)["tournament"]["promoted"]
        store.close()
        assert best in known and best == int(promoted) and done == (moment == "after")


def test_nothing_that_was_acknowledged_is_lost_in_a_hundred_kills_during_commits(nursery, tmp_path):
    Store(tmp_path / "run.db", create=True).close()
    codes = nursery.ask("commits", tmp_path, count=100, seed=1)["codes"]
    assert codes == [KILLED] * 100
    acknowledged = [int(line) for line in (tmp_path / "log").read_text().split()]
    store = Store(tmp_path / "run.db")
    rows = list(store.rows("games"))
    assert store.lost == {} and not any("rowid" in line for line in store.faults())
    store.close()
    assert len(set(acknowledged)) >= 100, "some work is done between kills"
    found = {}
    for row in rows:
        found.setdefault(row[0], []).append(row[1])
    assert all(indices == [0, 1, 2] for indices in found.values()), "no half transaction, none twice"
    assert set(acknowledged) <= set(found) and len(found) - len(set(acknowledged)) <= 100


@pytest.mark.parametrize("point", ["game.in_tx", "match.in_tx", "model.written", "iteration.in_tx", "mark.written"])
def test_a_full_disk_at_any_point_is_told_and_the_same_run_goes_on_when_there_is_space(
    nursery, undisturbed, tmp_path, point
):
    assert nursery.ask("live", tmp_path, fail=f"{point}:3:full")["code"] == 5
    assert nursery.finish(tmp_path) == undisturbed.state


def test_the_test_of_equal_runs_can_fail(nursery, undisturbed, tmp_path):
    assert nursery.ask("live", tmp_path, changes={"seed": 1})["code"] == 0
    assert nursery.ask("state", tmp_path)["state"] != undisturbed.state
    folder = runs_of(GAME, tmp_path)[-1]
    with sqlite3.connect(folder / "run.db") as db:
        db.execute("UPDATE games SET result = -result + 0.5 WHERE iteration = 2 AND idx = 3")
    db.close()
    with closing(Store(folder / "run.db", read_only=True)) as store, pytest.raises(DamagedData, match="games"):
        store.state_digest()
    assert any("game 3 of iteration 2" in line for line in verify(folder).damage)


# ---- with lag, in either thread

INTERRUPT, TERMINATE = signal.SIGINT, signal.SIGTERM
MOMENTS = {
    "in the fit, with games in flight": ("fit.step", 2, [INTERRUPT]),
    "while games are stored": ("game.in_tx", 13, [TERMINATE]),
    "twice in the fit": ("fit.step", 70, [INTERRUPT, INTERRUPT]),
    "twice while games are stored": ("game.in_tx", 18, [INTERRUPT, TERMINATE]),
    "twice while the network is saved": ("model.synced", 5, [TERMINATE, TERMINATE]),
    "when the games are there": ("self-play.after", 2, [INTERRUPT]),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_signal_ends_the_program_in_order_and_the_run_goes_on(nursery, with_lag, tmp_path, moment):
    found = nursery.ask("command", tmp_path, signals=MOMENTS[moment], changes=LAG)
    assert found["code"] == 130 and "Traceback" not in found["said"] and "resumes" in found["said"], found
    assert nursery.finish(tmp_path, changes=LAG) == with_lag.state


@pytest.mark.parametrize("point", ["fit.step:5:memory", "model.written:5:full", "game.in_tx:12:full"])
def test_what_fails_in_either_thread_is_told_and_the_run_goes_on(nursery, with_lag, tmp_path, point):
    found = nursery.ask("command", tmp_path, fail=point, changes=LAG)
    assert found["code"] == (2 if point.endswith("memory") else 5) and "Traceback" not in found["said"], found
    assert nursery.finish(tmp_path, changes=LAG) == with_lag.state


def test_a_run_with_lag_is_another_one(finished, with_lag):
    assert with_lag.state != finished[1]
