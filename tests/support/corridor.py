"""Corridor: a small game in plain Python with passes, two turns in a row and results between win and draw.

On two lanes of four points, put a stone on an empty point, or pass. A stone at an end of a lane gives its
player another turn. The game is over when the board is full or after two passes in a row. Each point by which
one's longest run of stones in a lane is longer than the other's is worth a quarter.
"""

from __future__ import annotations

import numpy as np

from config import UserError
from game import GameState, illegal_move
from games.boards import draw, point_symmetries
from games.plain import PlainGame

ROWS, COLUMNS = 2, 4
PASS = ROWS * COLUMNS


class CorridorState(GameState):
    """One position; `passes` counts the passes just made."""

    def __init__(self, game, cells=(0,) * PASS, player=1, passes=0, last=-1):
        self.game, self.cells, self.playerTurn, self.passes, self.last = game, cells, player, passes, last

    @property
    def id(self):
        return (self.cells, self.playerTurn, self.passes)

    @property
    def isEndGame(self):
        return self.passes == 2 or 0 not in self.cells

    @property
    def allowedActions(self):
        return [] if self.isEndGame else [*(i for i in range(PASS) if self.cells[i] == 0), PASS]

    @property
    def score(self):
        return float(self.longest_run(self.playerTurn)), float(self.longest_run(-self.playerTurn))

    @property
    def value(self):
        return (self.score[0] - self.score[1]) / COLUMNS if self.isEndGame else 0.0

    def longest_run(self, player):
        own = ["x" if cell == player else " " for cell in self.cells]
        lanes = ("".join(own[:COLUMNS]), "".join(own[COLUMNS:]))
        return max((len(run) for lane in lanes for run in lane.split()), default=0)

    def takeAction(self, action):
        if action not in self.allowedActions:
            raise UserError(illegal_move(self.game, self, action))
        if action == PASS:
            state = type(self)(self.game, self.cells, -self.playerTurn, self.passes + 1, PASS)
        else:
            cells = (*self.cells[:action], self.playerTurn, *self.cells[action + 1 :])
            again = action % COLUMNS in (0, COLUMNS - 1)
            state = type(self)(self.game, cells, self.playerTurn if again else -self.playerTurn, 0, action)
        return state, state.value, state.isEndGame

    def planes(self):
        """Own stones, the other's, whether the last move was a pass."""
        board = np.reshape(self.cells, (ROWS, COLUMNS)) * self.playerTurn
        return np.stack([board == 1, board == -1, np.full_like(board, self.passes > 0)], axis=-1).astype(
            np.uint8
        )

    def render(self):
        lines = draw(np.reshape(self.cells, (ROWS, COLUMNS)), self.last, self.game.pieces)
        return "\n".join([f"{ROWS - r} {line}" for r, line in enumerate(lines)] + ["   a  b  c  d"])


class Corridor(PlainGame):
    name = "corridor"
    state_class = CorridorState

    def __init__(self):
        self.grid_shape = (ROWS, COLUMNS)
        self.input_shape = (ROWS, COLUMNS, 3)
        self.action_size = PASS + 1
        self.max_plies = 2 * PASS
        self.symmetries = point_symmetries(ROWS, COLUMNS, extra_actions=1)
        super().__init__()

    def start(self):
        return self.state_class(self)

    def move_name(self, action):
        return "pass" if action == PASS else "abcd"[action % COLUMNS] + str(ROWS - action // COLUMNS)
