"""What JAX compiles, kept on disk for the next start, next to the machine code of the search.

JAX can do that itself, but writes each program in place: of a process that is killed half a file would stay, and each
later start would warn of it. Here a file is there whole or not at all, and ends with its digest. As with all compiled
code, who can write the folder decides what runs, so it is the user's alone (compiling/cache_folder.py).
"""

from __future__ import annotations

import hashlib
import platform
import secrets
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import jax
from jax._src import compilation_cache
from jax._src.compilation_cache_interface import CacheInterface

from compiling.cache_folder import FOLDER
from system.files import replace
from system.machine import processor_flags
from system.reading import read_limited

MOST_BYTES = 500_000_000
"""A folder that is larger is emptied at the next start."""


class KeptPrograms(CacheInterface):
    """Programs by JAX's key for them, which follows from the code, the versions of JAX and the device."""

    def __init__(self, folder: Path) -> None:
        self._path = folder
        with suppress(OSError):
            if sum(file.stat().st_size for file in folder.iterdir()) > MOST_BYTES:
                shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)

    def get(self, key: str) -> bytes | None:
        """Return a program, None if it is not kept or its file is damaged."""
        try:
            content = read_limited(self._path / key, MOST_BYTES)
        except OSError:
            return None
        program, digest = content[:-32], content[-32:]
        return program if hashlib.sha256(program).digest() == digest else None

    def put(self, key: str, value: bytes) -> None:
        """Keep a program; where nothing can be written none is kept."""
        temporary = self._path / f".{secrets.token_hex(8)}"
        try:
            temporary.write_bytes(value + hashlib.sha256(value).digest())
            replace(temporary, self._path / key)
        except OSError:
            with suppress(OSError):
                temporary.unlink()


def keep_programs() -> None:
    """Let JAX keep what it compiles, unless a notebook or the environment has named a folder for that."""
    if jax.config.jax_compilation_cache_dir is not None:
        return
    processor = hashlib.sha256(f"{platform.machine()} {processor_flags()}".encode()).hexdigest()[:8]
    compilation_cache.get_file_cache = _file_cache
    jax.config.update("jax_compilation_cache_dir", str(FOLDER / f"jax-{processor}"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)


def _file_cache(path: str) -> tuple[Any, str]:
    return KeptPrograms(Path(path)), path
