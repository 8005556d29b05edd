"""Hostile: a small game in plain Python that breaks its contract in one named way, `Hostile(fault=...)`.

On six points each player in turn puts a stone on an empty one; who has more in the left column at the end wins.
"""

from __future__ import annotations

import numpy as np

from config import UserError
from game import GameState, Symmetry, illegal_move
from games.plain import PlainGame

ROWS, COLUMNS = 2, 3
POINTS = ROWS * COLUMNS
AT = 3
"""Stones on the board from which on most faults show."""


class HostileState(GameState):
    """One position; `ply` counts the moves also where stones are taken back."""

    def __init__(self, game, cells=(0,) * POINTS, player=1, ply=0):
        self.game, self.cells, self.ply = game, cells, ply
        self.fault = fault = game.fault if np.count_nonzero(cells) >= AT or game.fault in EARLY else ""
        self.playerTurn = 2 if fault == "player" else player
        self.id = (cells, player)
        empty = [i for i in range(POINTS) if cells[i] == 0]
        if fault in ("endless", "rarely") and (fault == "endless" or cells[0] == cells[1] == cells[2] == 1):
            self.id, empty = (cells, player, ply), empty or list(range(POINTS))
        if fault in ("cycle", "cycle-again"):
            empty = list(range(POINTS))  # a stone there is taken back
        self.isEndGame = not empty
        self.allowedActions = {
            "high": [*empty, POINTS], "low": [-1, *empty], "many": sorted(5 * empty), "no-moves": [],
            "order": empty[::-1], "huge": [*empty, 2**40], "text": [*empty, "a"], "no-list": None,
            "fraction": [a + 0.5 for a in empty],
        }.get(fault, empty) if empty else []  # fmt: skip
        left = sum(cells[i] for i in range(POINTS) if i % COLUMNS == 0)
        self.value = float(np.sign(left) * player) if self.isEndGame else 0.0
        if self.isEndGame:
            self.value = {"value": 5.0, "nan": float("nan"), "value-text": "won"}.get(fault, self.value)
        if fault == "id":
            self.id = "always the same"
        if fault == "id-list":
            self.id = [cells]

    def takeAction(self, action):
        if action not in (self.allowedActions or ()):
            raise UserError(illegal_move(self.game, self, action))
        cells = list(self.cells)
        cells[int(action)] = 0 if self.cells[int(action)] else self.playerTurn
        if self.fault == "mutate":
            self.cells = tuple(cells)
        if self.fault == "nothing":
            return None
        again = self.fault == "cycle-again" and self.ply % 3
        state = HostileState(self.game, tuple(cells), self.playerTurn if again else -self.playerTurn, self.ply + 1)
        return state, state.value, state.isEndGame

    def planes(self):
        board = np.reshape(self.cells, (ROWS, COLUMNS)) * self.playerTurn
        right = np.stack([board == 1, board == -1], axis=-1).astype(np.uint8)
        more = {"planes-more": np.ones((ROWS, COLUMNS, 9), np.uint8), "planes-fewer": right[..., :1],
                "planes-list": [1, 2], "planes-numbers": 300 * right.astype(int)}  # fmt: skip
        return more.get(self.fault, right)

    @property
    def owners(self):
        return np.zeros((9, 9)) if self.fault == "owners" else np.reshape(self.cells, (ROWS, COLUMNS))

    def render(self):
        return "".join(self.game.pieces.get(cell, "?") for cell in self.cells)


EARLY = ("endless", "rarely", "cycle", "cycle-again", "owners")


class Hostile(PlainGame):
    name = "hostile"

    def __init__(self, fault: str = "right"):
        self.fault = fault
        self.grid_shape, self.input_shape = (ROWS, COLUMNS), (ROWS, COLUMNS, 2)
        self.action_size = self.max_plies = POINTS
        if fault == "plies":
            self.max_plies = POINTS - 1
        self.symmetries = []
        if fault == "symmetry":
            self.symmetries = [Symmetry(np.arange(POINTS) + 1, np.arange(POINTS) + 1)]
        self.__dict__.update(LIMITS.get(fault, {}))
        super().__init__()

    def start(self):
        return HostileState(self)


LIMITS = {
    "actions": {"action_size": 32_768},
    "no-actions": {"action_size": 0},
    "max-plies": {"max_plies": 10**6},
    "no-plies": {"max_plies": 0},
    "board": {"grid_shape": (3000, 3000), "input_shape": (3000, 3000, 2)},
    "input": {"input_shape": (ROWS, COLUMNS + 1, 2)},
    "inputs": {"input_shape": (ROWS, COLUMNS, 200_000)},
    "layout": {"policy_layout": "rows"},
}
IN_PLAY = ("plies", "endless", "cycle", "cycle-again", "high", "low", "many", "no-moves", "huge", "text", "no-list",
           "fraction", "player", "value", "nan", "value-text", "id-list", "nothing")  # fmt: skip
"""Faults that any command that plays finds."""
IN_SEARCH = ("planes-more", "planes-fewer", "planes-list", "planes-numbers")
"""Faults that a network's search finds as well."""
