"""A game clock: the time that each side has left, with an increment after each of its moves (Fischer's clock).

Times are in seconds; `now` is the reading of any clock that never goes back, so that tests need not wait.
"""

from __future__ import annotations

import math
import re

MINUTES = 0, 1, 3, 5, 10, 15
"""Times to choose from; 0: no clock."""
INCREMENTS = 0, 1, 2, 3, 5, 10, 30
"""Seconds to choose from."""
MOVES_LEFT = 25
"""A machine plans its time as if so many moves of its own were still to come."""
SHORTEST = 0.05
LOW = 10
"""Seconds below which little time is left: the clock says so, and shows tenths (also in play.js)."""
_TEXT = re.compile(r"([0-9]{1,3})\+([0-9]{1,2})(?:,([0-9]{1,5}(?:\.[0-9])?),([0-9]{1,5}(?:\.[0-9])?))?", re.ASCII)


class Clock:
    """The time of both sides, of which at most one side's runs.

    >>> clock = Clock(60, 2)
    >>> clock.run(1, now=0.0)
    >>> clock.moved(1, now=10.0)
    >>> clock.time_of(1, now=11.0)
    52.0
    """

    def __init__(self, seconds: float, increment: float = 0.0) -> None:
        self.seconds, self.increment = seconds, increment
        self._left = {1: seconds, -1: seconds}
        self._side: int | None = None
        self._since = 0.0

    @property
    def running(self) -> int | None:
        """The side whose time runs, None if nobody's does."""
        return self._side

    def run(self, side: int | None, now: float) -> None:
        """Let a side's time run and the other's stand; None: both stand."""
        if side != self._side:
            self._stand(now)
            self._side, self._since = side, now

    def moved(self, side: int, now: float) -> None:
        """Record a move of a side: its time stands, and the increment is added if its time had run."""
        if self._side == side:
            self._stand(now)
            self._left[side] += self.increment

    def _stand(self, now: float) -> None:
        if self._side is not None:
            self._left[self._side] = self.time_of(self._side, now)
        self._side = None

    def time_of(self, side: int, now: float) -> float:
        """Return the seconds that a side has left, at least 0."""
        spent = now - self._since if side == self._side else 0.0
        return max(0.0, self._left[side] - spent)

    def fallen(self, now: float) -> int | None:
        """Return the side whose time is up, None if nobody's is."""
        return next((side for side in (1, -1) if self.time_of(side, now) <= 0), None)

    def budget(self, side: int, now: float) -> float:
        """Return the seconds that a machine takes for its next move at most, so that it does not lose on time."""
        left = self.time_of(side, now)
        return max(SHORTEST, min(left / MOVES_LEFT + 0.75 * self.increment, left / 3))

    def fresh(self) -> Clock:
        """Return the clock of another game with the same times."""
        return Clock(self.seconds, self.increment)

    def text(self, now: float) -> str:
        """Return the clock as text: minutes+increment, then the seconds left of each side."""
        left = ",".join(f"{self.time_of(side, now):.1f}" for side in (1, -1))
        return f"{self.seconds / 60:.0f}+{self.increment:.0f},{left}"


def from_text(text: str) -> Clock | None:
    """Return the clock of a text such as "5+3" or what `Clock.text` made; None if it is none of those on offer."""
    match = _TEXT.fullmatch(text)
    if match is None or int(match[1]) not in MINUTES[1:] or int(match[2]) not in INCREMENTS:
        return None
    clock = Clock(60.0 * int(match[1]), float(match[2]))
    if match[3]:
        most = clock.seconds + 1000 * clock.increment
        clock._left = {1: min(float(match[3]), most), -1: min(float(match[4]), most)}
    return clock


def face(seconds: float) -> str:
    """Return a time as a clock shows it.

    >>> face(75.2), face(9.53)
    ('1:15', '9.5')
    """
    if seconds < LOW:
        return f"{math.floor(10 * seconds) / 10:.1f}"
    return f"{int(seconds // 60)}:{int(seconds % 60):02}"
