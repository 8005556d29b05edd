"""A run whose folder is moved, removed or replaced while it is at work: it stops, and writes into no other run."""

import shutil

import pytest

from initialise import Session
from main import train
from storage.atomic_files import Unwritable
from storage.run_folders import RunBusy, find_run, lock_folder
from storage.run_store import Store
from storage.verify import verify
from support.crashable_process import GAME
from support.run_states import copied
from support.systems import needs_posix
from support.tiny_runs import QUIET, tree_of

pytestmark = needs_posix

POINTS = [
    ("game.in_tx", 9), ("mark.synced", 3), ("model.written", 5), ("model.synced", 4), ("promote.before", 2),
    ("iteration.after", 1),
]  # fmt: skip
"""Moments at which the folder is moved: (point, its pass)."""


@pytest.fixture(scope="module")
def warm(nursery, tmp_path_factory):
    """Let the nursery compile what its children need."""
    nursery.ask("passes", tmp_path_factory.mktemp("warm"))


@pytest.mark.parametrize("point, number", POINTS)
def test_a_run_that_is_moved_at_any_moment_stops_and_the_run_of_its_name_is_unharmed(
    nursery, warm, finished, tmp_path, point, number
):
    """The other run is killed at work, so that its log is still there when the first one stops."""
    found = nursery.ask("usurped", tmp_path, moment=(point, number))
    assert found["code"] == 5, found
    assert found["said"].count("\n") == 1 and "run0001: the run was moved while it was at work" in found["said"]
    assert str(tmp_path / "away") in found["said"], "where it is now"
    assert nursery.finish(tmp_path) == finished[1], "the run that took its name"
    mine = tmp_path / "mine" / GAME
    mine.mkdir(parents=True)
    (tmp_path / "away").rename(mine / "run0001")
    if (mine / "run0001" / "run.mark").exists():
        assert nursery.finish(tmp_path / "mine") == finished[1], "the one that was moved"


def replaced_folder(folder):
    shutil.rmtree(folder)
    shutil.copytree(folder.with_name("copy"), folder)


def replaced_lock(folder):
    (folder / "lock").unlink()
    lock_folder(folder).close()


def replaced_database(folder):
    for path in folder.glob("run.db*"):
        path.unlink()
    shutil.copy(folder.with_name("copy") / "run.db", folder / "run.db")


def renamed_parent(folder):
    parents = folder.parent
    parents.rename(parents.with_name("other"))
    shutil.copytree(parents.with_name("other") / "copy", folder)


WAYS = [
    (replaced_folder, "run0001: the run was removed while it was at work"),
    (replaced_lock, "run0001/lock: was removed or replaced"),
    (replaced_database, "run0001/run.db: was removed or replaced"),
    (renamed_parent, "run0001: the run was moved .* is safe .*other/run0001"),
]


@pytest.mark.parametrize("change, words", WAYS)
def test_a_folder_or_file_that_another_has_replaced_is_noticed_before_anything_is_written(
    begun, tmp_path, quick, change, words
):
    folder = copied(begun, tmp_path)
    shutil.copytree(folder, folder.with_name("copy"))
    with pytest.raises(Unwritable, match=words) as raised, Session.open(folder, console=QUIET) as session:
        change(folder)
        before = {name: data for name, data in tree_of(folder).items() if name != "lock"}
        train(session)
    assert raised.value.exit_code == 5 and "\n" not in str(raised.value)
    after = {name: data for name, data in tree_of(folder).items() if name != "lock"}
    if change is replaced_lock:  # the same folder: its log may have grown
        before.pop("logs/logger_main.log"), after.pop("logs/logger_main.log")
    assert after == before
    assert verify(folder).damage == []


def test_a_file_of_another_run_is_not_called_damaged(begun, trained, tmp_path, quick):
    folder = copied(begun, tmp_path)
    with pytest.raises(Unwritable, match="was moved"), Session.open(folder, console=QUIET) as session:
        folder.rename(folder.with_name("away"))
        shutil.copytree(trained, folder)
        (folder / "models" / "version0001.npz").write_bytes(b"another")
        session.weights(1)


def test_a_start_that_fails_removes_its_own_folder_only(tmp_path, monkeypatch):
    (tmp_path / "run0001").mkdir()
    files = lock_folder(tmp_path / "run0001")
    store = Store(tmp_path / "run0001" / "run.db", create=True, files=files)
    files.make_folder("logs")
    store.close()
    (tmp_path / "run0001").rename(tmp_path / "away")
    (tmp_path / "run0001").mkdir()
    (tmp_path / "run0001" / "precious").write_text("kept")
    files.remove_all()
    files.close()
    assert tree_of(tmp_path) == {"run0001/precious": b"kept"} and not [*(tmp_path / "away").iterdir()]


@pytest.mark.parametrize("name", ["lock", "logs/logger_main.log", "metrics.jsonl"])
def test_a_link_among_the_files_of_a_run_leads_no_write_elsewhere(root, tmp_path, quick, name):
    folder, target = find_run("tictactoe", root=root), tmp_path / "precious"
    target.write_text("kept")
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(target)
    if name == "lock":
        with pytest.raises(Unwritable, match="lock"):
            Session.open(folder, console=QUIET)
    else:
        Session.open(folder, console=QUIET).close()
    assert target.read_text() == "kept"


def test_a_network_s_file_is_never_replaced_by_another_content(begun, tmp_path, quick):
    folder = copied(begun, tmp_path)
    (folder / "models" / "version0002.npz").write_bytes(b"of somebody else")
    with Session.open(folder, console=QUIET) as session:
        train(session, iterations=1)
    assert (folder / "quarantine" / "version0002.npz").read_bytes() == b"of somebody else"
    assert verify(folder).damage == []


def test_a_lock_that_is_held_is_told_whatever_the_file_says(tmp_path):
    held = lock_folder(tmp_path)
    (tmp_path / "lock").write_text("no number\n" * 9)
    with pytest.raises(RunBusy, match="is in use by another process; "):
        lock_folder(tmp_path)
    held.close()
