"""The start of the process that thinks about a turn of Little-Go: only one at a time compiles what turns need.

Otherwise every turn of the first minute would start one more, all of which compile the same on the same cores.
"""

from __future__ import annotations

import json
import os
import sqlite3

from compiling.cache_folder import FOLDER

_DONE, _LOCK = FOLDER / "littlego_compiled", FOLDER / "littlego_lock"
_held: list[sqlite3.Connection] = []
"""The lock, until this process ends: one of SQLite's, which every system has and frees when the process is killed."""


def main() -> None:
    """Read a task from the standard input and think, unless another process is compiling."""
    if not _DONE.exists() and not _lock():
        by = "another process still compiles what turns need"
        os.write(1, json.dumps({"action": None, "by": by, "final": True}).encode() + b"\n")
        return
    from plugins.littlego.thinker import answer_task

    if answer_task():
        _DONE.touch()


def _lock() -> bool:
    """Return False while another process has the lock; a disk that keeps no locks is no reason to wait for ever."""
    try:
        lock = sqlite3.connect(_LOCK, timeout=0, isolation_level=None)
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error as error:
        return getattr(error, "sqlite_errorcode", 0) & 255 != sqlite3.SQLITE_BUSY
    _held.append(lock)
    return True
