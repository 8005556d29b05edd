"""The files of a run as its writer reaches them: through the folder that it opened, not through a path.

A folder can be moved while a process works in it, and another run can then take its name. Every write of a run passes
`RunFiles`, so it lands in the folder that the process locked, or stops the work.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path

from config import UserError
from storage.atomic_files import Unwritable, write_file, writing


class RunBusy(UserError):
    """Another process works on the run."""

    exit_code = 3


class RunFiles:
    """An open run folder. Names are relative to it; `require_place` checks that its path still leads to it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._path = folder.absolute()
        self._lock = self._at = -1
        with writing(folder):
            self._at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        self._known = {".": _identity(os.fstat(self._at))}
        """Device and inode of the folder, and of the files that may not be replaced while it is open."""

    # ---- place and lock

    def hold(self, name: str) -> None:
        """Remember a file: from now on the path has to lead to this one; raise `Unwritable` if it does not."""
        with writing(self.folder / name):
            self._known[name] = _identity(os.stat(name, dir_fd=self._at))
        self.require_place()

    def require_place(self) -> None:
        """Raise `Unwritable` when the folder, or a file that is held, is no longer what its path leads to."""
        for name, known in self._known.items():
            try:
                found = _identity(os.stat(self._path / name))
            except OSError:
                found = None
            if found != known:
                raise Unwritable(self._lost(name))

    def in_place(self) -> bool:
        """Return whether `require_place` raises nothing."""
        try:
            self.require_place()
        except Unwritable:
            return False
        return True

    def _lost(self, name: str) -> str:
        """Return the message for a folder or file that is no longer in its place."""
        if name != ".":
            what = "was removed or replaced while the run was at work"
            return f"{self.folder / name}: {what}; the work stops, so that no other run is changed"
        try:
            now = os.readlink(f"/proc/self/fd/{self._at}")
        except OSError:
            now = ""
        if now.endswith(" (deleted)"):
            return f"{self.folder}: the run was removed while it was at work"
        if now == str(self._path) or not now:
            now = "where it is now"
        return f"{self.folder}: the run was moved while it was at work; what was finished before is safe ({now})"

    def lock(self) -> None:
        """Lock the run for this process; raise `RunBusy` naming the process that has it.

        The lock ends with its process.
        """
        with writing(self.folder / "lock"):
            self._lock = self.open("lock", os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            owner = os.read(self._lock, 20).decode("ascii", "replace").strip()
            os.close(self._lock)
            self._lock = -1
            owner = f"process {owner}" if owner.isdigit() else "another process"
            raise RunBusy(f"{self.folder.name} is in use by {owner}; stop that first") from None
        with writing(self.folder / "lock", 16):
            os.ftruncate(self._lock, 0)
            os.write(self._lock, str(os.getpid()).encode())
        self.hold("lock")

    def close(self) -> None:
        """Unlock the run, even while a forked process has the lock open, and close the folder."""
        if self._lock >= 0:
            with suppress(OSError):  # a reader of the file shall see that no process works
                os.ftruncate(self._lock, 0)
            fcntl.flock(self._lock, fcntl.LOCK_UN)
            os.close(self._lock)
        if self._at >= 0:
            os.close(self._at)
        self._lock = self._at = -1

    # ---- files

    def open(self, name: str, flags: int) -> int:
        """Return a descriptor of a regular file for its owner only; a link or a pipe of that name is refused."""
        found = os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600, dir_fd=self._at)
        if not stat.S_ISREG(os.fstat(found).st_mode):
            os.close(found)
            raise OSError(None, "expected a regular file")
        return found

    def write(self, name: str, data: bytes, *, point: str = "file", needed: int = 0) -> None:
        """Write a file, or replace it, as `write_file` does; `needed`: bytes named when the disk is full."""
        self.require_place()
        with writing(self.folder / name, max(needed, len(data))):
            write_file(Path(name), data, point=point, dir_fd=self._at)

    def append(self, name: str, data: bytes) -> None:
        """Append to a file."""
        self.require_place()
        with writing(self.folder / name, len(data)), open(self.open(name, os.O_WRONLY | os.O_APPEND), "ab") as file:
            file.write(data)

    def replace(self, name: str, target: str) -> None:
        """Rename a file; one of the new name is replaced."""
        with writing(self.folder / name):
            os.replace(name, target, src_dir_fd=self._at, dst_dir_fd=self._at)

    def set_aside(self, name: str) -> None:
        """Move a file, if it exists, into quarantine/, under a name that is free there."""
        self.require_place()
        folder, last = os.path.split(name)
        if last not in self.names(folder):
            return
        self.make_folder("quarantine")
        taken, free, number = set(self.names("quarantine")), last, 1
        while free in taken:
            free, number = f"{last}.{number}", number + 1
        self.replace(name, f"quarantine/{free}")

    def names(self, folder: str) -> list[str]:
        """Return the names in a folder of the run, none if it does not exist."""
        try:
            inner = os.open(folder, os.O_RDONLY | os.O_DIRECTORY, dir_fd=self._at)
        except OSError:
            return []
        try:
            return os.listdir(inner)
        finally:
            os.close(inner)

    def remove(self, name: str) -> None:
        """Remove a file, if it exists."""
        with writing(self.folder / name), suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self._at)

    def make_folder(self, name: str) -> None:
        """Make a folder in the run, for its owner only."""
        with writing(self.folder / name), suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=self._at)

    def sweep(self) -> None:
        """Remove the temporary files of an interrupted `write`."""
        for folder in (".", "models"):
            for name in self.names(folder):
                if name.startswith(".") and name.endswith(".tmp"):
                    self.remove(f"{folder}/{name}")

    def remove_all(self) -> None:
        """Remove the folder and all that is in it."""
        for name in self.names("."):
            shutil.rmtree(name, ignore_errors=True, dir_fd=self._at)
            with suppress(OSError):
                os.unlink(name, dir_fd=self._at)
        with suppress(OSError):  # another folder of this path is not empty
            os.rmdir(self._path)


def _identity(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino
