"""Solves positions near the end of a game: alpha-beta over the rules with a limit of positions.

At each depth the last move that caused a cutoff there is tried first (the killer heuristic, Akl, Newborn 1977).

A value is -1, 0 or 1 for the player to move there. Turns need not alternate.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from compiled import compiled, in_order, inlined, shared, types
from compiling.records import record
from game import GIVEN_UP, NO_WIN, NOT_TOLD, PLAYER, Game
from games.endings import Endings, endings_of
from games.returned_values import EXACT_VALUE, SAFE_MOVES, break_rule, is_over, legal_moves, make_bounds

POINTS = 3
"""A result between -1 and 1, which proves nothing. GIVEN_UP means no value: not known yet, or over the limit."""


@record
class LineOfPlay(NamedTuple):
    """Work space for one line of play of up to D moves, with the untried moves of each position on it."""

    rows: np.ndarray
    """[D + 1, row_size] int32: the positions"""
    moves: np.ndarray
    """[D + 1, action_size] int32: the moves to try in each position"""
    counts: np.ndarray
    """[D + 1, 5] int32: number of moves; number tried; alpha; beta; the last move that caused a cutoff at this depth"""
    left: np.ndarray
    """[2 + room] int32: how many more positions may be visited; number of the question; room for `Rules.solve`"""
    limits: np.ndarray
    """[3] int32: positions for a leaf, for the moves of a root, for each of these at first (see games/endings.py)"""
    bounds: np.ndarray
    """[2] int32: see games/returned_values.py"""


COUNT, TRIED, ALPHA, BETA, KILLER = range(5)
LEAF, ROOT, MOVE = range(3)


def make_line(game: Game, plies: int) -> LineOfPlay:
    """Return work space for lines of at most `plies` moves."""
    size = 0 if game.start_row is None else game.start_row.shape[0]
    endings = endings_of(game) or Endings(game.max_plies)
    return LineOfPlay(
        np.zeros((plies + 1, size), np.int32),
        np.zeros((plies + 1, game.action_size), np.int32),
        np.zeros((plies + 1, 5), np.int32),
        np.zeros(2 + endings.room, np.int32),
        np.array([endings.leaf, endings.root, endings.move or endings.root], np.int32),
        make_bounds(game),
    )


@compiled
def look_at(line, rules, outcome, d):
    """Return the value of the position at depth d if the rules give it at once, else GIVEN_UP with its moves listed."""
    row = line.rows[d]
    if is_over(rules, row, outcome, line.bounds):
        value = np.int64(outcome[0])
        return value if value == outcome[0] else np.int64(POINTS)
    winning = rules.winning(row)
    if winning >= 0:
        return np.int64(1)
    count = np.int64(NOT_TOLD)
    if winning == NO_WIN:
        count = rules.safe(row, line.moves[d])
    if count == 0:
        return np.int64(-1)
    if count == NOT_TOLD:
        count = legal_moves(rules, row, line.moves[d], line.bounds)
    elif not in_order(line.moves[d], count):
        break_rule(line.bounds, SAFE_MOVES)
        count = np.int64(0)
    if count == 0:
        return np.int64(POINTS)
    line.counts[d, COUNT], line.counts[d, TRIED] = count, 0
    moves = line.moves[d]
    for i in range(1, count):
        if moves[i] == line.counts[d, KILLER]:
            moves[0], moves[i] = moves[i], moves[0]
    return np.int64(GIVEN_UP)


@compiled
def solve(line, rules, outcome):
    """Return the value of line.rows[0], or GIVEN_UP when it takes more positions than line.left or more plies."""
    known = rules.solve(line.rows[0], line.left)
    if known != NOT_TOLD:
        if -1 <= known <= GIVEN_UP:
            return known
        break_rule(line.bounds, EXACT_VALUE)
        return np.int64(GIVEN_UP)
    d, deepest = 0, line.rows.shape[0] - 1
    for i in range(deepest + 1):
        line.counts[i, KILLER] = -1  # old killers would change which positions are given up
    value = look_at(line, rules, outcome, np.int64(0))
    if value != GIVEN_UP:
        return value if value != POINTS else np.int64(GIVEN_UP)
    line.counts[0, ALPHA], line.counts[0, BETA] = -1, 1
    while True:
        now = line.counts[d]
        if now[TRIED] == now[COUNT] or now[ALPHA] >= now[BETA]:
            value = np.int64(now[ALPHA])
            if d == 0:
                return value
            d -= 1
        else:
            line.left[0] -= 1
            if line.left[0] <= 0 or d == deepest:
                return np.int64(GIVEN_UP)
            for i in range(line.rows.shape[1]):
                line.rows[d + 1, i] = line.rows[d, i]
            rules.play(line.rows[d + 1], line.moves[d, now[TRIED]])
            now[TRIED] += 1
            value = look_at(line, rules, outcome, d + 1)
            if value == POINTS:
                return np.int64(GIVEN_UP)
            if value == GIVEN_UP:
                below = line.counts[d + 1]
                if line.rows[d + 1, PLAYER] == line.rows[d, PLAYER]:
                    below[ALPHA], below[BETA] = now[ALPHA], now[BETA]
                else:
                    below[ALPHA], below[BETA] = -now[BETA], -now[ALPHA]
                d += 1
                continue
        if line.rows[d + 1, PLAYER] != line.rows[d, PLAYER]:
            value = -value
        if value > line.counts[d, ALPHA]:
            line.counts[d, ALPHA] = value
            if value >= line.counts[d, BETA]:
                line.counts[d, KILLER] = line.moves[d, line.counts[d, TRIED] - 1]


@inlined
def ask(line, positions):
    """Begin a new question with a limit of positions: how long it takes depends on no question before it."""
    line.left[0] = positions
    line.left[1] += 1


def shared_solver(rules: Any, line: LineOfPlay) -> Any:
    """Return `solve` as a function that compiled code is passed."""
    return shared(solve, types.int64, line, rules, np.zeros(1, np.float32))
