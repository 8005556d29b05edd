"""The dialog that asks for a yes before something is lost; one for the view of the board."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import Any

from nicegui import ui

from languages.translate import tr

Act = Callable[[], "Awaitable[Any] | Any"]


class Question:
    """The dialog; it belongs to the view of the board."""

    def __init__(self, play: Any) -> None:
        self._play = play
        self._act: Act = lambda: None

    def build(self) -> None:
        """Put the dialog where the page is being built."""
        with self._play.client.content, ui.dialog() as self._dialog, ui.card().classes("question card stack"):
            self._dialog.props(f'role=alertdialog aria-label="{tr("question")}"')
            self._text = ui.label()
            with ui.element("div").classes("line-up"):
                self._yes = ui.button(on_click=self._go).props("unelevated dense no-caps")
                ui.button(tr("Cancel"), on_click=self._dialog.close).props("flat dense no-caps")

    def ask(self, text: str, yes: str, act: Act) -> None:
        """Ask, and do `act` after a click on `yes`."""
        self._text.text, self._yes.text, self._act = text, yes, act
        self._dialog.open()

    async def _go(self) -> None:
        self._dialog.close()
        done = self._act()
        if isawaitable(done):
            await done
