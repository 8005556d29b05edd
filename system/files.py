"""Folders, links and locks: what POSIX offers, and what stands in for it elsewhere (Windows).

Where the system opens no folders, a name is reached through its path, a file that is open cannot be replaced, and a
locked file cannot be read.
"""

from __future__ import annotations

import errno
import os
import time
from contextlib import suppress
from pathlib import Path

FOLDERS_OPEN = hasattr(os, "O_DIRECTORY") and {os.open, os.stat, os.mkdir, os.unlink, os.rename} <= os.supports_dir_fd
"""Whether a folder can be opened, and a name be reached through it wherever it is moved (`dir_fd`)."""
LOCK = "lock" if FOLDERS_OPEN else "lock.held"
"""Name of the file of a run that is locked. The owner's process id is in the file `lock`, which can be read by all."""
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
"""Errors of a disk that has no more room."""
ONLY_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
"""Flags to open a file for reading without waiting for a pipe or taking over a terminal."""
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_PRIVATE = _NO_FOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
PATIENCE = 2.0
"""Seconds that a file may be kept open by a reader before replacing it fails, where open files cannot be replaced."""


def open_folder(folder: str | Path, within: int | None = None) -> int | None:
    """Return a descriptor of a folder, None where the system opens none. within: descriptor that its name starts at."""
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY, dir_fd=within) if FOLDERS_OPEN else None


def place_of(folder: int | None) -> str:
    """Return the path of an open folder, "" if the system does not report it; " (deleted)" is its end if it is gone."""
    try:
        return os.readlink(f"/proc/self/fd/{folder}")
    except OSError:
        return ""


def sync_folder(folder: Path, within: int | None = None) -> None:
    """Flush a folder's list of names to the disk, so that a new name survives a loss of power, where that is possible.

    within: descriptor of the folder that the name starts at.
    """
    if not FOLDERS_OPEN:  # NTFS keeps a journal of names
        return
    descriptor = os.open(folder, os.O_RDONLY, dir_fd=within)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def open_no_link(name: str | Path, flags: int, within: int | None = None) -> int:
    """Open a file, or make it for its owner only; raise `OSError` where the name is a link, and do not wait for a pipe.

    within: descriptor of the folder that the name starts at.
    """
    if not _NO_FOLLOW and os.path.islink(name):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(name))
    return os.open(name, flags | _PRIVATE, 0o600, dir_fd=within)


def replace(name: str | Path, target: str | Path, within: int | None = None) -> None:
    """Rename a file; one of the new name is replaced. within: descriptor of the folder that both names start at."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return os.replace(name, target, src_dir_fd=within, dst_dir_fd=within)
        except PermissionError:
            if FOLDERS_OPEN or time.monotonic() > end:
                raise
        time.sleep(0.01)  # another program reads it now


class NoLocks(OSError):
    """A file cannot be locked, by anybody."""


def lock(descriptor: int) -> bool:
    """Lock an open file for this process until the file is closed or the process ends; return whether that is done.

    False: another has the lock. A process that this one starts does not have it. Raises `NoLocks` where the disk keeps
    none.
    """
    import portalocker

    try:
        portalocker.lock(descriptor, portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING)
    except portalocker.AlreadyLocked:
        return False
    except portalocker.LockException as error:
        raise NoLocks(None, f"cannot be locked: {error}") from None
    return True


def unlock(descriptor: int) -> None:
    """Unlock a file, even while a forked process has it open."""
    import portalocker

    with suppress(portalocker.LockException):  # closing it does it as well
        portalocker.unlock(descriptor)
