"""The board drawing of all games: `board_svg(state)`, an SVG as text, for the page, the notebook and the docs.

The pieces are read from the text that a game renders, so a new game needs no code for its drawing. A position that is
no grid of two kinds of pieces is drawn as its text. `Game.look` names the board and the pieces.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from html import escape
from typing import Any, NamedTuple

from game import Game, GameState

CELL = 40.0
MARGIN = 22.0
FORBIDDEN = 2


class Mark(NamedTuple):
    """An overlay's mark on a move."""

    heat: float
    """Strength of the colour, from -1 to 1; a negative one has another colour."""
    text: str
    """Short text next to the colour."""


class Grid(NamedTuple):
    """The pieces of a position, by point."""

    cells: list[list[int]]
    """[rows][columns]: 1, -1, 0, or FORBIDDEN for a free point that the game marks as forbidden."""
    last: int | None
    """The point played last, in row order."""
    rows: list[str]
    columns: list[str]
    """Names at the edges; empty if the game writes none."""
    notes: list[str]
    """Other lines of the game's text, such as points."""


class Look(NamedTuple):
    """Colours of a board: its ground and lines, then for each side (fill, edge)."""

    ground: str
    line: str
    sides: dict[int, tuple[str, str]]


LOOKS = {
    "holes": Look("#4470a5", "#35598a", {1: ("#d8404f", "#a82c3a"), -1: ("#f4c13d", "#c4922a")}),
    "points": Look("#e2b673", "#7a5527", {1: ("#24272c", "#0c0e10"), -1: ("#f8f8f5", "#8f8b80")}),
    "squares": Look("#3e8a62", "#2d6b4b", {1: ("#1f2328", "#0c0e10"), -1: ("#f6f6f3", "#b9b9b0")}),
    "marks": Look("none", "currentColor", {1: ("#d8404f", "#d8404f"), -1: ("#2f7fd0", "#2f7fd0")}),
}
HOLE = "#e3eaf3"
MORE, LESS = "#7a3cf0", "#d6227f"
"""Colours of an overlay: unlike all pieces and grounds."""
INK = 'fill="#14171c" stroke="#fff" stroke-opacity=".85" stroke-width="3" paint-order="stroke"'


def grid_of(state: GameState) -> Grid | None:
    """Return the pieces of a position, or None if it is no grid of two kinds of pieces."""
    rows, columns = state.planes().shape[:2]
    kinds = {word: side for side, word in pieces_of(state).items()} | {"*": FORBIDDEN}
    cells: list[Any] = []
    names, labels, notes, last = [], [""] * columns, [], None
    for line in state.render().splitlines():
        words = re.findall(r"\[[^\[\]\s]+\]|[^\[\]\s]+", line)
        row = words[-columns:]
        if len(words) in (columns, columns + 1) and all(word.strip("[]") in kinds for word in row):
            marked = [c for c, word in enumerate(row) if word.startswith("[")]
            last = columns * len(cells) + marked[0] if marked else last
            cells.append([kinds[word.strip("[]")] for word in row])
            names.append(words[0] if len(words) > columns else "")
        elif len(words) == columns and not any(labels):
            labels = words
        elif line.strip():
            notes.append(line.strip())
    return Grid(cells, last, names, labels, notes) if len(cells) == rows else None


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
        lines.append(line)
    exact = [line for line in lines if len(line) == game.winning_line]
    return sorted({p for line in exact or lines if len(line) >= game.winning_line for p in line})


def board_svg(
    state: GameState, *, overlay: Mapping[int, Mark] | None = None, lines: Mapping[int, Sequence[int]] | None = None,
    clickable: bool = False, moves: Sequence[int] = (),
) -> str:  # fmt: skip
    """Return a position as an SVG.

    overlay: a mark for each action. lines: for an action its principal variation, itself first; each is a hidden group
    `<g class="line" data-line="ACTION">` of numbered stones, for a page to show. With `clickable` every point has the
    action of a click on it as data-action, legal or not. moves: the moves from an empty board to here, whose numbers
    are then drawn on the stones.
    """
    grid, game = grid_of(state), getattr(state, "game", None)
    if grid is None or game is None:
        return _text_svg(state)
    board = _Board(state, game, grid)
    board.numbers = move_numbers(game, grid, moves)
    return board.svg(overlay or {}, lines or {}, clickable)


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


def ratio_of(svg: str) -> float:
    """Return width over height of a drawing."""
    found = re.search(r'viewBox="0 0 ([0-9.]+) ([0-9.]+)"', svg)
    return float(found[1]) / float(found[2]) if found else 1.0


def _text_svg(state: GameState) -> str:
    """Return a position's text as an SVG."""
    text = state.render().splitlines() or [""]
    width, height = 9.0 * max(map(len, text)) + 20, 19.0 * len(text) + 14
    spans = "".join(
        f'<text x="10" y="{20 + 19 * i}" xml:space="preserve">{escape(line)}</text>' for i, line in enumerate(text)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="board" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" role="img" font-family="ui-monospace, monospace" font-size="15" fill="currentColor">'
        f"{spans}</svg>"
    )


class _Board:
    """The SVG of a position while it is made."""

    def __init__(self, state: GameState, game: Game, grid: Grid) -> None:
        self.state, self.game, self.grid = state, game, grid
        self.look = LOOKS[game.look]
        self.rows, self.columns = len(grid.cells), len(grid.cells[0])
        self._won = winning_points(game, grid) if state.isEndGame else []
        self.numbers: dict[int, int] = {}
        """Text on the stones, by point."""
        self.left = MARGIN if any(grid.rows) else 2.0
        self.width = self.left + CELL * self.columns + 2
        self.height = 2 + CELL * self.rows + (MARGIN if any(grid.columns) else 0) + 18 * len(grid.notes)

    def svg(self, overlay: Mapping[int, Mark], lines: Mapping[int, Sequence[int]], clickable: bool) -> str:
        parts = [self._ground(), self._labels()]
        parts += [self._piece(p, self.grid.cells[p // self.columns][p % self.columns]) for p in self._points()]
        parts += [self._legal(), self._winning(), self._overlay(overlay)]
        parts += [self._line(action, line) for action, line in lines.items()]
        parts += [self._click(point) for point in self._points()] if clickable else []
        size = f'viewBox="0 0 {self.width:g} {self.height:g}" width="{self.width:g}" height="{self.height:g}"'
        label = escape(f"{self.game.name}, {self.rows} rows, {self.columns} columns")
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="board" {size} role="img" aria-label="{label}" '
            'font-family="system-ui, sans-serif" font-size="12" text-anchor="middle" dominant-baseline="central">'
            + "".join(parts) + "</svg>"
        )  # fmt: skip

    def _points(self) -> range:
        return range(self.rows * self.columns)

    def _at(self, point: int) -> tuple[float, float]:
        """Return the centre of a point."""
        return self.left + CELL * (point % self.columns + 0.5), 1 + CELL * (point // self.columns + 0.5)

    def _ground(self) -> str:
        look, (w, h) = self.look, (CELL * self.columns, CELL * self.rows)
        x, y = self.left, 1.0
        parts = [f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="7" fill="{look.ground}"/>']
        inset = CELL / 2 if self.game.look == "points" else 0.0
        path = ""
        if self.game.look == "points":
            for r in range(self.rows):
                path += f"M{x + inset:g} {y + inset + CELL * r:g}h{w - CELL:g}"
            for c in range(self.columns):
                path += f"M{x + inset + CELL * c:g} {y + inset:g}v{h - CELL:g}"
        elif self.game.look != "holes":
            path += "".join(f"M{x:g} {y + CELL * r:g}h{w:g}" for r in range(1, self.rows))
            path += "".join(f"M{x + CELL * c:g} {y:g}v{h:g}" for c in range(1, self.columns))
        faint = ' stroke-opacity=".35" stroke-width="1.5"' if self.game.look == "marks" else ""
        parts.append(f'<path d="{path}" fill="none" stroke="{look.line}"{faint}/>' if path else "")
        dots = star_points(self.rows, self.columns) if self.game.look == "points" else []
        for px, py in map(self._at, dots):
            parts.append(f'<circle cx="{px:g}" cy="{py:g}" r="3" fill="{look.line}"/>')
        return "".join(parts)

    def _labels(self) -> str:
        parts = []
        for r, name in enumerate(self.grid.rows):
            parts.append(f'<text x="{MARGIN / 2:g}" y="{1 + CELL * (r + 0.5):g}">{escape(name)}</text>' if name else "")
        y = 1 + CELL * self.rows
        for c, name in enumerate(self.grid.columns):
            x = self.left + CELL * (c + 0.5)
            parts.append(f'<text x="{x:g}" y="{y + MARGIN / 2 + 1:g}">{escape(name)}</text>' if name else "")
        y += MARGIN if any(self.grid.columns) else 0
        for i, note in enumerate(self.grid.notes):
            parts.append(f'<text x="{self.width / 2:g}" y="{y + 9 + 18 * i:g}">{escape(note)}</text>')
        return f'<g fill="currentColor" fill-opacity=".65" font-size="10">{"".join(parts)}</g>'

    def _piece(self, point: int, side: int) -> str:
        x, y = self._at(point)
        if side == FORBIDDEN:
            return f'<path d="M{x - 6:g} {y - 6:g}l12 12m0 -12l-12 12" stroke="#b3261e" stroke-width="2.4"/>'
        if side == 0:
            return f'<circle cx="{x:g}" cy="{y:g}" r="15.5" fill="{HOLE}"/>' if self.game.look == "holes" else ""
        rung = self.game.look == "marks" and point in self._won
        last = point == self.grid.last and not rung
        return self._stone(x, y, side) + (self._last(x, y, side) if last else "") + self._number(point, side)

    def _stone(self, x: float, y: float, side: int, more: str = "") -> str:
        fill, edge = self.look.sides[side]
        kind = "first" if side == 1 else "second"
        if self.game.look == "marks":
            stroke = f'fill="none" stroke="{fill}" stroke-width="5" stroke-linecap="round"'
            cross = f'd="M{x - 10:g} {y - 10:g}l20 20m0 -20l-20 20"'
            shape = f"<path {cross}" if side == 1 else f'<circle cx="{x:g}" cy="{y:g}" r="11"'
            return f'{shape} class="stone {kind}" {stroke}{more}/>'
        radius = {"points": 17.5, "holes": 15.5}.get(self.game.look, 16.0)
        paint = f'fill="{fill}" stroke="{edge}" stroke-width="1.2"'
        return f'<circle class="stone {kind}" cx="{x:g}" cy="{y:g}" r="{radius}" {paint}{more}/>'

    def _last(self, x: float, y: float, side: int) -> str:
        if self.game.look == "marks":
            return f'<circle class="last" cx="{x + 14:g}" cy="{y - 14:g}" r="3" fill="{self.look.sides[side][0]}"/>'
        radius = 12.5 if self.numbers else 6
        paint = f'fill="none" stroke="{self._ink(side)}" stroke-width="2.4"'
        return f'<circle class="last" cx="{x:g}" cy="{y:g}" r="{radius:g}" {paint}/>'

    def _ink(self, side: int) -> str:
        """Return a colour that is visible on a stone."""
        return "#20242a" if self.look.sides[side][0] in ("#f4c13d", "#f8f8f5", "#f6f6f3") else "#fff"

    def _number(self, point: int, side: int) -> str:
        if point not in self.numbers:
            return ""
        (x, y), marks = self._at(point), self.game.look == "marks"
        x, y, ink = (x - 14, y - 14, self.look.sides[side][0]) if marks else (x, y, self._ink(side))
        number = self.numbers[point]
        size = 10 if marks or number > 99 else 13
        return f'<text class="number" x="{x:g}" y="{y:g}" font-size="{size}" fill="{ink}">{number}</text>'

    def _legal(self) -> str:
        """Mark the points that may be played, if not every free point may."""
        free = sum(cell == 0 for row in self.grid.cells for cell in row)
        points = [point_of(self.game, self.grid, action) for action in self.state.allowedActions]
        if self.game.policy_layout != "points" or len([p for p in points if p is not None]) >= free:
            return ""
        dots = [self._at(p) for p in points if p is not None]
        return "".join(
            f'<circle class="legal" cx="{x:g}" cy="{y:g}" r="4.5" fill="#fff" fill-opacity=".55"/>' for x, y in dots
        )

    def _winning(self) -> str:
        rings = map(self._at, self._won)
        return "".join(
            f'<circle class="won" cx="{x:g}" cy="{y:g}" r="18" fill="none" stroke="#14c38e" stroke-width="4"/>'
            for x, y in rings
        )

    def _overlay(self, overlay: Mapping[int, Mark]) -> str:
        parts = []
        for action, mark in overlay.items():
            point = point_of(self.game, self.grid, action)
            if point is None:
                continue
            x, y = self._at(point)
            colour, strength = MORE if mark.heat >= 0 else LESS, min(abs(mark.heat), 1.0)
            paint = f'fill="{colour}" fill-opacity="{0.12 + 0.78 * strength:.2f}"'
            disc = f'<circle cx="{x:g}" cy="{y:g}" r="15.5" {paint}/>'
            text = f'<text x="{x:g}" y="{y:g}" font-weight="600" {INK}>{escape(mark.text)}</text>'
            parts.append(f'<g class="mark" data-mark="{action}">{disc}{text}</g>')
        return "".join(parts)

    def _line(self, action: int, line: Sequence[int]) -> str:
        state, grid, parts, taken = self.state, self.grid, [], set()
        for number, move in enumerate(line, 1):
            point = point_of(self.game, grid, move)
            side = state.playerTurn
            state = state.takeAction(move)[0]
            grid = (grid_of(state) or grid) if self.game.policy_layout == "columns" else grid
            if point is None or point in taken:
                continue
            taken.add(point)
            x, y = self._at(point)
            text = f'<text x="{x:g}" y="{y:g}" font-weight="600" font-size="14" {INK}>{number}</text>'
            parts.append(self._stone(x, y, side, ' opacity=".8"') + text)
        return f'<g class="line" data-line="{action}" visibility="hidden">{"".join(parts)}</g>'

    def _click(self, point: int) -> str:
        x, y = self._at(point)
        action = point % self.columns if self.game.policy_layout == "columns" else point
        if self.game.policy_layout not in ("columns", "points"):
            return ""
        box = f'x="{x - CELL / 2:g}" y="{y - CELL / 2:g}" width="{CELL:g}" height="{CELL:g}"'
        return f'<rect class="point" data-action="{action}" data-point="{point}" {box} fill="transparent"/>'


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
