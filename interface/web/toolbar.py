"""The toolbar below the board."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from interface.web.controls import icon_button
from languages.translate import tr


def build_tools(play: Any) -> Any:
    """Put the buttons where the page is being built; return the one for the numbers of the moves."""
    icon_button("", "first_page", lambda: play.go(0), tr("to the start"))
    icon_button("", "undo", play.undo, tr("undo: take your last move back"))
    icon_button("", "redo", play.redo, tr("redo"))
    icon_button("", "last_page", lambda: play.go(len(play.table.moves)), tr("to the end"))
    number = icon_button("", "looks_one", play.number, tr("numbers of the moves on the stones, or none"))
    icon_button(tr("Hint"), "lightbulb_outline", play.hint, tr("what would the search play?"))
    icon_button(tr("Resign"), "flag", play.resign, tr("give the game up"))
    icon_button(tr("New"), "add", play.new, tr("a new game"))
    play.share.build()
    named = f'auto-close=false role=dialog aria-label="{tr("files and text")}"'
    with icon_button("", "more_horiz", None, tr("files and text")), ui.menu().props(named):
        with ui.element("div").classes("stack").style("padding: 12px"):
            play.sheet.build()
    return number
