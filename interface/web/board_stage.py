"""The board of the page: the drawing of what a table shows, with what moved since the last one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from json import dumps

from game import Game
from interface.board_grid import Before
from interface.board_svg import Mark, board_svg
from interface.web.table import Table
from languages.translate import tr


class Drawing:
    """The drawings of one tab's table, one after the other."""

    def __init__(self) -> None:
        self._before = Before()

    def svg(
        self, table: Table, marks: Mapping[int, Mark], lines: Mapping[int, Sequence[int]], *, numbered: bool = False,
        hint: int | None = None, owned: Mapping[int, float] | None = None,
    ) -> str:  # fmt: skip
        """Return the board of a table.

        Its attribute data-at names the position, data-words what stands on a point; data-waits: no person moves.
        """
        drawn = board_svg(
            table.state, overlay=marks, lines=lines, clickable=True, hint=hint, owned=owned,
            moves=table.moves[: table.ply] if numbered else (), before=self._before.of(table.state),
        )  # fmt: skip
        words = {"0": tr("empty"), **{str(side): table.side_name(side) for side in (1, -1)}}
        waits = ' data-waits=""' if table.machine_to_move or table.over else ""
        return drawn.replace("<svg ", f'<svg data-at="{table.at}" data-words="{escape(dumps(words))}"{waits} ', 1)


def has_other_moves(game: Game) -> bool:
    """Return whether a game has moves that are no points, such as a pass: their buttons keep a place on the page."""
    rows, columns = game.grid_shape
    return game.policy_layout == "other" or (game.policy_layout == "points" and game.action_size > rows * columns)
