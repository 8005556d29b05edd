"""The card of the game's record: whose turn it is, the curve of values, the moves with the marks of a review."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from languages.translate import tr
from plugins.page.charts import moves_html, values_svg
from plugins.page.controls import icon_button
from plugins.page.table import Table
from storage.game_files import PERSON

PLY = '(e) => { const t = e.target.closest("[data-ply]"); if (t) emit(t.dataset.ply) }'


class RecordCard:
    """The card; it belongs to the view of the board."""

    def __init__(self, play: Any) -> None:
        self._play = play

    def build(self) -> None:
        """Put the card where the page is being built."""
        play = self._play
        with ui.element("div").classes("card stack record"):
            with ui.element("div").classes("line-up"):
                self._status = ui.label().classes("status grow").props('role="status"')
                self._stop = icon_button(tr("Stop"), "stop", play.halt, tr("stop the machines"))
                self._go_on = icon_button(tr("Resume"), "play_arrow", play.go_on, tr("the machines play on from here"))
            self._voice = ui.label().classes("voice").props('role="status"')
            self._graph, self._moves = (ui.html("", sanitize=False) for _ in range(2))
            for part in (self._graph, self._moves):
                part.on("click", lambda e: play.go(e.args), js_handler=PLY)
            self._back = ui.button(icon="undo", on_click=play.back).props("outline dense no-caps").classes("back")

    def show(self) -> None:
        """Show the game at the table."""
        play, t = self._play, self._play.table
        side = t.side_name(t.state.playerTurn)
        self._status.text = tr("{side} is thinking ...", side=side) if play.thinking else t.status
        self._status.visible = t.result is None or t.looking_back
        self._voice.text = machine_moved(t)
        self._stop.visible = play.thinking
        self._go_on.visible = t.machine_waits
        self._back.visible = t.left is not None
        self._back.text = tr("Back to the game (move {ply})", ply=t.left.ply if t.left else 0)
        names = [t.game.move_name(action) for action in t.moves]
        self._graph.visible = play.mode == "analyse"
        if self._graph.visible:
            self._graph.content = values_svg(t.values, len(t.moves), t.ply, names)
        self._moves.content = moves_html(names, t.ply, play.review.marked())


def machine_moved(table: Table) -> str:
    """Return a machine's last move in words, for screen readers; "" if a person made it, or an earlier one is shown."""
    count = len(table.moves)
    side = table.states[count - 1].playerTurn if count else 1
    if not count or table.looking_back or table.seats[side] == PERSON:
        return ""
    name = table.game.move_name(table.moves[-1])
    return tr("Move {number}: {player} played {move}.", number=count, player=table.called(side), move=name)
