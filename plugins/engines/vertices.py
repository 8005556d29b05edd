"""Moves in the words of GTP: a column's letter (without I) and a row counted from below, or `pass`.

Rows of Othello are counted from above, as all programs for it do. For every game on a board of points with two sides. A
move of Connect 4 is the point on which its disc comes to lie. Programs for Hex (HexGui, MoHex) name its points as the
game does, from the top and with I, and write `swap-pieces`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from config import UserError
from game import Game, GameState
from games.boards import GO_LETTERS, point_name
from games.line_of_moves import stones_of

COLOURS = {"b": 1, "black": 1, "w": -1, "white": -1}


def check_game(game: Game) -> None:
    """Raise `UserError` if a game's moves are not points of a board, or its board has more than GTP can name."""
    rows, columns = game.grid_shape
    sizes = {"points": (rows * columns, rows * columns + 1), "columns": (columns,)}.get(game.policy_layout, ())
    if game.action_size not in sizes or max(rows, columns) > len(GO_LETTERS) or owners(game, game.start()) is None:
        raise UserError(f"expected a game on the points of a board of at most 25 lines, got {game.spec}")


def owners(game: Game, state: GameState) -> np.ndarray | None:
    """Return the stones on the board, [rows, columns] in {1, -1, 0}; None where a game does not show them."""
    return stones_of(state) if game.scored_by_area else state.owners  # there empty points have owners, too


def vertex(game: Game, state: GameState, action: int) -> str:
    """Return the name of a move in a position."""
    if game.own_vertices:
        return game.vertex(action)
    rows, columns = game.grid_shape
    if game.policy_layout == "columns":
        action += columns * _landing(game, state, action)
    if action == rows * columns:
        return "pass"
    return point_name(action, rows, columns, letters=GO_LETTERS, from_top=game.rows_from_top).upper()


def _landing(game: Game, state: GameState, column: int) -> int:
    """Return the row on which a disc comes to lie, the top one in a full column."""
    board = owners(game, state)
    free = np.flatnonzero(board[:, column] == 0) if board is not None else np.zeros(0, int)
    return int(free.max()) if len(free) else 0


def action(game: Game, state: GameState, text: str) -> int:
    """Return the move of this name; raise `UserError` if there is none on this board, whether it is legal or not."""
    if game.own_vertices:
        return game.parse_move(text)
    (rows, columns), word = game.grid_shape, text.lower()
    if word == "pass" and game.policy_layout == "points" and game.action_size > rows * columns:
        return rows * columns
    match = re.fullmatch(r"([a-hj-z])([1-9][0-9]?)", word)
    if match is None or GO_LETTERS.index(match[1]) >= columns or int(match[2]) > rows:
        raise UserError(f"expected a point of a board of {columns} x {rows}, got {text[:20]!r}")
    number, column = int(match[2]), GO_LETTERS.index(match[1])
    row = number - 1 if game.rows_from_top else rows - number
    if game.policy_layout == "points":
        return row * columns + column
    if row != _landing(game, state, column):
        raise UserError("illegal move: the disc does not come to lie there")
    return column


class NameLine:
    """Names of the moves of lines that begin at one position."""

    def __init__(self, game: Game, state: GameState) -> None:
        self._game, self._state = game, state

    def __call__(self, line: Sequence[int]) -> str:
        return " ".join(self.each(line))

    def each(self, line: Sequence[int]) -> list[str]:
        state, names = self._state, []
        for action in line:
            names.append(vertex(self._game, state, action))
            if self._game.policy_layout == "columns":  # elsewhere a name says nothing of the position
                state = state.takeAction(action)[0]
        return names
