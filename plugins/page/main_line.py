"""The main line of the search as text. A click on one of its moves, or on a row of the table of moves, tries it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from nicegui import ui

from game import GameState
from languages.translate import tr
from plugins.pictures.overlays import LONGEST_LINE

CLICK = '(e) => { const t = e.target.closest("[data-walk]"); if (t) emit(t.dataset.walk) }'
ROW = (
    '(e) => { const t = e.target.closest("tr[data-hover]");'
    ' if (t && (e.type === "click" || e.key === "Enter")) emit(t.dataset.hover) }'
)


class MainLine:
    """The line; it belongs to the view of the board."""

    def __init__(self, play: Any) -> None:
        self._play = play
        self._state: GameState | None = None
        """The position in which the line begins."""
        self._line: list[int] = []

    def build(self) -> None:
        """Put the line where the page is being built."""
        self._place = ui.html("", sanitize=False).classes("main-line")
        self._place.on("click", lambda e: self._walk(e.args), js_handler=CLICK)

    def listen(self, table: Any) -> None:
        """Try the move of a row of the table of moves that is clicked, or has the focus at Enter."""
        for event in ("click", "keydown"):
            table.on(event, lambda e: self._try(e.args), js_handler=ROW)

    def show(self, best: dict[str, Any] | None) -> None:
        """Show the line of the search's best move; None: there is none."""
        table = self._play.table
        names = best["pv"][:LONGEST_LINE] if best else []
        self._state, self._line = table.state, [table.game.parse_move(name) for name in names]
        self._place.content = line_html(names)
        self._place.visible = bool(names)

    def _walk(self, count: Any) -> None:
        if str(count).isdecimal() and self._state is self._play.table.state:
            self._play_out(self._line[: int(str(count)[:3])])

    def _try(self, action: Any) -> None:
        if str(action).isdecimal() and int(str(action)[:9]) in self._play.table.state.allowedActions:
            self._play_out([int(action)])

    def _play_out(self, moves: Sequence[int]) -> None:
        """Play moves as a try; machines wait."""
        play, table = self._play, self._play.table
        if not table.over and moves:
            table.drop_rest(trying=True)
            for action in moves:
                table.play(action)
            table.paused = True
            play.opponents.helped = True
            play.changed()


def line_html(names: Sequence[str]) -> str:
    """Return a line of moves as buttons; each leads to the position after it."""
    buttons = [
        f'<button type="button" data-walk="{number}">{escape(name)}</button>' for number, name in enumerate(names, 1)
    ]
    return f'<span class="soft">{escape(tr("Main line"))}</span> {" ".join(buttons)}' if names else ""
