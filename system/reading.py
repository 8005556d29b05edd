"""Reads regular files up to a size: a pipe, a device or a far larger file is refused at once."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

from system.files import ONLY_READ

TEXT_BYTES = 1 << 20
"""Most bytes that are read of a settings file."""
LINES_BYTES = 1 << 28
"""The same of a file of lines."""
MODEL_BYTES = 1 << 32
"""The same of a network."""


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading; raise `OSError` unless it, or what a link of that name leads to, is a regular file.

    A pipe or a device is refused at once: reading one may wait, or never end.
    """
    descriptor = os.open(path, ONLY_READ)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "expected a regular file", str(path))
    return open(descriptor, "rb")


def read_limited(path: Path, limit: int) -> bytes:
    """Return the bytes of a regular file; raise `OSError` when it is none, or has more than `limit` bytes."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size or limit  # 0: of what the system makes as it is read
        data = file.read(size + 1) if size <= limit else None
        if data is None or len(data) > limit:
            raise OSError(errno.EFBIG, f"expected at most {limit:,} bytes, got a larger file", str(path))
        return data
