"""A disk without locks of files, or without memory maps that programs share: named as such, and nothing is left."""

import errno
import os
import sqlite3

import portalocker
import pytest

from storage import database
from storage.atomic_files import Unwritable
from storage.run_folders import lock_new_folder
from storage.run_store import Store


def test_a_disk_without_locks_is_named_and_the_new_folder_is_gone(tmp_path, monkeypatch):
    def lock(*_):
        raise portalocker.LockException(OSError(errno.ENOLCK, os.strerror(errno.ENOLCK)))

    monkeypatch.setattr(portalocker, "lock", lock)
    with pytest.raises(Unwritable, match="its disk offers no locks of files.*: ALPHAZERO_RUNS names another") as raised:
        lock_new_folder(tmp_path / "tictactoe")
    assert str(tmp_path / "tictactoe" / "run0001") in str(raised.value) and raised.value.exit_code == 5
    assert list(tmp_path.iterdir()) == []


def test_another_run_of_the_game_stays_where_a_new_one_cannot_be(tmp_path, monkeypatch):
    lock_new_folder(tmp_path / "tictactoe").close()

    def lock(*_):
        raise portalocker.LockException(OSError(errno.EOPNOTSUPP, "not supported"))

    monkeypatch.setattr(portalocker, "lock", lock)
    with pytest.raises(Unwritable):
        lock_new_folder(tmp_path / "tictactoe")
    assert [path.name for path in (tmp_path / "tictactoe").iterdir()] == ["run0001"]


@pytest.mark.parametrize(
    "code, words",
    [
        (sqlite3.SQLITE_IOERR_SHMMAP, "its disk offers no memory maps that programs share"),
        (sqlite3.SQLITE_IOERR_SHMLOCK, "its disk offers no locks of files"),
        (sqlite3.SQLITE_IOERR_LOCK, "its disk offers no locks of files"),
        (sqlite3.SQLITE_BUSY, "another program has it open, or its disk keeps no locks"),
        (sqlite3.SQLITE_IOERR_WRITE, "cannot be written"),
    ],
)
def test_what_sqlite_misses_of_a_disk_is_named(tmp_path, monkeypatch, code, words):
    connect = database.connect

    def poor(uri, meaning):
        found = connect(uri, meaning)

        class Poor:
            def __getattr__(self, name):
                return getattr(found, name)

            def execute(self, sql, *values):
                if "journal_mode" in sql:
                    error = sqlite3.OperationalError("disk I/O error")
                    error.sqlite_errorcode = code
                    raise meaning(error)
                return found.execute(sql, *values)

        return Poor()

    monkeypatch.setattr(database, "connect", poor)
    with pytest.raises(Unwritable, match=words):
        Store(tmp_path / "run.db", create=True)
