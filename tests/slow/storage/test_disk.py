"""Disks that are full or read-only, as the program meets them: exit code 5, nothing lost, and on when there is room."""

import os

import pytest

from support.crashable_process import mounts

KILLED = -9


def stopped(nursery, root, **how):
    """Let the program work as far as it gets; return whether it was stopped: in one line, with nothing half-written."""
    found = nursery.ask("command", root, **how)
    assert found["code"] in (0, 5), found
    if found["code"]:
        assert found["said"].startswith("error: ") and found["said"].count("\n") == 1 and str(root) in found["said"]
        assert "what was finished before is safe" in found["said"]
    files = nursery.ask("files", root)["files"]
    assert not [name for name in files if name.endswith(".tmp")]
    begun = {name.split("/")[1] for name in files}
    assert len(begun) <= 1, "a run that could not begin leaves nothing"
    if begun:
        assert nursery.ask("verify", root)["damage"] == []
    return found["code"] == 5


def test_a_limit_on_the_size_of_files_stops_the_run_and_what_was_finished_stays(nursery, finished, tmp_path):
    """As with `ulimit -f`: needs no rights, and each file comes to it at another moment."""
    limits = (2_000, 33_000, 50_000, 70_000, 90_000, 110_000)
    assert sum(stopped(nursery, tmp_path, limit=limit) for limit in limits) >= 4
    assert nursery.finish(tmp_path) == finished[1]


needs_disks = pytest.mark.skipif(not mounts(), reason="nobody may mount a disk here (unshare --user --mount)")


@needs_disks
def test_a_disk_that_is_full_at_any_moment_stops_the_run_and_it_goes_on_when_there_is_room(nursery, finished, tmp_path):
    """A real disk that grows step by step, so that each time it is full at another write."""
    stops = 0
    for kilobytes in range(60, 600, 20):
        nursery.ask("mount", tmp_path, options=f"size={kilobytes}k")
        if not stopped(nursery, tmp_path, reserve=0):
            break
        stops += 1
    nursery.ask("mount", tmp_path, options="size=100m")
    assert stops >= 5 and nursery.finish(tmp_path) == finished[1]


@needs_disks
def test_a_small_disk_is_refused_before_an_iteration_with_the_bytes_needed(nursery, tmp_path):
    nursery.ask("mount", tmp_path, options="size=8m")
    found = nursery.ask("command", tmp_path)
    assert found["code"] == 5 and "bytes are needed to go on" in found["said"]
    assert nursery.ask("files", tmp_path)["files"] == []


def let_write(nursery, root, allowed):
    """Make a folder with a run read-only, or let it be written to again."""
    if mounts():
        nursery.ask("mount", root, options="rw" if allowed else "ro")
    else:
        for path in (root, *root.rglob("*")):
            if path.is_dir():
                path.chmod(0o700 if allowed else 0o500)


ROOT = getattr(os, "geteuid", int)() == 0


@pytest.mark.skipif(not mounts() and ROOT, reason="root may write to any folder, and mount no disk here")
def test_a_run_that_may_not_be_written_to_is_read_and_not_gone_on_with(nursery, finished, tmp_path):
    if mounts():
        nursery.ask("mount", tmp_path, options="size=100m")
    assert nursery.ask("command", tmp_path, fail="game.after:5")["code"] == KILLED
    let_write(nursery, tmp_path, False)
    before = nursery.ask("files", tmp_path)["files"]
    assert stopped(nursery, tmp_path) and nursery.ask("files", tmp_path)["files"] == before
    let_write(nursery, tmp_path, True)
    assert nursery.ask("command", tmp_path)["code"] == 0
    assert not [name for name in nursery.ask("files", tmp_path)["files"] if name.endswith(("-wal", "-shm"))]
    let_write(nursery, tmp_path, False)
    assert nursery.ask("verify", tmp_path)["damage"] == [] and nursery.ask("state", tmp_path)["state"] == finished[1]
    let_write(nursery, tmp_path, True)
