"""The files of a run where the system opens no folders: reached through the path, after a check of the place."""

import os
import shutil
import sys

import pytest
from test_moved_folder import WAYS

from initialise import Session
from main import train
from storage.atomic_files import Unwritable
from storage.run_folders import RunBusy, lock_folder
from storage.verify import verify
from support.run_states import copied
from support.systems import needs_posix
from support.tiny_runs import QUIET, tree_of
from system import files

NOT_LOCKS = lambda folder: {n: d for n, d in tree_of(folder).items() if not n.startswith("lock")}  # noqa: E731


@pytest.fixture(autouse=True)
def by_path(monkeypatch):
    monkeypatch.setattr(files, "FOLDERS_OPEN", False)
    monkeypatch.setattr(files, "_NO_FOLLOW", 0)
    monkeypatch.setattr(files, "LOCK", "lock.held")
    used = [getattr(os, name) for name in ("open", "stat", "mkdir", "unlink", "replace")]

    def refusing(call):
        def wrapped(*args, **words):
            own = sys._getframe(1).f_globals["__name__"] != "shutil"  # on this system it uses them by itself
            assert not own or all(words.get(name) is None for name in ("dir_fd", "src_dir_fd", "dst_dir_fd"))
            return call(*args, **words)

        return wrapped

    for call in used:
        monkeypatch.setattr(os, call.__name__, refusing(call))


@needs_posix
@pytest.mark.parametrize("change, words", WAYS)
def test_a_folder_or_file_that_another_has_replaced_is_noticed_before_anything_is_written(
    begun, tmp_path, quick, change, words
):
    folder = copied(begun, tmp_path)
    shutil.copytree(folder, folder.with_name("copy"))
    words = words.replace("/lock:", "/lock.held:").replace("removed while it", "moved while it").split(" .*")[0]
    with pytest.raises(Unwritable, match=words), Session.open(folder, console=QUIET) as session:
        if change.__name__ == "replaced_lock":
            (folder / "lock.held").unlink()
            lock_folder(folder).close()
        else:
            change(folder)
        before = NOT_LOCKS(folder)
        train(session)
    after = NOT_LOCKS(folder)
    if change.__name__ == "replaced_lock":  # the same folder: its log may have grown
        before.pop("logs/logger_main.log"), after.pop("logs/logger_main.log")
    assert after == before
    assert verify(folder).damage == []


def test_the_owner_of_a_lock_is_named_in_a_file_that_can_be_read(tmp_path):
    held = lock_folder(tmp_path)
    assert (tmp_path / "lock").read_text(encoding="ascii") == str(os.getpid())
    with pytest.raises(RunBusy, match=f"is in use by process {os.getpid()}; "):
        lock_folder(tmp_path)
    held.close()
    assert (tmp_path / "lock").read_bytes() == b"" and sorted(tree_of(tmp_path)) == ["lock", "lock.held"]
    lock_folder(tmp_path).close()


def test_a_start_that_fails_removes_its_folder_and_no_other(tmp_path):
    (tmp_path / "run0009").mkdir()
    for moved in (False, True):
        folder = tmp_path / f"run000{moved}"
        folder.mkdir()
        opened = lock_folder(folder)
        opened.make_folder("logs")
        opened.write("logs/x", b"x")
        if moved:
            folder.rename(tmp_path / "away")
            folder.mkdir()
            (folder / "precious").write_bytes(b"kept")
        opened.remove_all()
        opened.close()
    assert tree_of(tmp_path / "run000True") == {"precious": b"kept"}
    assert not (tmp_path / "run000False").exists() and (tmp_path / "run0009").is_dir()
    assert "logs/x" in tree_of(tmp_path / "away")


def test_files_are_written_replaced_set_aside_and_swept(tmp_path):
    opened = lock_folder(tmp_path)
    opened.write("a", b"1")
    opened.append("a", b"2")
    opened.replace("a", "b")
    (tmp_path / ".b.1234.tmp").write_bytes(b"")
    opened.sweep()
    opened.set_aside("b")
    assert tree_of(tmp_path)["quarantine/b"] == b"12" and opened.names("nowhere") == []
    assert sorted(opened.names(".")) == ["lock", "lock.held", "quarantine"]
    opened.remove("quarantine/b")
    opened.close()
    assert "quarantine/b" not in tree_of(tmp_path)
