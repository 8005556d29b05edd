"""The time of one player: how long to think about a move so that the clock never runs out.

Four ways of keeping time, in seconds: none; main time alone (sudden death); main time, then a period for each so many
stones (Canadian); main time, then periods of which one is lost when a move takes longer (byo-yomi).
"""

from __future__ import annotations

import math
from typing import NamedTuple

LAG = 0.04
"""Seconds of a move that are not the search's: messages, and a last batch of evaluations."""
SHARE = 0.4
"""Largest fraction of a move's time that is set aside for them."""
LEAST = 0.005
"""Seconds that a search always gets."""
FEWEST = 8
"""Own moves that the game is taken to last at least, however near its end is."""


class TimeControl(NamedTuple):
    """What was agreed before the game. All 0 with an infinite main time: no limit."""

    main: float = math.inf
    period: float = 0.0
    stones: int = 0
    """Moves to be made in each period (Canadian)."""
    periods: int = 0
    """Periods of one move each (byo-yomi); 0 if they are Canadian, or there are none."""


UNLIMITED = TimeControl()


class Clock:
    """What is left of a player's time."""

    def __init__(self, control: TimeControl = UNLIMITED) -> None:
        self.control = control
        self.main = control.main
        self.period = control.period
        """Seconds left of the present period; all of it before the main time is over."""
        self.stones = control.stones
        self.periods = control.periods

    @property
    def overtime(self) -> bool:
        return self.main <= 0.0

    def budget(self, moves_left: int) -> float:
        """Return the seconds to think about the next move; infinite without a limit.

        moves_left: own moves that the game may still last. Main time is divided by their number, but a move gets at
        least what its period gives it for nothing.
        """
        if math.isinf(self.main):
            return math.inf
        free = self.period / max(self.stones, 1) if self.control.period else 0.0
        shared = max(self.main, 0.0) / max(moves_left, FEWEST)
        return max(less_lag(max(free, shared)), LEAST)

    def spend(self, seconds: float) -> None:
        """Take the time of a move off the clock."""
        left = self.main - seconds if not self.overtime else -seconds
        self.main = max(left, 0.0)
        if left >= 0.0 and self.main > 0.0 or not self.control.period:
            return
        over = -left
        if self.control.periods:
            used = math.floor(over / self.control.period)
            self.periods = max(self.periods - used, 1)  # the last one is lost by the other program's clock only
            return
        self.period -= over
        self.stones -= 1
        if self.stones <= 0 or self.period <= 0.0:
            self.period, self.stones = self.control.period, self.control.stones

    def set_left(self, seconds: float, stones: int) -> None:
        """Set the clock as another program has it. stones: 0 in main time, else moves, or periods, still left."""
        if stones == 0:
            self.main = max(seconds, 0.0)
            self.period, self.stones, self.periods = self.control.period, self.control.stones, self.control.periods
            return
        self.main, self.period = 0.0, max(seconds, 0.0)
        if self.control.periods:
            self.periods = stones
        else:
            self.stones = stones


def less_lag(seconds: float) -> float:
    """Return the part of a move's time that is left to the search."""
    return seconds - min(LAG, SHARE * seconds)


def turn_budget(turn: float, match: float, moves_left: int) -> float:
    """Return the seconds to think where a move and the whole game have limits; either may be infinite."""
    shared = match / max(moves_left, FEWEST) if math.isfinite(match) else math.inf
    return max(less_lag(min(turn, shared)), LEAST) if min(turn, shared) < math.inf else math.inf
