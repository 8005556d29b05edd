"""Little-Go: Go on 5 x 5 as in a university course, at most 24 moves, only stones count, White gets 2.5 points.

Differences from `go`: the game ends after 24 moves, passes included; points are the stones on the board; a pass ends
the game whenever the board is the same as before the last move, so that a pass at the start ends it.
The course's ko, that the board before the last move may not come back, is the simple ko: only recapturing the single
stone by which a single stone was captured can bring it back.
"""

from __future__ import annotations

import numpy as np

from compiled import rule
from config import UserError
from game import ENCODE, LAST, OVER, PLAYER, PLY, WINNER, CompiledState, GameState, Row, Rules
from games.chains import CAP, KO, PASSED, SIZE, STONES_ONLY, barred_point, colours, encode_stones, play_action
from games.endings import Solvable
from games.go import Go, key, legal, outcome, play, playout
from languages.translate import tr

PRESET = {
    "episodes": 256, "mcts_sims": 64, "fast_sims": 16, "grow_sims": 20, "memory_size": 250_000, "eval_episodes": 200,
    "ownership_weight": 0.0, "soft_policy_weight": 0.0, "duplicate_weight": "linear",
    "random_opening_plies": 15, "turns_until_tau0": 10,
}  # fmt: skip
"""Settings of preset `laptop`: every move searched in full, few simulations. A literal: see training/presets.py."""

PLIES = 24
PASS = 25
PLANES = 20


@rule(ENCODE)
def encode(row, out):
    """Write the planes: those of `go`, then whether at most 1, 2, ... 8, 10, 12, 16, 20 plies are left."""
    encode_stones(row, out, 20)
    size, left = row[SIZE], row[CAP] - row[PLY]
    for i in range(size * size):
        out[20 * i + 4] = barred_point(row, (i // size + 1) * (size + 1) + i % size + 1)
        out[20 * i + 5] = row[PASSED]
        out[20 * i + 6] = row[PLAYER] == 1
        out[20 * i + 7] = 1
        for k in range(12):
            most = k + 1 if k < 8 else (2 * k - 6 if k < 10 else 4 * k - 24)
            out[20 * i + 8 + k] = left <= most


class LittleGo(Go):
    """Go on 5 x 5 in 24 moves."""

    name = "littlego"
    plane_names = (*Go.plane_names, *(f"at most {n} plies left" for n in (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20)))
    rules = Rules(legal, play, outcome, encode, key, playout=playout)
    start_row: Row

    takes = ()
    solvable = Solvable(10)

    def __init__(self) -> None:
        self._lay_out(size=5, komi=2.5, plies=PLIES)
        self.input_shape = (5, 5, PLANES)
        self.start_row[[STONES_ONLY, PASSED]] = 1

    @property
    def aim(self) -> str:
        return tr("Go on 5x5: after 24 moves or two passes more stones win, and White gets 2.5 points more.")

    @property
    def openspiel_name(self) -> None:
        return None

    def longer(self) -> LittleGo:
        return self

    def resumed(self, state: GameState) -> None:
        """Return None: here a pass ends the game for good."""

    def position(self, before: np.ndarray, board: np.ndarray, player: int, ply: int) -> CompiledState:
        """Return the position with a player to move, given the board before the other's last move and the board now.

        Boards are [5, 5] in {1, -1, 0}. Raise `UserError` when a chain on the board has no liberty.
        """
        row = self.start_row.copy()
        for action in np.flatnonzero(board):
            row[PLAYER] = board.flat[action]
            play_action(row, int(action))
        if not np.array_equal(colours(row), board):
            raise UserError("expected a board on which every chain has a liberty")
        row[[PLAYER, PLY, LAST, OVER, WINNER, KO]] = player, ply, -1, 0, 0, 0
        row[PASSED] = np.array_equal(before, board)
        state = CompiledState(self, row)
        for action in np.flatnonzero((before == player) & (board == 0)):
            if action in state.allowedActions and np.array_equal(colours(state.takeAction(int(action))[0].row), before):
                row[KO] = (action // 5 + 1) * 6 + action % 5 + 1
        return state
