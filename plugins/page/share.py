"""Sharing a position: a link without the token, and an image that the browser draws (play.js)."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from languages.translate import tr
from plugins.page.controls import icon_button
from plugins.page.table import Table

TEXTS = (
    "The link is copied.", "The image is copied.", "The image is saved as a file.",
    "The link cannot be copied; it is in the address bar, with the token.",
    "A link holds moves, not stones that were set up: save the position as .sgf or .json.",
)  # fmt: skip
"""What the browser reports."""
DONE = dict(zip(("link", "image", "file", "failed", "setup"), TEXTS, strict=True))


class Share:
    """The menu; it belongs to the view of the board."""

    def __init__(self, play: Any) -> None:
        self._play = play

    def build(self) -> None:
        """Put the menu where the page is being built."""
        with icon_button("", "share", None, tr("share this position")), ui.menu():
            for text, kind in ((tr("Copy link"), "link"), (tr("Copy image"), "image"), (tr("Save image"), "file")):
                item = ui.menu_item(text).props("role=menuitem")
                item.on("click", lambda e: self._done(e.args), js_handler=f"() => sharePosition('{kind}', emit)")

    def _done(self, what: Any) -> None:
        self._play.tell(tr(DONE.get(str(what), DONE["failed"])))


def link(table: Table, mode: str) -> dict[str, str]:
    """Return the values of an address that shows the position: no token, no players; none of stones set up."""
    if table.game.set_up_from is not None:
        return {}
    return {"game": table.game.spec, "moves": table.text, "mode": mode}
