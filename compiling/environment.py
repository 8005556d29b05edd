"""What libraries find when they are imported: variables that this program replaces, memory, other libraries."""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

from config import UserError
from system import processes

ENVIRONMENT: dict[str, str] = {}
"""Variables of the environment that this program replaced or removed, as they were."""


def take_over(*prefixes: str, keep: tuple[str, ...], **settings: str) -> None:
    """Remove variables from the environment by prefix and set others, before a library reads them.

    keep: prefixes of those that stay as they are.
    """
    for name in list(os.environ):
        if name.startswith(prefixes) and not name.startswith(keep) and os.environ[name] != settings.get(name):
            ENVIRONMENT[name] = os.environ.pop(name)
    os.environ.update(settings)


def need_address_space(gib: float, what: str) -> None:
    """Raise `UserError` where `ulimit -v` leaves less: libraries end the process when it is used up."""
    left = processes.address_space_left()
    if left is not None and left < gib * 2**30:
        needs = f"{what} needs {gib:.1f} GiB of address space, `ulimit -v` leaves {left / 2**30:.1f} GiB"
        raise UserError(f"not enough memory: {needs}")


class Without:
    """A block in which the thread that enters it finds no modules of these names, unless they are loaded already.

    For what a library imports only where it is installed, and does without.
    """

    def __init__(self, *names: str) -> None:
        self._names, self._thread = names, threading.get_ident()

    def __enter__(self) -> None:
        sys.meta_path.insert(0, self)

    def __exit__(self, *_: object) -> None:
        sys.meta_path.remove(self)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Raise what an import raises of a module that is not there, or leave it to those who look next."""
        if name.partition(".")[0] in self._names and threading.get_ident() == self._thread:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def take_numba_over() -> None:
    """Leave numba its own settings, whatever the environment says.

    Raises `UserError` where numba would not compile, or as a file says. NUMBA_CACHE_DIR stays: see cache_folder.py.
    """
    if os.path.isfile(".numba_config.yaml"):
        raise UserError("expected no .numba_config.yaml in this folder: it changes how numba compiles this program")
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        raise UserError("NUMBA_DISABLE_JIT: expected 0, as this program runs only compiled; unset it")
    take_over("NUMBA_", keep=("NUMBA_CACHE_DIR",))
