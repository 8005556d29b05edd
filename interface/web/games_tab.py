"""Browser of a run's stored games: self-play games, opened on the board with their values, and tournament games."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

from nicegui import run, ui

from config import UserError
from interface.web.play_tab import CLICK
from interface.web.run_reader import iterations, list_games, match_game, stored_game
from interface.web.web_players import named_runs
from storage.game_record import IMPORTED

KINDS = {"self-play": "Self-play", "tournament": "Tournament"}
SHOWN = 300
"""Games on the page at once."""


class Archive:
    """The view of one tab."""

    def __init__(self, play: Any, open_board: Callable[[], None]) -> None:
        self._play, self._open_board = play, open_board
        self.visible = True
        self._folders: dict[str, Path] = {}
        self._first = 0
        with ui.element("div").classes("sheet").style("grid-template-columns: minmax(0, 1fr); max-width: 900px"):
            with ui.element("div").classes("card stack"):
                with ui.element("div").classes("line-up"):
                    self._run = ui.select([], on_change=lambda _: self._list_iterations(), label="run")
                    self._run.props("dense outlined options-dense").style("min-width: 240px")
                    self._iteration = ui.select([], on_change=lambda _: self._list(), label="iteration")
                    self._iteration.props("dense outlined options-dense").style("min-width: 110px")
                    self._kind = ui.toggle(KINDS, value="self-play", on_change=lambda _: self._list())
                    self._kind.props("dense unelevated no-caps")
                    ui.button(icon="refresh", on_click=self._list_runs).props('flat dense aria-label="read again"')
                with ui.element("div").classes("line-up"):
                    self._note = ui.label().classes("soft grow")
                    self._back = ui.button(icon="chevron_left", on_click=lambda: self._turn(-SHOWN))
                    self._back.props('flat dense aria-label="games before these"')
                    self._on = ui.button(icon="chevron_right", on_click=lambda: self._turn(SHOWN))
                    self._on.props('flat dense aria-label="games after these"')
                self._games = ui.html("", sanitize=False).classes("scroll").style("max-height: 70vh")
                self._games.on("click", lambda e: self._open(e.args), js_handler=CLICK.format("game"))
                self._games.on(
                    "keydown", lambda e: self._open(e.args),
                    js_handler='(e) => { const t = e.target.closest("[data-game]"); '
                    'if (t && e.key === "Enter") emit(t.dataset.game) }',
                )  # fmt: skip
        self._list_runs()

    def _list_runs(self) -> None:
        self._folders = named_runs()
        names = list(self._folders)
        here = self._run.value if self._run.value in names else (names[0] if names else None)
        self._run.set_options(names, value=here)
        self._list_iterations()

    def _folder(self) -> Path | None:
        return self._folders.get(self._run.value or "")

    def _list_iterations(self) -> None:
        folder = self._folder()
        try:
            found = iterations(folder) if folder else []
        except UserError as error:
            self._iteration.set_options([], value=None)
            self._list()
            self._note.text = str(error)
            return
        here = self._iteration.value if self._iteration.value in found else (found[0] if found else None)
        self._iteration.set_options(found, value=here)
        self._list()

    def _turn(self, by: int) -> None:
        self._list(self._first + by)

    def _list(self, first: int = 0) -> None:
        """Show the games of the iteration, from number `first` on."""
        folder, iteration = self._folder(), self._iteration.value
        self._games.content = ""
        self._back.visible = self._on.visible = False
        if folder is None or iteration is None:
            none = "There is no run with games yet: the tab Training starts one."
            self._note.text = none if folder is None else "This run has no games."
            return
        try:
            found = list_games(folder, iteration, self._kind.value)
        except UserError as error:
            self._note.text = str(error).splitlines()[0]
            return
        self._first, end = first, min(first + SHOWN, len(found))
        self._back.visible, self._on.visible = first > 0, end < len(found)
        more = f", {first + 1} to {end} shown" if len(found) > SHOWN else ""
        self._note.text = f"{len(found)} games{more}; click one to open it on the board" if found else "no games"
        self._games.content = games_html(found[first:end])

    async def _open(self, index: Any) -> None:
        folder, iteration = self._folder(), self._iteration.value
        if folder is None or iteration is None:
            return
        read = stored_game if self._kind.value == "self-play" else match_game
        try:
            found = await run.io_bound(read, folder, iteration, int(index), named=self._play.roster.named)
            if found is None:  # the program ends
                return
            self._play.open_record(found.record, found.values)
        except UserError as error:
            self._note.text = str(error).splitlines()[0]
            return
        self._open_board()


def games_html(found: list[tuple[int, str, float, int]]) -> str:
    """Return the table of games."""
    rows = []
    for index, who, result, count in found:
        word = "first won" if result > 0 else "second won" if result < 0 else "draw"
        cells = "".join(f"<td>{escape(text)}</td>" for text in (who, word, f"{count} moves"))
        number = index % IMPORTED
        rows.append(f'<tr data-game="{index}" data-hover="" tabindex="0"><td>{number}</td>{cells}</tr>')
    head = "".join(f"<th>{word}</th>" for word in ("game", "players", "result", "length"))
    return f'<table class="found games"><tr>{head}</tr>{"".join(rows)}</table>'
