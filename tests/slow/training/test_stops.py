"""Signals and a lack of memory at every moment of the loop: the exit code, and a run that goes on as if nothing was."""

import signal

import pytest

KILLED = -9
INTERRUPT, TERMINATE = signal.SIGINT, signal.SIGTERM
MOMENTS = {
    "before the run is there": ("start.before", 1, [INTERRUPT]), "in self-play": ("game.in_tx", 3, [TERMINATE]),
    "in the fit": ("fit.step", 2, [INTERRUPT]), "in the tournament": ("match.before", 2, [TERMINATE]),
    "between two iterations": ("iteration.after", 1, [INTERRUPT]), "at the end": ("iteration.in_tx", 3, [TERMINATE]),
    "twice at the first network": ("model.written", 1, [INTERRUPT, INTERRUPT]),
    "twice in self-play": ("game.in_tx", 2, [INTERRUPT, TERMINATE]),
    "twice in the fit": ("fit.step", 3, [INTERRUPT, INTERRUPT]),
    "twice while a network is saved": ("model.synced", 5, [TERMINATE, TERMINATE]),
    "twice at a promotion": ("promote.in_tx", 1, [INTERRUPT, INTERRUPT]),
    "twice after a commit": ("mark.written", 9, [TERMINATE, INTERRUPT]),
    "twice in a library": ("fit.step", 1, [INTERRUPT, INTERRUPT], True),
}  # fmt: skip


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_signal_at_any_moment_ends_the_program_in_order_and_the_run_goes_on(nursery, finished, tmp_path, moment):
    found = nursery.ask("command", tmp_path, signals=MOMENTS[moment])
    assert found["code"] == 130 and "Traceback" not in found["said"], found
    assert found["said"].lstrip().startswith("stopping; once more stops at once")
    assert "resumes" in found["said"]
    assert nursery.finish(tmp_path) == finished[1]


@pytest.mark.parametrize("point", ["game.in_tx:2", "fit.step:2"])
def test_without_memory_it_is_told_what_needs_less_and_the_run_goes_on(nursery, finished, tmp_path, point):
    found = nursery.ask("command", tmp_path, fail=f"{point}:memory")
    assert found["code"] == 2 and found["said"].startswith("error: not enough memory")
    assert "--batch-size" in found["said"] and found["said"].count("\n") == 1
    assert nursery.finish(tmp_path) == finished[1]


def test_when_nobody_reads_what_it_prints_the_program_ends_and_the_run_goes_on(nursery, finished, tmp_path):
    found = nursery.ask("command", tmp_path, unread=True)
    assert (found["code"], found["said"]) == (141, "")
    assert nursery.finish(tmp_path) == finished[1]


def test_a_run_gone_on_with_plays_only_what_is_missing(nursery, finished, tmp_path):
    """Killed after a commit, again and again: every game and match game is played once in the life of the run."""
    notes, root = tmp_path / "notes", tmp_path / "run"
    kills = "game.after:5", "self-play.after:1", "match.after:1", "iteration.after:1", "game.after:7"
    for fail in kills:
        assert nursery.ask("command", root, fail=fail, noting=str(notes))["code"] == KILLED
    assert nursery.ask("command", root, noting=str(notes))["code"] == 0
    played = notes.read_text().splitlines()
    assert len(played) == len(set(played)) and nursery.ask("state", root)["state"] == finished[1]
    assert set(played) >= {f"game {i} {k}" for i in (1, 2, 3) for k in range(8)}
    assert {line.split()[1] for line in played if line.startswith("match")} == {"1", "2", "3"}
