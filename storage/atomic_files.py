"""Files that a crash leaves either old or new: written under a temporary name, flushed, put in place. No pickles."""

from __future__ import annotations

import hashlib
import io
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from config import UserError
from storage.fault_injection import reach
from storage.untrusted_npz import BadArrays, read_arrays
from system.files import FULL, replace, sync_folder
from system.reading import MODEL_BYTES, read_limited

NUMBERS = "<f4", "<f8", "<i8", "<i4", "<f2"
"""Types of the numbers in weights and in the states of optimizers; 16 bits in early versions that ship."""


class DamagedData(UserError):
    """A file of the run is not the one that the run wrote."""

    exit_code = 4


class Unwritable(UserError):
    """The disk is full, or a folder is gone or cannot be written to; nothing that was acknowledged is lost."""

    exit_code = 5


def free_bytes(folder: Path) -> int:
    """Return the free bytes on a folder's disk; 0 when the folder is gone."""
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return 0


def require_space(folder: Path, needed: int) -> None:
    """Raise `Unwritable` when less than `needed` bytes are free."""
    free = free_bytes(folder)
    if free < needed:
        message = f"{needed:,} bytes are needed to go on, {free:,} are free; what was finished before is safe"
        raise Unwritable(f"{folder}: {message}")


def unwritable(path: Path, needed: int, reason: str) -> Unwritable:
    """Return the error of a failed write; it names the bytes needed if fewer are free."""
    free = free_bytes(path.parent)
    space = f"; {needed:,} bytes are needed, {free:,} are free" if free < needed else ""
    return Unwritable(f"{path}: cannot be written ({reason}){space}; what was finished before is safe")


def not_written(path: Path, error: OSError, more: str = "") -> UserError:
    """Return the error of a user's file that could not be written; more: what to say behind that."""
    kind = Unwritable if error.errno in FULL else UserError
    return kind(f"{path}: cannot be written ({error.strerror or error}){more}")


def unsuitable(path: Path, lacks: str) -> Unwritable:
    """Return the error of a disk that lacks what a run needs."""
    words = f"its disk offers no {lacks}, as some network and shared folders; a run needs a disk that does"
    return Unwritable(f"{path}: {words}: ALPHAZERO_RUNS names another folder for runs")


@contextmanager
def writing(path: Path, needed: int = 0) -> Iterator[None]:
    """Turn an `OSError` of the block into `Unwritable` with the path, and the bytes needed when the disk is full."""
    try:
        yield
    except OSError as error:
        raise unwritable(path, needed if error.errno in FULL else 0, error.strerror or str(error)) from None


def check_free(path: Path, *, overwrite: bool = False, ours: bytes = b"") -> None:
    """Raise `UserError` if a file could not be written there, or would be replaced without `overwrite`.

    ours: what stands in a file of the same command, which may be replaced.
    """
    try:
        if path.is_dir():
            raise UserError(f"{path}: expected a file, this is a folder")
        if (path.exists() or path.is_symlink()) and not overwrite and not (ours and _holds(path, ours)):
            raise UserError(f"{path}: exists; --overwrite replaces it")
        trial = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
        os.close(os.open(trial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        trial.unlink()
    except OSError as error:
        raise not_written(path, error) from None


def _holds(path: Path, words: bytes) -> bool:
    """Return whether words stand in a file that can be read, or nothing does."""
    with suppress(OSError):
        return words in (data := read_limited(path, MODEL_BYTES)) or not data
    return False


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield an empty file next to a user's file, which it replaces when the block ends without an error.

    Nobody can put a link in its place before: its name is random, and it is made here. The umask chooses its mode, as
    for a file that the user makes. Raises `UserError` naming the user's file if that fails; it is then unchanged.
    """
    trial = path.with_name(f".{path.stem}.{secrets.token_hex(4)}.tmp{path.suffix}")
    try:
        os.close(os.open(trial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        try:
            yield trial
            replace(trial, path)
        finally:
            trial.unlink(missing_ok=True)
    except OSError as error:
        raise not_written(path, error) from None


def private(path: str, flags: int) -> int:
    """Open a file that only its owner may read: the `opener` for files of a run."""
    return os.open(path, flags, 0o600)


def write_file(path: Path, data: bytes, *, point: str = "file", dir_fd: int | None = None) -> None:
    """Write a file under a temporary name, flush it to the disk, then put it in place.

    point: prefix of its fault-injection points; dir_fd: descriptor of the folder that `path` is relative to.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=dir_fd), "wb") as file:
            file.write(data)
            reach(f"{point}.written")
            file.flush()
            os.fsync(file.fileno())
        reach(f"{point}.synced")
        replace(temporary, path, dir_fd)
        sync_folder(path.parent, dir_fd)
        reach(f"{point}.replaced")
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=dir_fd)


def read_file(path: Path) -> bytes:
    """Return the bytes of a model file that the run wrote."""
    try:
        return read_limited(path, MODEL_BYTES)
    except OSError as error:
        raise DamagedData(f"{path}: expected a network that the run wrote ({error.strerror})") from None


def read_checked(path: Path, digest: str) -> bytes:
    """Return the bytes of a file that the run wrote; raise `DamagedData` when its sha256 is another."""
    data = read_file(path)
    if sha256(data) != digest:
        raise DamagedData(f"{path}: expected the file that the run wrote, got another")
    return data


def sha256(data: bytes) -> str:
    """Return the digest that the store keeps of a file."""
    return hashlib.sha256(data).hexdigest()


def arrays_to_bytes(arrays: Sequence[np.ndarray]) -> bytes:
    """Return arrays as an .npz with members a0000, a0001, ..."""
    buffer = io.BytesIO()
    np.savez(buffer, **{f"a{i:04d}": np.asarray(a, order="C") for i, a in enumerate(arrays)})  # type: ignore[arg-type]
    return buffer.getvalue()


def arrays_from_bytes(data: bytes, shapes: Sequence[tuple[int, ...]], source: str) -> list[np.ndarray]:
    """Read arrays of exactly these shapes, those of 16 bits as float32; raise `DamagedData` naming the difference."""
    try:
        found = read_arrays(data, {f"a{i:04d}": (NUMBERS, tuple(s)) for i, s in enumerate(shapes)}).values()
        return [array.astype(np.float32) if array.dtype == np.float16 else array for array in found]
    except BadArrays as error:
        raise DamagedData(f"{source}: {error}") from None
