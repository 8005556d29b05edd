"""Tasks of a pool of workers: games that are assigned together, and the workers that ended while they held them.

A game can end its worker by an exception or by ending the process. It is not to blame where the machine was lost. Nor
is it where the worker was silent: then the process or its machine was frozen, and a game that never ends looks the
same. Those ends have a limit of their own, so that no game is played again for ever.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

FAILURES = 3
"""A run stops when a task has failed this often, or this many workers in a row ended before they were ready."""
ENDS = 10
"""A run stops when this many workers in a row ended with a task, for whatever reason, and without a game of it."""


class Machine(Protocol):
    """What a task needs of a `WorkerHandle`."""

    @property
    def lost(self) -> bool: ...


class Task:
    """Some games that are assigned together."""

    def __init__(self, number: int, games: Sequence[int]) -> None:
        self.number, self.missing = number, set(games)
        self._ended: list[tuple[Machine | None, bool]] = []
        """(worker, whether it was silent) of each that ended with the task, since its last game."""

    def ended(self, handle: Machine | None, silent: bool) -> None:
        """Record that the worker of the task has ended."""
        self._ended.append((handle, silent))

    def played(self, index: int) -> None:
        """Record that a game has come: what ended the workers before was another one, or none."""
        self.missing.discard(index)
        self._ended.clear()

    @property
    def failures(self) -> int:
        """How many ends the games may have caused. A machine's loss may become known after its worker's end."""
        return sum(not silent and not (handle and handle.lost) for handle, silent in self._ended)

    @property
    def alone(self) -> bool:
        """True after two ends: the task's worker then has no other task, so that the next end is this one's."""
        return len(self._ended) >= FAILURES - 1

    @property
    def fault(self) -> str:
        """Why the run must stop; "" if it need not."""
        if self.failures >= FAILURES:
            return f"failed {FAILURES} times"
        if len(self._ended) >= ENDS:
            return f"ended no game with {ENDS} workers in a row, which were lost or silent"
        return ""

    def __str__(self) -> str:
        return f"game{'s' * (len(self.missing) > 1)} {', '.join(map(str, sorted(self.missing)))}"
