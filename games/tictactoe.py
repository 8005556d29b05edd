"""Tic-tac-toe: three in a row on 3 x 3; an action is a cell in row order from the top, named a3 ... c1.

Row: header, then the nine cells from the top row down, 1 / -1 / 0.
"""

from __future__ import annotations

import numpy as np

from compiled import compiled, rule
from game import (
    ENCODE,
    HEADER,
    KEY,
    LAST,
    LEGAL,
    OUTCOME,
    OVER,
    PLAY,
    PLAYER,
    PLAYOUT,
    PLY,
    WINNER,
    Game,
    GameState,
    Grid,
    Row,
    Rules,
)
from games.boards import draw, draw_below, edge_names, hash_cells, longest_line, make_grid, mix64, point_symmetries
from games.endings import Solvable
from languages.translate import tr

PRESET = {
    "iterations": 60, "eval_every": 30, "episodes": 256, "mcts_sims": 64, "fast_sims": 16,
    "full_search_share": 0.5, "grow_sims": 0, "reuse": 4.0, "optimizer": "adamw", "learning_rate": 0.002,
    "turns_until_tau0": 5, "random_opening_share": 0.5, "random_opening_plies": 4, "games_in_flight": 128,
    "memory_size": 40_000, "min_memory": 500, "batch_size": 128, "hidden_cnn_layers": ("32x3", "32x3", "32x3"),
    "value_units": 32, "opening_plies": 3, "eval_episodes": 60, "eval_sims": 8, "cache_size": 16_384,
    "warmup_steps": 20, "score_every": 5, "score_positions": 431, "score_sims": 8, "endgame": 0,
    "ownership_weight": 0.0, "soft_policy_weight": 0.0, "weight_decay": 1e-4, "duplicate_weight": "linear",
}  # fmt: skip
"""Settings of presets `tiny` and `laptop` for this game. A literal: see training/presets.py."""

CELLS = HEADER


@rule(LEGAL)
def legal(row, out):
    count = 0
    for i in range(9):
        if row[CELLS + i] == 0:
            out[count] = i
            count += 1
    return count


@rule(PLAY)
def play(row, action):
    row[CELLS + action] = row[PLAYER]
    row[PLY] += 1
    row[LAST] = action
    if longest_line(row, CELLS, 3, 3, action // 3, action % 3) >= 3:
        row[OVER] = 1
        row[WINNER] = row[PLAYER]
    elif row[PLY] == 9:
        row[OVER] = 1
    row[PLAYER] = -row[PLAYER]


@rule(OUTCOME)
def outcome(row, out):
    out[0] = row[WINNER] * row[PLAYER]
    return row[OVER]


@rule(ENCODE)
def encode(row, out):
    """Write the planes: stones of the player to move, stones of the other, ones (so that the edge can be seen)."""
    player = row[PLAYER]
    for i in range(9):
        out[3 * i] = row[CELLS + i] == player
        out[3 * i + 1] = row[CELLS + i] == -player
        out[3 * i + 2] = 1


@rule(KEY)
def key(row):
    return hash_cells(row, CELLS, CELLS + 9, row[PLAYER] + 1)


@compiled
def has_line(stones):
    """Return whether cells, one bit each, contain a row, a column or a diagonal."""
    across = stones & stones >> 1 & stones >> 2 & 0b001001001
    down = stones & stones >> 3 & stones >> 6 & 0b111
    return across | down != 0 or stones & 0b100010001 == 0b100010001 or stones & 0b001010100 == 0b001010100


@rule(PLAYOUT)
def playout(row, seed):
    """Play a random game with the cells as bits."""
    player, own, other = row[PLAYER], 0, 0
    for i in range(9):
        own |= (row[CELLS + i] == player) << i
        other |= (row[CELLS + i] == -player) << i
    free = 511 & ~(own | other)
    for left in range(9 - row[PLY], 0, -1):
        seed += np.uint64(1)
        cells = free
        for _ in range(draw_below(mix64(seed), left)):
            cells &= cells - 1
        cell = cells & -cells
        free ^= cell
        own |= cell
        if has_line(own):
            return player
        own, other = other, own
        player = -player
    return 0


class TicTacToe(Game):
    """Three in a row."""

    name = "tictactoe"
    plane_names = ("stones of the player to move", "stones of the other", "ones")
    look = "marks"
    winning_line = 3
    rules = Rules(legal, play, outcome, encode, key, playout=playout)
    solvable = Solvable(9, whole=True)

    def __init__(self) -> None:
        self.grid_shape = (3, 3)
        self.input_shape = (3, 3, 3)
        self.action_size = 9
        self.max_plies = 9
        self.symmetries = point_symmetries(3, 3)
        self.start_row = np.zeros(CELLS + 9, np.int32)
        self.start_row[[PLAYER, LAST]] = 1, -1

    @property
    def aim(self) -> str:
        return tr("Three marks in a row win: across, down or diagonally.")

    @property
    def openspiel_name(self) -> str:
        return "tic_tac_toe"

    def move_name(self, action: int) -> str:
        return "abc"[action % 3] + str(3 - action // 3)

    def owners(self, row: Row) -> np.ndarray:
        """Return the owner of each mark."""
        return row[CELLS:].reshape(3, 3).astype(np.int8)

    def cells(self, state: GameState) -> Grid:
        row = self.row_of(state)
        return make_grid(self.owners(row), int(row[LAST]), edge_names(3, 3))

    def render(self, row: Row) -> str:
        lines = draw(self.owners(row), int(row[LAST]), self.pieces)
        return "\n".join([f"{3 - r} {line}" for r, line in enumerate(lines)] + ["   a  b  c"])
