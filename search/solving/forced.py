"""Wins by force that a game's own search finds (`Game.forced`): in gomoku by continuous fours and threats.

The rule has the signature FORCED: (row, effort, room [forced_room] int32, out [action_size] int32) -> int64. It returns
a legal action that wins by force; NO_WIN where it finds none; or ONLY - n, where every legal action loses but for the n
that it writes to `out`, in ascending order. It is called where no action wins at once and at most one action of the
other player would. What it returns follows from row and effort alone. Into room[-1] it writes the plies to the end of
a win that it found, 0 where it has not counted them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from compiled import call, compiled, rule
from game import FORCED, NO_WIN, ONLY, Game, GameState

NEW, AT_ROOT = 0, 4096
"""Efforts: at a new position, as much as an evaluation costs; at a root, at most AT_ROOT further steps."""


@rule(FORCED)
def no_forced_win(row, effort, room, out):
    return NO_WIN


@compiled
def _call_forced(fn, row, effort, room, out):
    return fn(row, effort, room, out)


class Forced(NamedTuple):
    """What is known of a position by force."""

    move: int | None
    """A move that wins."""
    plies: int
    """Plies to the end of that win; 0 = not counted."""
    defences: list[int] | None
    """The moves that do not lose, where the other player threatens to win by force; None where it does not."""


class ForcedSearch:
    """Asks a game's own search for wins by force. Only one thread may use it."""

    def __init__(self, game: Game) -> None:
        """Make the work space."""
        self.game = game
        self.room = np.zeros(game.forced_room, np.int32)
        self._rule: Any = game.forced or no_forced_win
        self._out = np.zeros(game.action_size, np.int32)

    def __call__(self, state: GameState, effort: int = NEW) -> Forced:
        """Return what is found in a position where no move wins at once and the other threatens that once at most."""
        found = int(call(_call_forced, self._rule, self.game.row_of(state), effort, self.room, self._out))
        move, plies = (found, int(self.room[-1])) if found >= 0 else (None, 0)
        return Forced(move, plies, self._out[: ONLY - found].tolist() if found <= ONLY else None)
