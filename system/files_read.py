"""Which files your own code reads while a game is loaded: Python reports each file that is opened to an audit hook."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from system.import_names import OWN

EVENTS = frozenset({"open", "ctypes.dlopen", "sqlite3.connect"})
"""What the first argument of is the name of a file."""
NOT_DATA = ("numba.", "linecache", "importlib._bootstrap", "_frozen_importlib")
"""Beginnings of the names of modules that open files of code: machine code, lines for messages, modules."""

_listening = threading.local()


@contextmanager
def files_read() -> Iterator[set[Path]]:
    """Add each regular file that your own code opens for reading in this thread, itself or by a library."""
    _install()
    outer, found = getattr(_listening, "found", None), set[Path]()
    _listening.found = found
    try:
        yield found
    finally:
        _listening.found = outer
        if outer is not None:
            outer |= found


_installed: list[bool] = []


def _install() -> None:
    if not _installed:  # a hook cannot be taken out again
        _installed.append(True)
        sys.addaudithook(_hear)


def _hear(event: str, args: tuple[object, ...], events: frozenset[str] = EVENTS) -> None:
    if event not in events or (found := getattr(_listening, "found", None)) is None:
        return
    name, flags = args[0], args[2] if event == "open" else 0
    writes = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_APPEND | os.O_TRUNC)
    if not isinstance(name, (str, bytes, os.PathLike)) or writes or not _for_your_code(sys._getframe(1)):
        return
    path = Path(os.fsdecode(name)).absolute()
    if path.is_file():
        found.add(path)


def _for_your_code(frame: FrameType | None) -> bool:
    """Return whether a call came from your own file; a module that it imports reads for itself."""
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        if name.startswith(OWN):
            return True
        if f"{name}.".startswith(NOT_DATA):
            return False
        frame = frame.f_back
    return False
