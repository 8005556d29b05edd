"""Fault injection: named points of the loop where a test can kill the process or make an operation fail.

ALPHAZERO_FAIL=POINT:K[:HOW] does it at pass K of a point; `*` stands for any point, a name ending in * for all points
that begin with it. HOW: kill (the default: SIGKILL, like a loss of power), full (disk full), memory (out of memory).
"""

from __future__ import annotations

import errno
import os

from system import processes

VARIABLE = "ALPHAZERO_FAIL"
_passed: dict[str, int] = {}


def reach(point: str) -> None:
    """Fail here if ALPHAZERO_FAIL says so; else do nothing."""
    wanted = os.environ.get(VARIABLE)
    if wanted:
        _reach(point, wanted)


def _reach(point: str, wanted: str) -> None:
    name, number, how = (*wanted.split(":"), "", "")[:3]
    if point != name and not (name.endswith("*") and point.startswith(name[:-1])):
        return
    _passed[wanted] = _passed.get(wanted, 0) + 1
    if _passed[wanted] != int(number or 1):
        return
    if how == "full":
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), point)
    if how == "memory":
        raise MemoryError(point)
    processes.die()
