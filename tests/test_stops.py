"""Signals and a lack of memory at every moment of the loop: the exit code, and a run that goes on as if nothing was."""

import signal

import pytest

from mortal import Nursery

KILLED = -9
ONCE, TWICE = [signal.SIGINT], [signal.SIGINT, signal.SIGTERM]
MOMENTS = {
    "before the run is there": ("start.before", 1), "while the first network is written": ("model.written", 1),
    "in self-play": ("game.in_tx", 3), "in the fit": ("fit.step", 2), "while a network is saved": ("model.synced", 5),
    "in the tournament": ("match.before", 2), "at a promotion": ("promote.in_tx", 1),
    "after a commit": ("mark.written", 9), "between two iterations": ("iteration.after", 1),
    "at the very end": ("iteration.in_tx", 3),
}  # fmt: skip


@pytest.fixture(scope="module")
def nursery():
    with Nursery() as found:
        yield found


@pytest.fixture(scope="module")
def state(nursery, tmp_path_factory):
    """Return the state of a run that nobody disturbed."""
    return finished(nursery, tmp_path_factory.mktemp("undisturbed"))


def finished(nursery, root):
    """Let a run go on to its end; return its state."""
    assert nursery.ask("command", root)["code"] == 0
    assert nursery.ask("verify", root)["damage"] == []
    assert not [name for name in nursery.ask("files", root)["files"] if name.endswith(".tmp")]
    return nursery.ask("state", root)["state"]


@pytest.mark.parametrize("signals", [ONCE, TWICE], ids=["once", "twice"])
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_signal_at_any_moment_ends_the_program_in_order_and_the_run_goes_on(
    nursery, state, tmp_path, moment, signals
):
    found = nursery.ask("command", tmp_path, signals=[*MOMENTS[moment], signals])
    assert found["code"] == 130 and "Traceback" not in found["said"], found
    assert found["said"].lstrip().startswith("stopping; once more stops at once")
    assert "goes on" in found["said"]
    assert finished(nursery, tmp_path) == state


@pytest.mark.parametrize("point", ["game.in_tx:2", "fit.step:2", "model.written:3", "match.in_tx:1"])
def test_without_memory_it_is_told_what_needs_less_and_the_run_goes_on(nursery, state, tmp_path, point):
    found = nursery.ask("command", tmp_path, fail=f"{point}:memory")
    assert found["code"] == 2 and found["said"].startswith("error: not enough memory")
    assert "--batch-size" in found["said"] and found["said"].count("\n") == 1
    assert finished(nursery, tmp_path) == state


def test_when_nobody_reads_what_it_prints_the_program_ends_and_the_run_goes_on(nursery, state, tmp_path):
    found = nursery.ask("command", tmp_path, unread=True)
    assert (found["code"], found["said"]) == (141, "")
    assert finished(nursery, tmp_path) == state


def test_a_run_gone_on_with_plays_only_what_is_missing(nursery, state, tmp_path):
    """Killed after a commit, again and again: every game and match game is played once in the life of the run."""
    notes, root = tmp_path / "notes", tmp_path / "run"
    kills = "game.after:5", "self-play.after:1", "match.after:1", "iteration.after:1", "game.after:7"
    for fail in kills:
        assert nursery.ask("command", root, fail=fail, noting=str(notes))["code"] == KILLED
    assert nursery.ask("command", root, noting=str(notes))["code"] == 0
    played = notes.read_text().splitlines()
    assert len(played) == len(set(played)) and nursery.ask("state", root)["state"] == state
    assert set(played) >= {f"game {i} {k}" for i in (1, 2, 3) for k in range(8)}
    assert {line.split()[1] for line in played if line.startswith("match")} == {"1", "2", "3"}
