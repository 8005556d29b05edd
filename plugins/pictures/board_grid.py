"""What a drawing of a board shows: what stands on it, where a move goes, what won, what a move changed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from game import Game, GameState, Grid
from plugins.pictures.board_hexagons import chain
from plugins.pictures.printed_board import read_board


def grid_of(state: GameState) -> Grid | None:
    """Return what stands on the board of a position: what its game says, or what its text shows; None if that is no
    board.
    """
    game: Game | None = getattr(state, "game", None)
    if game is not None and (grid := game.cells(state)) is not None:
        return grid
    rows, columns = state.planes().shape[:2] if game is None else game.grid_shape
    return read_board(state.render(), rows, columns, (game or Game).pieces)


def point_of(game: Game, grid: Grid, action: int) -> int | None:
    """Return the point, in row order, where a move puts its stone; None if a move is no point."""
    rows, columns = len(grid.cells), len(grid.cells[0])
    if game.policy_layout == "columns":
        free = [r for r in range(rows) if grid.cells[r][action] == 0]
        return columns * free[-1] + action if free else None
    return action if game.policy_layout == "points" and action < rows * columns else None


def winning_points(game: Game, grid: Grid) -> list[int]:
    """Return the stones of the winning lines through the last stone, if the game is won by lines."""
    return sorted({p for line in winning_lines(game, grid) for p in line})


def winning_lines(game: Game, grid: Grid) -> list[list[int]]:
    """Return the points of each winning line through the last stone, from one end to the other.

    On a board of hexagons it is a chain that joins two edges.
    """
    if game.look == "hexagons":
        return [line] if (line := chain(grid.cells)) else []
    rows, columns = len(grid.cells), len(grid.cells[0])
    if grid.last is None or not game.winning_line:
        return []
    row, column = divmod(grid.last, columns)
    side = grid.cells[row][column]
    lines = []
    for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
        line = [grid.last]
        for sign in (1, -1):
            r, c = row + sign * dr, column + sign * dc
            while 0 <= r < rows and 0 <= c < columns and grid.cells[r][c] == side:
                line.append(r * columns + c)
                r, c = r + sign * dr, c + sign * dc
        lines.append(sorted(line))
    exact = [line for line in lines if len(line) == game.winning_line]
    return [line for line in exact or lines if len(line) >= game.winning_line]


def scored_squares(grid: Grid) -> list[list[int]]:
    """Return the corners, in turn, of the squares at any angle that the last stone completed."""
    rows, columns = len(grid.cells), len(grid.cells[0])
    if grid.last is None:
        return []
    r, c = divmod(grid.last, columns)
    side, found = grid.cells[r][c], []
    for point in range(rows * columns):
        dr, dc = point // columns - r, point % columns - c
        corners = [(r, c), (r + dr, c + dc), (r + dr + dc, c + dc - dr), (r + dc, c - dr)]
        inside = point != grid.last and all(0 <= y < rows and 0 <= x < columns for y, x in corners)
        if inside and all(grid.cells[y][x] == side for y, x in corners):
            found.append([y * columns + x for y, x in corners])
    return found


class Changes(NamedTuple):
    """What one move changed on a board."""

    new: int | None = None
    """The point of the new stone."""
    turned: frozenset[int] = frozenset()
    """Points whose stone has changed sides."""
    gone: dict[int, int] = {}
    """{point: side} of the stones that were taken."""


def changes(before: Grid | None, grid: Grid) -> Changes:
    """Return what the last move changed; nothing where more than one stone was added, as by a jump in the game."""
    if before is None or len(before.cells) != len(grid.cells) or len(before.cells[0]) != len(grid.cells[0]):
        return Changes()
    was, now = (sum(of.cells, []) for of in (before, grid))
    stones = (1, -1)
    added = [p for p, side in enumerate(now) if side in stones and was[p] not in stones]
    if len(added) != 1 or grid.last not in (None, added[0]):
        return Changes()
    turned = frozenset(p for p, side in enumerate(now) if side in stones and was[p] == -side)
    return Changes(added[0], turned, {p: s for p, s in enumerate(was) if s in stones and now[p] not in stones})


class Before:
    """Remembers the position that a view showed before the one that it shows."""

    def __init__(self) -> None:
        self._before: GameState | None = None
        self._now: GameState | None = None

    def of(self, state: GameState) -> GameState | None:
        """Return the position that was shown before this one, however often this one is drawn."""
        if state is not self._now:
            self._before, self._now = self._now, state
        return self._before


def move_numbers(game: Game, grid: Grid, moves: Sequence[int]) -> dict[int, int]:
    """Return {point: number of the last move to it}, in games whose moves are points or columns."""
    rows, columns = len(grid.cells), len(grid.cells[0])
    numbers: dict[int, int] = {}
    height = [0] * columns
    for number, action in enumerate(moves, 1):
        if game.policy_layout == "columns":
            height[action] += 1
            numbers[(rows - height[action]) * columns + action] = number
        elif game.policy_layout == "points" and action < rows * columns:
            numbers[action] = number
    return numbers


@lru_cache(maxsize=32)
def star_points(rows: int, columns: int) -> list[int]:
    """Return the points with a dot on a board of lines: those of Go, on square boards from 7 x 7."""
    if rows != columns or rows < 7:
        return []
    edge = 3 if rows >= 12 else 2
    ends = [edge, rows - 1 - edge]
    middle = [rows // 2] if rows % 2 else []
    lines = ends + middle if rows >= 12 else ends
    points = {(r, c) for r in lines for c in lines} | {(r, c) for r in middle for c in middle}
    return sorted(r * columns + c for r, c in points)


def legal_points(game: Game, grid: Grid, actions: Sequence[int]) -> set[int]:
    """Return the points where a legal move puts its stone."""
    found: list[Any] = [point_of(game, grid, action) for action in actions]
    return {p for p in found if p is not None}
