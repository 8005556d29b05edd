"""With lag 1, killed or stopped at any point while one version plays and the next is learned, a run stays the same."""

import shutil
import signal

import pytest

KILLED = -9
INTERRUPT, TERMINATE = signal.SIGINT, signal.SIGTERM
LAG = {"lag": 1, "iterations": 4, "training_loops": 60}
"""Enough steps that the games of an iteration end while it is learned, and after that."""
MOMENTS = {
    "in the fit, with games in flight": ("fit.step", 2, [INTERRUPT]),
    "while games are stored": ("game.in_tx", 13, [TERMINATE]),
    "twice in the fit": ("fit.step", 70, [INTERRUPT, INTERRUPT]),
    "twice while games are stored": ("game.in_tx", 18, [INTERRUPT, TERMINATE]),
    "twice while the network is saved": ("model.synced", 5, [TERMINATE, TERMINATE]),
    "when the games are there": ("self-play.after", 2, [INTERRUPT]),
}


@pytest.fixture(scope="module")
def undisturbed(nursery, tmp_path_factory):
    """Return (how often each point is passed, the state) of a run that nobody disturbed."""
    found = nursery.ask("passes", tmp_path_factory.mktemp("undisturbed"), changes=LAG)
    assert found["passes"]["fit.step"] == 180 and found["passes"]["model.after_row"] == 4
    return found["passes"], found["state"]


CONCERNED = "fit", "game", "self-play", "retrain", "model", "iteration"
"""Beginnings of the points of both stages, and of the next iteration's beginning; the others are test_kills.py's."""


def places(passes):
    """Return (point, pass) pairs: of each point the first and the last, of steps and games some between them."""
    for point, count in sorted(passes.items()):
        some = {"fit.step": 8, "game.after": 8, "model.after_row": 3}.get(point, 1)
        if point.startswith(CONCERNED):
            yield from ((point, k) for k in sorted({1, count, *range(1, count, max(1, count // some))}))


def test_killed_at_any_point_and_started_again_it_is_the_same_run(nursery, undisturbed, tmp_path):
    passes, state = undisturbed
    for number, (point, k) in enumerate(places(passes)):
        root = tmp_path / str(number)
        assert nursery.ask("live", root, fail=f"{point}:{k}", changes=LAG)["code"] == KILLED, (point, k)
        assert nursery.finish(root, changes=LAG) == state, (point, k)
        shutil.rmtree(root)


def test_killed_again_and_again_it_is_the_same_run(nursery, undisturbed, tmp_path):
    _, state = undisturbed
    deaths = 0
    for number in range(40):
        code = nursery.ask("live", tmp_path, fail=f"*:{40 + 7 * number}", changes=LAG)["code"]
        deaths += code == KILLED
        if code == 0:
            break
    assert deaths >= 3 and nursery.finish(tmp_path, changes=LAG) == state


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_signal_ends_the_program_in_order_and_the_run_goes_on(nursery, undisturbed, tmp_path, moment):
    found = nursery.ask("command", tmp_path, signals=MOMENTS[moment], changes=LAG)
    assert found["code"] == 130 and "Traceback" not in found["said"] and "resumes" in found["said"], found
    assert nursery.finish(tmp_path, changes=LAG) == undisturbed[1]


@pytest.mark.parametrize("point", ["fit.step:5:memory", "model.written:5:full", "game.in_tx:12:full"])
def test_what_fails_in_either_thread_is_told_and_the_run_goes_on(nursery, undisturbed, tmp_path, point):
    found = nursery.ask("command", tmp_path, fail=point, changes=LAG)
    assert found["code"] == (2 if point.endswith("memory") else 5) and "Traceback" not in found["said"], found
    assert nursery.finish(tmp_path, changes=LAG) == undisturbed[1]


def test_a_run_with_lag_is_another_one(finished, undisturbed):
    assert undisturbed[1] != finished[1]
