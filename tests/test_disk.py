"""Disks that are full or read-only, as the program meets them: exit code 5, nothing lost, and on when there is room."""

import os

import pytest

from mortal import Nursery, mounts
from storage import Store

KILLED = -9


@pytest.fixture(scope="module")
def nursery():
    """A nursery that can mount disks of its own, where the system allows that."""
    with Nursery(mounts()) as found:
        yield found


@pytest.fixture(scope="module")
def state(nursery, tmp_path_factory):
    """Return the state of a run that nobody disturbed."""
    root = tmp_path_factory.mktemp("undisturbed")
    assert nursery.ask("command", root)["code"] == 0
    return nursery.ask("state", root)["state"]


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


def finished(nursery, root):
    assert nursery.ask("command", root)["code"] == 0
    return nursery.ask("state", root)["state"]


def test_a_limit_on_the_size_of_files_stops_the_run_and_what_was_finished_stays(nursery, state, tmp_path):
    """As with `ulimit -f`: needs no rights, and each file comes to it at another moment."""
    limits = (2_000, 20_000, 33_000, 45_000, 60_000, 70_000, 80_000, 90_000, 100_000)
    assert sum(stopped(nursery, tmp_path, limit=limit) for limit in limits) >= 6
    assert finished(nursery, tmp_path) == state


needs_disks = pytest.mark.skipif(not mounts(), reason="nobody may mount a disk here (unshare --user --mount)")


@needs_disks
def test_a_disk_that_is_full_at_any_moment_stops_the_run_and_it_goes_on_when_there_is_room(nursery, state, tmp_path):
    """A real disk that grows step by step, so that each time it is full at another write."""
    stops = 0
    for kilobytes in range(60, 600, 20):
        nursery.ask("mount", tmp_path, options=f"size={kilobytes}k")
        if not stopped(nursery, tmp_path, reserve=0):
            break
        stops += 1
    assert stops >= 5 and finished(nursery, tmp_path) == state


@needs_disks
def test_a_small_disk_is_refused_before_an_iteration_with_the_bytes_needed(nursery, tmp_path):
    nursery.ask("mount", tmp_path, options="size=8m")
    found = nursery.ask("command", tmp_path)
    assert found["code"] == 5 and "bytes are needed to go on" in found["said"]
    assert nursery.ask("files", tmp_path)["files"] == []


@needs_disks
def test_a_run_on_a_read_only_disk_is_read_and_not_gone_on_with(nursery, state, tmp_path):
    nursery.ask("mount", tmp_path, options="size=100m")
    assert nursery.ask("command", tmp_path, fail="game.after:5")["code"] == KILLED
    nursery.ask("mount", tmp_path, options="ro")
    before = nursery.ask("files", tmp_path)["files"]
    assert stopped(nursery, tmp_path) and nursery.ask("files", tmp_path)["files"] == before
    nursery.ask("mount", tmp_path, options="rw")
    assert finished(nursery, tmp_path) == state
    nursery.ask("mount", tmp_path, options="ro")  # with no log beside the database any more
    assert nursery.ask("verify", tmp_path)["damage"] == [] and nursery.ask("state", tmp_path)["state"] == state


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere, but not to the read-only disk above")
def test_a_run_in_a_folder_that_may_not_be_written_to_is_read_and_not_gone_on_with(nursery, state, tmp_path):
    assert finished(nursery, tmp_path) == state
    (folder,) = (tmp_path / "tictactoe").iterdir()
    folder.chmod(0o500)
    try:
        assert stopped(nursery, tmp_path, changes={"iterations": 4})
        store = Store(folder / "run.db", read_only=True)
        assert store.state_digest() == state
        store.close()
    finally:
        folder.chmod(0o700)
