"""The board drawing of all games: `board_svg(state)`, an SVG as text, for the page, the notebook and the docs.

A game says what stands on its board (`Game.cells`); where it does not, its text is read (printed_board.py). A position
without such a board is drawn as its text. `Game.look` names the board and the pieces (board_looks.py).
It looks right without scripts and style sheets; board.css and board.js add motion where there are any.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

from config import UserError
from game import FORBIDDEN_POINT, OTHER_PIECE, Game, GameState, Grid
from games.titles import TITLES
from languages.translate import tr
from plugins.pictures import board_looks
from plugins.pictures.board_grid import (
    Changes,
    changes,
    grid_of,
    legal_points,
    move_numbers,
    point_of,
    scored_squares,
    star_points,
    winning_lines,
    winning_points,
)
from plugins.pictures.board_hexagons import Hexagons
from plugins.pictures.board_looks import BRIGHT, CELL, DARK, HINT, HOLE, INK, LESS, LOOKS, MORE, ink_on, ink_over

__all__ = [
    "LOOKS",
    "Mark",
    "board_of_game",
    "board_svg",
    "grid_of",
    "point_of",
    "ratio_of",
    "star_points",
    "winning_points",
]
MARGIN = 22.0
HALF = CELL / 2


class Mark(NamedTuple):
    """An overlay's mark on a move."""

    heat: float
    """Strength of the colour, from -1 to 1; a negative one has another colour."""
    text: str
    """Short text next to the colour."""


def board_svg(
    state: GameState, *, overlay: Mapping[int, Mark] | None = None, lines: Mapping[int, Sequence[int]] | None = None,
    clickable: bool = False, moves: Sequence[int] = (), before: GameState | None = None, hint: int | None = None,
    owned: Mapping[int, float] | None = None, lasting: bool = False,
) -> str:  # fmt: skip
    """Return a position as an SVG.

    overlay: a mark for each action. lines: for an action its principal variation, itself first; each is a hidden group
    `<g class="line" data-line="ACTION">` of numbered stones, for a page to show. With `clickable` every point has the
    action of a click on it as data-action, legal or not, and the class "free" where a legal move puts its stone.
    moves: the moves from an empty board to here, whose numbers are then drawn on the stones. before: the position
    that was shown before; what one move changed since has classes for a page to animate: "new" or "drop", "turned",
    and hidden stones "was" and "gone". hint: an action to ring. owned: who will own a point, 1 for the first
    player to -1, as squares. lasting: only those lines of the game's text below the board that its first position has,
    so that no move changes the size of the drawing.
    """
    grid, game = grid_of(state), getattr(state, "game", None)
    if grid is None or game is None:
        return _text_svg(state)
    if lasting and grid.notes:
        first = grid_of(game.start())
        grid = grid._replace(notes=grid.notes[: len(first.notes) if first else 0])
    board = _Board(game, grid, state)
    board.numbers = move_numbers(game, grid, moves)
    board.owned = owned or {}
    board.changes = changes(grid_of(before), grid) if before is not None else Changes()
    return board.svg(overlay or {}, lines or {}, clickable, hint)


def board_of_game(game: Game) -> _Board:
    """Return the board of a game without lines of text below it, for who draws the stones themselves."""
    empty = grid_of(game.start())
    if empty is None:
        raise UserError(f"expected a game with a board to draw, got {game.name}")
    return _Board(game, empty._replace(notes=[]), None)


def ratio_of(svg: str) -> float:
    """Return width over height of a drawing."""
    found = re.search(r'viewBox="0 0 ([0-9.]+) ([0-9.]+)"', svg)
    return float(found[1]) / float(found[2]) if found else 1.0


def _text_svg(state: GameState) -> str:
    """Return a position's text as an SVG."""
    text = state.render().splitlines() or [""]
    width, height = max(9.0 * max(map(len, text)) + 36, 120.0), 19.0 * len(text) + 30
    spans = "".join(
        f'<text x="18" y="{28 + 19 * i}" xml:space="preserve">{escape(line)}</text>' for i, line in enumerate(text)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="board" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" role="img" aria-label="{escape(getattr(getattr(state, "game", None), "name", "board"))}" '
        'font-family="ui-monospace, monospace" font-size="15" fill="currentColor">'
        f'<rect x="1" y="1" width="{width - 2:g}" height="{height - 2:g}" rx="7" fill="none" stroke="currentColor" '
        f'stroke-opacity=".3"/>{spans}</svg>'
    )


class _Board:
    """The SVG of a position while it is made; state: None for stones that are no position."""

    def __init__(self, game: Game, grid: Grid, state: GameState | None) -> None:
        self.state, self.game, self.grid = state, game, grid
        self.name = game.look
        self.look = LOOKS[self.name]
        self.rows, self.columns = len(grid.cells), len(grid.cells[0])
        over = state is not None and state.isEndGame
        self._lines_won = winning_lines(game, grid) if over else []
        self._won = {p for line in self._lines_won for p in line}
        self.numbers: dict[int, int] = {}
        """Text on the stones, by point."""
        self.owned: Mapping[int, float] = {}
        """{point: who will own it}"""
        self.changes = Changes()
        self.left = MARGIN if any(grid.rows) else 2.0
        self.width = self.left + CELL * self.columns + 2
        self.height = 2 + CELL * self.rows + (MARGIN if any(grid.columns) else 0) + 18 * len(grid.notes)
        self.hexagons = Hexagons(self.rows, self.columns, self.left) if self.name == "hexagons" else None
        if self.hexagons is not None:
            self.width, self.height = self.hexagons.width, self.hexagons.height

    def svg(self, overlay: Mapping[int, Mark], lines: Mapping[int, Sequence[int]], clickable: bool, hint: int | None
            ) -> str:  # fmt: skip
        parts = [self.under(), self._stones()]
        parts += [self._ghost() if clickable else "", self.over(), self._marks(overlay), self._overlay(overlay)]
        parts += [self._hint(hint)] + [self._line(action, line) for action, line in lines.items()]
        parts += [self._clicks()] if clickable else []
        size = f'viewBox="0 0 {self.width:g} {self.height:g}" width="{self.width:g}" height="{self.height:g}"'
        over = ' data-over=""' if self.state is not None and self.state.isEndGame else ""
        name = tr(TITLES.get(self.game.name, self.game.name))
        label = escape(tr("{game}, {rows} rows, {columns} columns", game=name, rows=self.rows, columns=self.columns))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="board {self.name}" {size}{over} role="img" '
            f'aria-label="{label}" font-family="system-ui, sans-serif" font-size="12" text-anchor="middle" '
            'dominant-baseline="central">' + "".join(parts) + "</svg>"
        )  # fmt: skip

    def under(self) -> str:
        """Return what lies below all stones."""
        return board_looks.definitions(self.name) + self._ground() + self._labels()

    def over(self) -> str:
        """Return what lies above all stones."""
        return self._face()

    def places(self) -> list[tuple[float, float]]:
        """Return the centres of the points."""
        return [self._at(point) for point in self._points()]

    def _points(self) -> range:
        return range(self.rows * self.columns)

    def _side(self, point: int) -> int:
        return self.grid.cells[point // self.columns][point % self.columns]

    def _at(self, point: int) -> tuple[float, float]:
        """Return the centre of a point."""
        if self.hexagons is not None:
            return self.hexagons.at(point)
        return self.left + CELL * (point % self.columns + 0.5), 1 + CELL * (point // self.columns + 0.5)

    # ---- the board

    def _ground(self) -> str:
        if self.hexagons is not None:
            return self.hexagons.ground()
        look, (w, h), x = self.look, (CELL * self.columns, CELL * self.rows), self.left
        paint = f'rx="7" fill="{board_looks.ground(self.name)}"'
        parts = [f'<rect x="{x:g}" y="1" width="{w:g}" height="{h:g}" {paint}/>']
        if self.name == "holes":
            return parts[0] + board_looks.dots([*map(self._at, self._points())], 15.5, f'stroke="{HOLE}"')
        dots, radius, path = [], 2.5, ""
        if self.name == "corners":
            dots = [*self._points()]
        elif self.name == "points":
            path += "".join(f"M{x + HALF:g} {1 + HALF + CELL * r:g}h{w - CELL:g}" for r in range(self.rows))
            path += "".join(f"M{x + HALF + CELL * c:g} {1 + HALF:g}v{h - CELL:g}" for c in range(self.columns))
            dots, radius = star_points(self.rows, self.columns), 3.5
        else:
            path += "".join(f"M{x:g} {1 + CELL * r:g}h{w:g}" for r in range(1, self.rows))
            path += "".join(f"M{x + CELL * c:g} 1v{h:g}" for c in range(1, self.columns))
        faint = ' stroke-opacity=".62" stroke-width="1.5"' if self.name == "marks" else ""
        parts.append(f'<path d="{path}" fill="none" stroke="{look.line}"{faint}/>' if path else "")
        parts.append(board_looks.dots([*map(self._at, dots)], radius, f'stroke="{look.line}"'))
        return "".join(parts)

    def _labels(self) -> str:
        rows, columns, bottom = self.grid.rows, self.grid.columns, 1 + CELL * self.rows
        names = [(MARGIN / 2, 1 + CELL * (r + 0.5), name) for r, name in enumerate(rows)]
        names += [(self.left + CELL * (c + 0.5), bottom + MARGIN / 2 + 1, name) for c, name in enumerate(columns)]
        if self.hexagons is not None:
            names = self.hexagons.names(rows, columns)
        parts = [f'<text x="{x:g}" y="{y:g}">{escape(name)}</text>' for x, y, name in names if name]
        y = bottom + (MARGIN if any(columns) else 0)
        for i, note in enumerate(() if self.hexagons else self.grid.notes):
            parts.append(f'<text x="{self.width / 2:g}" y="{y + 9 + 18 * i:g}">{self._note(note)}</text>')
        size = 11 if self.columns < 10 else 13
        text = "".join(parts)
        paint = f'fill="currentColor" fill-opacity=".75" font-size="{size}" style="--n:{self.columns}"'
        return f'<g class="edge" {paint}>{text}</g>' if text else ""

    def _note(self, note: str) -> str:
        """Return a line of the game's text, with dots of the sides' colours where it has their marks."""
        text = escape(note)
        for side in (1, -1) if self.game.pieces == Game.pieces and self.name != "marks" else ():
            fill, edge = self.look.sides[side]
            dot = f'<tspan fill="{fill}" stroke="{edge}" stroke-width=".8" fill-opacity="1">\u25cf</tspan>'
            text = re.sub(rf"(?<!\w){self.game.pieces[side]}(?!\w)", dot, text)
        return text

    def _face(self) -> str:
        """Return the front of a board with holes: stones fall behind it."""
        if self.name != "holes":
            return ""
        size = f'width="{CELL * self.columns:g}" height="{CELL * self.rows:g}"'
        return f'<rect transform="translate({self.left:g} 1)" {size} rx="7" fill="url(#az-face) none"/>'

    # ---- what stands on it

    def _stones(self) -> str:
        """Return the stones, those of a side in one group, and the other things on points."""
        sides: dict[int, list[str]] = {1: [], -1: []}
        others, crosses = [], ""
        for point in self._points():
            side, (x, y) = self._side(point), self._at(point)
            if side in sides:
                sides[side].append(self._stone(point, side))
            elif side == FORBIDDEN_POINT:
                crosses += f"M{x - 6:g} {y - 6:g}l12 12m0 -12l-12 12"
            elif side == OTHER_PIECE:
                others.append(f'<text class="other" x="{x:g}" y="{y:g}">{escape(self.grid.words[point])}</text>')
        for point, side in self.changes.gone.items():
            sides[side].append(board_looks.stone(self.name, *self._at(point), side, "gone", ' visibility="hidden"'))
        for point in self.changes.turned:
            side = -self._side(point)
            sides[side].append(board_looks.stone(self.name, *self._at(point), side, "was", ' visibility="hidden"'))
        parts = [self._shade()]
        parts += [
            f'<g class="side" {board_looks.side_paint(self.name, side)}>{"".join(found)}</g>'
            for side, found in sides.items() if found
        ]  # fmt: skip
        if crosses:
            red = board_looks.FORBIDDEN_CROSS
            parts.append(f'<path class="forbidden" d="{crosses}" stroke="{red}" stroke-width="2.4"/>')
        return "".join(parts) + (f'<g font-size="20" {INK}>{"".join(others)}</g>' if others else "")

    def _shade(self) -> str:
        """Return the shadows of the stones."""
        if self.name in ("marks", "holes"):
            return ""
        places = [self._at(p) for p in self._points() if self._side(p) in (1, -1)]
        paint = 'stroke="#000" stroke-opacity=".28"'
        return board_looks.dots([(x + 1, y + 2.2) for x, y in places], self.look.radius + 0.4, paint)

    def _stone(self, point: int, side: int) -> str:
        kind = "stone first" if side == 1 else "stone second"
        kind += " won" if point in self._won else ""
        more = ""
        if point == self.changes.new:
            kind += " drop" if self.name == "holes" else " new"
            fall = CELL * (point // self.columns + 1)
            more = f' style="--fall:-{fall:g}px"' if self.name == "holes" else ""
        kind += " turned" if point in self.changes.turned else ""
        return board_looks.stone(self.name, *self._at(point), side, kind, more)

    def _marks(self, overlay: Mapping[int, Mark]) -> str:
        """Return what is marked on the stones and points: scored squares, winning lines, the last move, numbers."""
        parts = [self._legal(overlay)]
        if self.name == "corners":
            parts += [self._outline(corners, "scored", "z") for corners in scored_squares(self.grid)]
        for line in self._lines_won:
            parts.append(self._outline(line if self.hexagons else [line[0], line[-1]], "won-line", ""))
        last = self.grid.last
        if last is not None and self._side(last) in (1, -1) and not (self.name == "marks" and last in self._won):
            parts.append(self._last(last))
        parts += [self._square(point, owner) for point, owner in self.owned.items() if abs(owner) >= 0.1]
        return "".join(parts + [self._number(p) for p in self.numbers if self._side(p) in (1, -1)])

    def _outline(self, points: Sequence[int], kind: str, end: str) -> str:
        """Return a line through points, bright with dark edges."""
        path = "M" + "L".join(f"{x:g} {y:g}" for x, y in map(self._at, points)) + end
        shape = f'<path class="{kind}" d="{path}" fill="none" stroke-linecap="round" stroke-linejoin="round"'
        return f'{shape} stroke="{DARK}" stroke-width="6.5"/>{shape} stroke="{BRIGHT}" stroke-width="3"/>'

    def _ink(self, side: int) -> str:
        """Return a colour that is visible on a stone."""
        return ink_on(self.look.sides[side][0])

    def _square(self, point: int, owner: float) -> str:
        """Return a square in the owner's colour, the larger the surer."""
        (x, y), size, (fill, edge) = self._at(point), 18 * abs(owner) ** 0.5, self.look.sides[1 if owner > 0 else -1]
        box = f'x="{x - size / 2:.1f}" y="{y - size / 2:.1f}" width="{size:.1f}" height="{size:.1f}"'
        return f'<rect class="owned" {box} fill="{fill}" stroke="{edge}" opacity=".85"/>'

    def _last(self, point: int) -> str:
        (x, y), side = self._at(point), self._side(point)
        if self.name == "marks":
            return f'<circle class="last" cx="{x + 14:g}" cy="{y - 14:g}" r="3" fill="{self.look.sides[side][0]}"/>'
        radius = self.look.radius - 3.5 if self.numbers else 6
        paint = f'fill="none" stroke="{self._ink(side)}" stroke-width="2.4"'
        return f'<circle class="last" cx="{x:g}" cy="{y:g}" r="{radius:g}" {paint}/>'

    def _number(self, point: int) -> str:
        (x, y), marks, side = self._at(point), self.name == "marks", self._side(point)
        x, y, ink = (x - 14, y - 14, self.look.sides[side][0]) if marks else (x, y, self._ink(side))
        number = self.numbers[point]
        size = 10 if marks or number > 99 else 13
        return f'<text class="number" x="{x:g}" y="{y:g}" font-size="{size}" fill="{ink}">{number}</text>'

    def _legal(self, overlay: Mapping[int, Mark]) -> str:
        """Mark the points that may be played and have no mark of the overlay, if not every free point may."""
        free = sum(cell == 0 for row in self.grid.cells for cell in row)
        points = self._free()
        if self.game.policy_layout != "points" or self.state is None or len(points) >= free:
            return ""
        covered = {point_of(self.game, self.grid, action) for action in overlay}
        dots = [self._at(p) for p in sorted(points - covered)]
        return "".join(f'<circle class="legal" cx="{x:g}" cy="{y:g}" r="4.5" fill="{BRIGHT}" fill-opacity=".8"/>'
                       for x, y in dots)  # fmt: skip

    def _free(self) -> set[int]:
        return legal_points(self.game, self.grid, self.state.allowedActions) if self.state is not None else set()

    # ---- what is laid over it

    def _overlay(self, overlay: Mapping[int, Mark]) -> str:
        parts = []
        for action, mark in overlay.items():
            point = point_of(self.game, self.grid, action)
            if point is None:
                continue
            x, y = self._at(point)
            colour, strength = MORE if mark.heat >= 0 else LESS, min(abs(mark.heat), 1.0)
            opacity = board_looks.opacity_of(strength)
            ink = ink_over(HOLE if self.name == "holes" else self.look.ground, colour, opacity)
            disc = f'<circle cx="{x:g}" cy="{y:g}" r="15.5" fill="{colour}" fill-opacity="{opacity:.2f}"/>'
            text = f'<text x="{x:g}" y="{y:g}" font-weight="600" {ink}>{escape(mark.text)}</text>'
            parts.append(f'<g class="mark" data-mark="{action}">{disc}{text}</g>')
        return "".join(parts)

    def _hint(self, action: int | None) -> str:
        point = None if action is None else point_of(self.game, self.grid, action)
        if point is None:
            return ""
        (x, y), radius = self._at(point), self.look.radius - 1
        shape = f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="none"'
        rings = f'{shape} stroke="{DARK}" stroke-width="6"/>{shape} stroke="{HINT}" stroke-width="3"/>'
        return f'<g class="hint" data-hint="{action}">{rings}</g>'

    def _line(self, action: int, line: Sequence[int]) -> str:
        state, grid, taken = self.state, self.grid, set()
        sides: dict[int, list[str]] = {1: [], -1: []}
        texts = []
        for number, move in enumerate(line, 1):
            if state is None:
                break
            point, side = point_of(self.game, grid, move), state.playerTurn
            state = state.takeAction(move)[0]
            grid = (grid_of(state) or grid) if self.game.policy_layout == "columns" else grid
            if point is None or point in taken:
                continue
            taken.add(point)
            x, y = self._at(point)
            kind = "stone first" if side == 1 else "stone second"
            sides[side].append(board_looks.stone(self.name, x, y, side, kind))
            texts.append(f'<text x="{x:g}" y="{y:g}" font-weight="600" font-size="14" {INK}>{number}</text>')
        stones = "".join(
            f'<g opacity=".8" {board_looks.side_paint(self.name, side)}>{"".join(found)}</g>'
            for side, found in sides.items() if found
        )  # fmt: skip
        return f'<g class="line" data-line="{action}" visibility="hidden">{stones}{"".join(texts)}</g>'

    # ---- what the pointer needs

    def _ghost(self) -> str:
        """Return the stone of the side to move, hidden; a page lays it under the pointer."""
        if self.state is None or self.state.isEndGame:
            return ""
        side = self.state.playerTurn
        shape = board_looks.stone(self.name, 0, 0, side, "ghost", ' visibility="hidden" opacity=".6"')
        return f"<g {board_looks.side_paint(self.name, side)}>{shape}</g>"

    def _clicks(self) -> str:
        if self.game.policy_layout not in ("columns", "points"):
            return ""
        free = self._free()
        parts = []
        for point in self._points():
            x, y = self._at(point)
            action = point % self.columns if self.game.policy_layout == "columns" else point
            box = f'x="{x - HALF:g}" y="{y - HALF:g}" width="{CELL:g}" height="{CELL:g}"'
            kind = "point free" if point in free else "point"
            name = self.game.move_name(action)
            name += f"-{self.rows - point // self.columns}" if self.game.policy_layout == "columns" else ""
            words = f'data-name="{escape(name)}"'  # board.js says it, with what stands there
            words += f' data-side="{side}"' if (side := self._side(point)) else ""
            shape = f'path d="{self.hexagons.outline(point)}"' if self.hexagons else "rect"  # its box is for board.js
            parts.append(f'<{shape} class="{kind}" data-action="{action}" data-point="{point}" {words} {box}/>')
        return f'<g fill="transparent">{"".join(parts)}</g>'
