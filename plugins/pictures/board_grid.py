"""What stands on a board, read from the text that a game renders: a new game needs no code for its drawing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from game import Game, GameState
from plugins.pictures.board_hexagons import chain

FORBIDDEN, OTHER = 2, 3
EMPTY = {".", "-", "_", "+", "·"}
"""Words of an empty point, besides the game's own."""
_FRAME = re.compile(r"[\s|]*\+[-=+|\s]*\Z")
"""A line between rows, such as +---+---+."""


class Grid(NamedTuple):
    """The pieces of a position, by point."""

    cells: list[list[int]]
    """[rows][columns]: 1, -1, 0, FORBIDDEN for a free point that the game marks as forbidden, or OTHER."""
    last: int | None
    """The point played last, in row order."""
    rows: list[str]
    columns: list[str]
    """Names at the edges; empty if the game writes none."""
    notes: list[str]
    """Other lines of the game's text, such as points."""
    words: dict[int, str] = {}
    """The word on each point with OTHER: a piece that is neither side's stone."""


def grid_of(state: GameState) -> Grid | None:
    """Return the pieces of a position, or None if its text is no grid."""
    rows, columns = state.planes().shape[:2]
    kinds = {word: 0 for word in EMPTY} | {word: side for side, word in pieces_of(state).items()} | {"*": FORBIDDEN}
    lines = _lines(state.render(), columns)
    found = [i for i, words in enumerate(lines) if all(_bare(word) in kinds for word in words[-columns:])]
    if len(found) != rows:  # pieces of other kinds too
        found = [i for i, words in enumerate(lines) if not (len(words) == columns and _is_sequence(words))]
        found = [i for i in found if all(len(_bare(word)) <= 2 for word in lines[i][-columns:])]
    found = [i for i in found if len(lines[i]) in (columns, columns + 1)]
    if len(found) != rows:
        return None
    words = [word for i in found for word in lines[i][-columns:]]
    cells = [[kinds.get(_bare(word), OTHER) for word in lines[i][-columns:]] for i in found]
    last = [p for p, word in enumerate(words) if word.startswith("[") and word != "["]
    names = [lines[i][0] if len(lines[i]) > columns else "" for i in found]
    rest = [words for i, words in enumerate(lines) if words and i not in found]
    labels = next((words for words in rest if len(words) == columns and max(map(len, words)) <= 3), None)
    notes = [" ".join(words) for words in rest if words is not labels]
    others = {p: _bare(word) for p, word in enumerate(words) if _bare(word) not in kinds}
    return Grid(cells, last[-1] if last else None, names, labels or [""] * columns, notes, others)


def _lines(text: str, columns: int) -> list[list[str]]:
    """Return the words of each line but those of a frame; a row written without blanks is taken apart."""
    found = []
    for line in text.splitlines():
        if _FRAME.match(line) and "--" in line:
            continue
        words = re.findall(r"\[[^\[\]\s]+\]|[^\[\]\s]+", line.replace("|", " "))
        if len(words) in (1, 2) and len(words) != columns and len(words[-1]) == columns:
            words = [*words[:-1], *words[-1]]
        found.append(words)
    return found


def _bare(word: str) -> str:
    """Return a word without the brackets of the last move."""
    return word.strip("[]") or word


def _is_sequence(words: list[str]) -> bool:
    """Return whether words name columns: a b c ..., without i as in Go perhaps, or 0 1 2 ... or 1 2 3 ..."""
    if all(word.isdecimal() and len(word) < 4 for word in words):
        return [int(word) for word in words] in ([*range(len(words))], [*range(1, len(words) + 1)])
    text, letters = "".join(words).lower(), "abcdefghijklmnopqrstuvwxyz"
    return len(words) > 1 and text in (letters[: len(text)], letters.replace("i", "")[: len(text)])


def pieces_of(state: GameState) -> dict[int, str]:
    """Return the marks of the sides and of an empty point."""
    return getattr(getattr(state, "game", None), "pieces", Game.pieces)


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
