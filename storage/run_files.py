"""The files of a run as its writer reaches them: through the folder that it opened, not through a path.

A folder can be moved while a process works in it, and another run can then take its name. Every write of a run passes
`RunFiles`, so it lands in the folder that the process locked, or stops the work. Where the system opens no folders, a
write goes through the path, after a check that the path still leads to that folder.
"""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path

from config import UserError
from storage.atomic_files import Unwritable, unsuitable, write_file, writing
from system import files


class RunBusy(UserError):
    """Another process works on the run."""

    exit_code = 3


class RunFiles:
    """An open run folder. Names are relative to it; `require_place` checks that its path still leads to it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._path = folder.absolute()
        self._lock = self._note = -1
        self._at: int | None = None
        with writing(folder):
            self._at = files.open_folder(folder)
            found = os.stat(self._path) if self._at is None else os.fstat(self._at)
        self._known = {".": _identity(found)}
        """Device and inode of the folder, and of the files that may not be replaced while it is open."""

    # ---- place and lock

    def hold(self, name: str) -> None:
        """Remember a file: from now on the path has to lead to this one; raise `Unwritable` if it does not."""
        with writing(self.folder / name):
            self._known[name] = _identity(os.stat(self._name(name), dir_fd=self._at))
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
        now = files.place_of(self._at)
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
            lock = self.open(files.LOCK, os.O_RDWR | os.O_CREAT)
            note = lock if files.LOCK == "lock" else self.open("lock", os.O_RDWR | os.O_CREAT)
            try:
                mine = files.lock(lock)
            except files.NoLocks:
                raise unsuitable(self.folder / "lock", "locks of files") from None
            finally:
                self._lock, self._note = lock, note
        if not mine:
            owner = os.read(note, 20).decode("ascii", "replace").strip()
            self._close_lock()
            owner = f"process {owner}" if owner.isdigit() else "another process"
            raise RunBusy(f"{self.folder.name} is in use by {owner}; stop that first")
        with writing(self.folder / "lock", 16):
            os.ftruncate(note, 0)
            os.write(note, str(os.getpid()).encode())
        self.hold(files.LOCK)

    def _close_lock(self) -> None:
        for descriptor in {self._lock, self._note} - {-1}:
            os.close(descriptor)
        self._lock = self._note = -1

    def unlock(self) -> None:
        """Unlock the run, even while a forked process has the lock open."""
        if self._lock >= 0:
            with suppress(OSError):  # a reader of the file shall see that no process works
                os.ftruncate(self._note, 0)
            files.unlock(self._lock)
        self._close_lock()

    def close(self) -> None:
        """Unlock the run and close the folder."""
        self.unlock()
        if self._at is not None:
            os.close(self._at)
        self._at = None

    # ---- files

    def _name(self, name: str) -> str:
        """Return what leads to a file from the open folder, or its path, once that is checked, where none is open."""
        if self._at is not None:
            return name
        self.require_place()
        return str(self._path / name)

    def open(self, name: str, flags: int) -> int:
        """Return a descriptor of a regular file for its owner only; a link or a pipe of that name is refused."""
        found = files.open_no_link(self._name(name), flags, self._at)
        if not stat.S_ISREG(os.fstat(found).st_mode):
            os.close(found)
            raise OSError(None, "expected a regular file")
        return found

    def write(self, name: str, data: bytes, *, point: str = "file", needed: int = 0) -> None:
        """Write a file, or replace it, as `write_file` does; `needed`: bytes named when the disk is full."""
        self.require_place()
        with writing(self.folder / name, max(needed, len(data))):
            write_file(Path(self._name(name)), data, point=point, dir_fd=self._at)

    def append(self, name: str, data: bytes) -> None:
        """Append to a file."""
        self.require_place()
        with writing(self.folder / name, len(data)), open(self.open(name, os.O_WRONLY | os.O_APPEND), "ab") as file:
            file.write(data)

    def replace(self, name: str, target: str) -> None:
        """Rename a file; one of the new name is replaced."""
        with writing(self.folder / name):
            files.replace(self._name(name), self._name(target), self._at)

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
            inner = files.open_folder(folder, self._at) if self._at is not None else None
            try:
                return os.listdir(self._name(folder) if inner is None else inner)
            finally:
                if inner is not None:
                    os.close(inner)
        except OSError:
            return []

    def remove(self, name: str) -> None:
        """Remove a file, if it exists."""
        with writing(self.folder / name), suppress(FileNotFoundError):
            os.unlink(self._name(name), dir_fd=self._at)

    def make_folder(self, name: str) -> None:
        """Make a folder in the run, for its owner only."""
        with writing(self.folder / name), suppress(FileExistsError):
            os.mkdir(self._name(name), 0o700, dir_fd=self._at)

    def sweep(self) -> None:
        """Remove the temporary files of an interrupted `write`."""
        for folder in (".", "models"):
            for name in self.names(folder):
                if name.startswith(".") and name.endswith(".tmp"):
                    self.remove(f"{folder}/{name}")

    def remove_all(self) -> None:
        """Remove the folder and all that is in it, and the one that holds it if nothing else is there."""
        found = self.names(".") if self._at is not None or self.in_place() else []
        if self._at is None:
            self.unlock()  # an open file cannot be removed
            self._known = {".": self._known["."]}
        for name in found:
            with suppress(OSError, Unwritable):
                path = self._name(name)
                shutil.rmtree(path, ignore_errors=True, dir_fd=self._at)
                os.unlink(path, dir_fd=self._at)
        with suppress(OSError):  # another folder of this path is not empty
            os.rmdir(self._path)
            os.rmdir(self._path.parent)


def _identity(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino
