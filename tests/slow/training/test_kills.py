"""Killed at any point and started again, a run ends as one that nobody disturbed; what was acknowledged is there."""

import shutil
from contextlib import closing

import pytest

from storage.atomic_files import DamagedData
from storage.run_folders import runs_of
from storage.run_store import Store
from storage.verify import verify
from support.crashable_process import GAME

KILLED = -9


@pytest.fixture(scope="module")
def undisturbed(nursery, tmp_path_factory):
    """Return (folder, how often each point is passed, the state) of a run that nobody disturbed."""
    root = tmp_path_factory.mktemp("undisturbed")
    found = nursery.ask("passes", root)
    return root, found["passes"], found["state"]


def places(passes, most):
    """Return (point, pass) pairs: of each point the first, the last, and some between them."""
    for point, count in sorted(passes.items()):
        yield from ((point, k) for k in sorted({1, count, *range(1, count, max(1, count // most))}))


def test_the_points_of_the_loop_are_passed(undisturbed):
    _, passes, _ = undisturbed
    stages = "create", "start", "game", "self-play", "retrain", "match", "promote", "iteration", "mark", "model"
    for stage in stages:
        for moment in ("written", "synced", "replaced") if stage in ("mark", "model") else ("before", "in_tx", "after"):
            assert passes[f"{stage}.{moment}"] >= 1, (stage, moment)
    assert passes["game.after"] >= 24 // 4 and passes["fit.step"] >= 3 and passes["model.after_row"] == 4


def test_killed_at_any_point_and_started_again_it_is_the_same_run(nursery, undisturbed, tmp_path):
    _, passes, state = undisturbed
    kills = list(places(passes, 2))
    assert len(kills) >= 60
    for number, (point, k) in enumerate(kills):
        root = tmp_path / str(number)
        assert nursery.ask("live", root, fail=f"{point}:{k}")["code"] == KILLED, (point, k)
        assert nursery.finish(root) == state, (point, k)
        shutil.rmtree(root)


def test_killed_again_and_again_it_is_the_same_run(nursery, undisturbed, tmp_path):
    _, passes, state = undisturbed
    deaths = 0
    for number in range(40):
        code = nursery.ask("live", tmp_path, fail=f"*:{7 + 5 * number}")["code"]
        deaths += code == KILLED
        if code == 0:
            break
    assert deaths >= 5 and nursery.finish(tmp_path) == state


def test_a_kill_at_a_promotion_leaves_exactly_one_best(nursery, undisturbed, tmp_path):
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
    _, _, state = undisturbed
    assert nursery.ask("live", tmp_path, fail=f"{point}:3:full")["code"] == 5
    assert nursery.finish(tmp_path) == state


def test_the_test_of_equal_runs_can_fail(nursery, undisturbed, tmp_path):
    _, _, state = undisturbed
    assert nursery.ask("live", tmp_path, changes={"seed": 1})["code"] == 0
    assert nursery.ask("state", tmp_path)["state"] != state
    folder = runs_of(GAME, tmp_path)[-1]
    import sqlite3

    with sqlite3.connect(folder / "run.db") as db:
        db.execute("UPDATE games SET result = -result + 0.5 WHERE iteration = 2 AND idx = 3")
    db.close()
    with closing(Store(folder / "run.db", read_only=True)) as store, pytest.raises(DamagedData, match="games"):
        store.state_digest()
    assert any("game 3 of iteration 2" in line for line in verify(folder).damage)
