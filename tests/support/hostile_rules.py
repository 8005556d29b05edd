"""HostileRules: a small game with compiled rules that breaks its contract in one named way, `HostileRules(fault=...)`.

On six points each player in turn puts a stone on an empty one; who has more in the left column at the end wins.
"""

from __future__ import annotations

import numpy as np

from compiled import rule
from game import (
    ENCODE,
    HEADER,
    KEY,
    LAST,
    LEGAL,
    NOT_PLAYED,
    NOT_TOLD,
    OUTCOME,
    OVER,
    PLAY,
    PLAYER,
    PLAYOUT,
    PLY,
    SAFE,
    SOLVE,
    WINNER,
    WINNING,
    Game,
    Rules,
)

ROWS, COLUMNS = 2, 3
POINTS, AT = ROWS * COLUMNS, 3
FAULT, CELLS = HEADER, HEADER + 1
FAULTS = ("right", "plies", "endless", "cycle", "high", "low", "many", "fewer-than-none", "no-moves", "player",
          "value", "nan", "winning", "safe-count", "safe-move", "solve", "playout", "playout-nan", "start",
          "writes")  # fmt: skip
(RIGHT, SHORT, ENDLESS, CYCLE, HIGH, LOW, MANY, FEWER, NO_MOVES, TURN, VALUE, NAN, WIN, SAFE_COUNT, SAFE_MOVE, SOLVED,
 PLAYED, PLAYED_NAN, START, WRITES) = range(len(FAULTS))  # fmt: skip


@rule(LEGAL)
def legal(row, out):
    fault = row[FAULT] if row[PLY] >= AT else 0
    if fault == NO_MOVES:
        return 0
    if fault == MANY:
        return 1_000_000
    if fault == FEWER:
        return -5
    count = 0
    for i in range(POINTS):
        if row[CELLS + i] == 0 or row[FAULT] == CYCLE or row[FAULT] == ENDLESS:
            out[count] = i
            count += 1
    if fault == HIGH:
        out[count - 1] = 30_000
    if fault == LOW:
        out[0] = -30_000
    return count


@rule(PLAY)
def play(row, action):
    full = True
    row[CELLS + action] = 0 if row[FAULT] == CYCLE and row[CELLS + action] != 0 else row[PLAYER]
    for i in range(POINTS):
        full = full and row[CELLS + i] != 0
    row[PLY] += 1
    row[LAST] = action
    row[PLAYER] = -row[PLAYER]
    if full and row[FAULT] != CYCLE and row[FAULT] != ENDLESS:
        row[OVER] = 1
        left = row[CELLS] + row[CELLS + COLUMNS]
        row[WINNER] = 1 if left > 0 else (-1 if left < 0 else 0)
    if row[FAULT] == TURN and row[PLY] >= AT:
        row[PLAYER] = 9


@rule(OUTCOME)
def outcome(row, out):
    if row[FAULT] == START:
        out[0] = 0.0
        return 1
    out[0] = row[WINNER] * row[PLAYER]
    if row[FAULT] == VALUE:
        out[0] = 40.0
    if row[FAULT] == NAN:
        out[0] = np.nan
    return row[OVER]


@rule(ENCODE)
def encode(row, out):
    for i in range(POINTS):
        out[2 * i] = row[CELLS + i] == row[PLAYER]
        out[2 * i + 1] = row[CELLS + i] == -row[PLAYER]
    if row[FAULT] == WRITES:
        out[2 * POINTS] = 1


@rule(KEY)
def key(row):
    number = 2 * row[PLY] if row[FAULT] == ENDLESS else 0
    for i in range(POINTS):
        number = 3 * number + row[CELLS + i] + 1
    return np.uint64(2 * number + (row[PLAYER] > 0) + 1)


@rule(WINNING)
def winning(row):
    return 77 if row[FAULT] == WIN and row[PLY] >= AT else (-1 if row[FAULT] in (SAFE_COUNT, SAFE_MOVE) else NOT_TOLD)


@rule(SAFE)
def safe(row, out):
    if row[FAULT] == SAFE_COUNT and row[PLY] >= AT:
        return 2_000_000
    if row[FAULT] == SAFE_MOVE and row[PLY] >= AT:
        out[0] = 31_000
        return 1
    return NOT_TOLD


@rule(PLAYOUT)
def playout(row, seed):
    if row[FAULT] == PLAYED:
        return 1e6
    return np.nan if row[FAULT] == PLAYED_NAN else NOT_PLAYED


@rule(SOLVE)
def solve(row, left):
    return 100 if row[FAULT] == SOLVED else NOT_TOLD


class HostileRules(Game):
    name = "hostilerules"
    rules = Rules(legal, play, outcome, encode, key, winning, playout, safe, solve)

    def __init__(self, fault: str = "right"):
        self.grid_shape, self.input_shape = (ROWS, COLUMNS), (ROWS, COLUMNS, 2)
        self.action_size = self.max_plies = POINTS
        if fault == "plies":
            self.max_plies = POINTS - 1
        self.symmetries = []
        self.start_row = np.zeros(CELLS + POINTS, np.int32)
        self.start_row[[PLAYER, LAST, FAULT]] = 1, -1, FAULTS.index(fault)

    def render(self, row):
        return "".join(self.pieces[int(np.sign(cell))] for cell in row[CELLS:])
