"""The menu next to the game: the game as text and as files. It also keeps the tab's address up to date."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import partial
from typing import Any

from nicegui import run, ui

from config import UserError
from languages.translate import tr
from plugins.page import tab_address
from plugins.page.board_editor import Editor
from plugins.page.controls import icon_button
from plugins.page.web_players import make_game
from storage.game_files import FORMS, LIMIT, READ, Record, from_bytes, to_bytes

READ_FILE = (  # its bytes in base64: only the file itself says how its text is encoded
    "(e) => {{ const f = e.target.files[0], reader = new FileReader(); e.target.value = '';"
    " reader.onload = () => emit([f.name, reader.result.split(',')[1] || '']);"
    " if (f && f.size > {0}) emit([f.name, '']); else if (f) reader.readAsDataURL(f) }}"
)
COPY = (
    "() => { const box = document.querySelector('.moves-text input');"
    " if (navigator.clipboard) return navigator.clipboard.writeText(box.value);"  # it is there over https and at home
    " box.focus(); box.select(); document.execCommand('copy') }"
)


class Sheet:
    """The panel; it belongs to the view of the board."""

    def __init__(self, play: Any) -> None:
        self._play = play
        self._kept: dict[str, str] = {}
        self._editor = Editor(play)

    def build(self) -> None:
        """Put the menu where the page is being built."""
        named = f'auto-close=false role=dialog aria-label="{tr("files and text")}"'
        with ui.menu().props(named) as self._menu, ui.element("div").classes("stack").style("padding: 12px"):
            self._build()

    def _build(self) -> None:
        self._text = ui.input(tr("moves of this position")).props("dense outlined").style("width: 300px")
        self._text.classes("moves-text")
        self._text.on("keydown.enter", self._set)
        with ui.element("div").classes("line-up"):
            icon_button(tr("Set"), "input", self._set, tr("play these moves from the start"))
            ui.button(tr("Copy"), icon="content_copy").props("flat dense").on("click", js_handler=COPY)
        with ui.element("div").classes("line-up"):
            for form in FORMS:
                save, tip = tr("Save {form}", form=form), tr("download as {form}", form=form)
                icon_button(save, "download", partial(self._save, form), tip)
        ui.label(tr("Load a game ({forms})", forms=", ".join(READ))).classes("soft")
        chooser = ui.element("input").props(f'type=file accept="{",".join(READ)}" aria-label="{tr("load a game")}"')
        self._editor.build()
        chooser.on("change", lambda e: self._load(*e.args), js_handler=READ_FILE.format(LIMIT))

    def show(self) -> None:
        """Show the moves up to the position on the board; write the game into the address, for a reload of the page."""
        self._text.value = self._play.table.text
        self._editor.show()
        if (now := self._address()) != self._kept:
            self._kept = now
            self._play.client.run_javascript(tab_address.script(now))

    def leave_address(self) -> None:
        """Keep the address until a move is played: the page, started again, may offer its game."""
        self._kept = self._address()

    def _address(self) -> dict[str, str]:
        fits = "1" if self._play.opponents.fits else ""
        return tab_address.kept(self._play.table) | {
            "mode": self._play.mode, "fits": fits, "own": self._play.own.in_address,
        }  # fmt: skip

    def _set(self) -> None:
        self._play.set_moves(str(self._text.value))

    def _save(self, form: str) -> None:
        table = self._play.table
        try:
            data = to_bytes(table.record(), form)
        except UserError as error:
            self._play.tell(str(error).splitlines()[0])
            return
        ui.download.content(data, f"{table.game.name}{form}")

    async def _load(self, name: Any, text: Any) -> None:
        form = next((f for f in READ if str(name).lower().endswith(f)), None)
        try:
            data = base64.b64decode(text, validate=True)
        except (TypeError, ValueError):
            data = b""
        if form is None or not data:
            self._play.tell(f"expected a file that ends in {', '.join(READ)}, of at most {LIMIT:,} bytes")
            return
        spec, named = self._play.table.game.spec, self._play.roster.named
        specs = [spec] if form == ".txt" else ["", *named]
        try:
            record = await run.io_bound(read_record, data, form, specs)
        except UserError as error:
            self._play.tell(str(error).splitlines()[0])
            return
        except Exception:
            self._play.tell(tr("The file cannot be read; see the terminal."))
            raise
        if record is not None:  # it is None when the program ends
            self._play.instead(partial(self._open, record), tr("Open the file"))

    def _open(self, record: Record) -> None:
        self._menu.close()
        self._play.open_record(record, {})
        self._play.tell("; ".join(record.notes))


def read_record(data: bytes, form: str, specs: Sequence[str]) -> Record:
    """Return a file's game, as one of the first game of `specs` that fits; "" is the game that the file names.

    A file may not use the rules in a run's own file (see `games.make`), unless the command line named them.
    """
    refusals = []
    for spec in specs:
        try:
            return from_bytes(data, form, make_game(spec) if spec else None)
        except UserError as error:
            refusals.append(error)
    raise refusals[0]
