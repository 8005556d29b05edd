"""Terminals: whether a line that is shown can be replaced by another."""

from __future__ import annotations

import os
import sys
from typing import TextIO

CLEAR = "\r\x1b[2K"
"""Goes to the start of the line and clears it, in a terminal that `redraws`."""


def redraws(stream: TextIO) -> bool:
    """Return whether a stream is a terminal that understands `CLEAR`."""
    if not stream.isatty() or os.environ.get("TERM") == "dumb":
        return False
    if sys.platform == "win32":  # a console has to be asked to read such sequences
        import ctypes

        kernel, mode = ctypes.windll.kernel32, ctypes.c_ulong()
        handle = kernel.GetStdHandle(-12 if stream is sys.stderr else -11)
        known = kernel.GetConsoleMode(handle, ctypes.byref(mode))
        return bool(known and kernel.SetConsoleMode(handle, mode.value | 4))  # ENABLE_VIRTUAL_TERMINAL_PROCESSING
    return True
