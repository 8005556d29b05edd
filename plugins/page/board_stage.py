"""The board of the page: the drawing of what a table shows, with what moved since the last one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from json import dumps

from game import Game, GameState
from interface.side_names import side_name
from languages.translate import tr
from plugins.page.table import Table
from plugins.pictures.board_grid import Before
from plugins.pictures.board_svg import LOOKS, Mark, board_svg

MOVE = (  # the second click of a double one is ignored, wherever it is; confirmed: see play.js
    '(e) => { const t = e.target.closest("[data-action]"), now = performance.now();'
    " if (!t || (e.detail && now - (window.movedAt ?? -1e9) < 400)) return;"
    ' const move = [t.dataset.action, t.closest("[data-at]").dataset.at];'
    " if (!confirmed(e, t)) return emit([...move, true]); if (e.detail) window.movedAt = now; emit(move) }"
)
"""Sends [action, data-at of the board that was clicked], and True after a first tap that a second one confirms."""


def framed(drawn: str, state: GameState, game: Game, at: str, more: str = "") -> str:
    """Return a board with what board.js and play.js read: data-at names the position, data-turn is the colour of the
    side to move, data-words says what stands on a point. more: further attributes."""
    words = {"0": tr("empty"), **{str(side): side_name(game, side) for side in (1, -1)}}
    turn = LOOKS[game.look].sides[state.playerTurn][0]
    held = f'data-at="{at}" data-turn="{turn}" data-words="{escape(dumps(words))}"'
    return drawn.replace("<svg ", f"<svg {held}{more} ", 1)


def confirm(game: Game, action: int) -> str:
    """Return the words after a first tap."""
    return tr("Tap again to play {move}.", move=game.move_name(action))


class Drawing:
    """The drawings of one tab's table, one after the other."""

    def __init__(self) -> None:
        self._before = Before()

    def svg(
        self, table: Table, marks: Mapping[int, Mark], lines: Mapping[int, Sequence[int]], *, numbered: bool = False,
        hint: int | None = None, owned: Mapping[int, float] | None = None,
    ) -> str:  # fmt: skip
        """Return the board of a table, see `framed`; its attribute data-waits: no person moves."""
        drawn = board_svg(
            table.state, overlay=marks, lines=lines, clickable=True, hint=hint, owned=owned, lasting=True,
            moves=table.moves[: table.ply] if numbered else (), before=self._before.of(table.state),
        )  # fmt: skip
        waits = ' data-waits=""' if table.machine_to_move or table.over else ""
        return framed(drawn, table.state, table.game, table.at, waits)


def has_other_moves(game: Game) -> bool:
    """Return whether a game has moves that are no points, such as a pass: their buttons keep a place on the page."""
    rows, columns = game.grid_shape
    return game.policy_layout == "other" or (game.policy_layout == "points" and game.action_size > rows * columns)
