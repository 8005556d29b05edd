"""Wins by force that a game's own search finds (`Game.forced`): in gomoku by continuous fours and threats.

The rule has the signature FORCED: (row, effort, room [forced_room] int32, out [action_size] int32) -> int64. It returns
a legal action that wins by force; NO_WIN where it finds none; or ONLY - n, where every legal action loses but for the n
that it writes to `out`, in ascending order. It is called where no action wins at once and at most one action of the
other player would. What it returns follows from row and effort alone.
"""

from __future__ import annotations

from compiled import rule
from game import FORCED, NO_WIN

NEW, ROOT = 0, 4096
"""Efforts: at a new position what is sure to take no longer than an evaluation; at a root up to so many steps more."""


@rule(FORCED)
def no_forced_win(row, effort, room, out):
    return NO_WIN
