"""Browser of a run's stored games, as small boards: those of self-play open with their values, and tournament games."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

from nicegui import run, ui

from config import UserError
from game import Game
from games.line_of_moves import after_moves
from interface.board_svg import board_svg
from interface.web.controls import icon_button
from interface.web.run_reader import Listed, iterations, list_games, match_game, stored_game
from interface.web.table import outcome
from interface.web.web_players import named_runs
from languages.translate import tr
from storage.game_record import IMPORTED

KINDS = {"self-play": "Self-play", "tournament": "Tournament"}
RESULTS = {"": "any result", "1": "first won", "0": "draw", "-1": "second won"}
TEXTS = "Self-play", "Tournament", "any result", "first won", "draw", "second won"
SHOWN = 24
"""Games on the page at once."""
OPEN = (
    '(e) => { const t = e.target.closest("[data-game]");'
    " if (t) emit([t.dataset.iteration, t.dataset.game]) }"
)


class Archive:
    """The view of one tab."""

    def __init__(self, play: Any, open_board: Callable[[], None]) -> None:
        self._play, self._open_board = play, open_board
        self.visible = True
        self._folders: dict[str, Path] = {}
        self._game: Game | None = None
        self._found: list[Listed] = []
        self._first = 0
        with ui.element("div").classes("sheet").style("grid-template-columns: minmax(0, 1fr); max-width: 1100px"):
            with ui.element("div").classes("card stack"):
                self._build()
        self._list_runs()

    def _build(self) -> None:
        with ui.element("div").classes("line-up"):
            self._run = self._select([], tr("run"), lambda _: self._list_iterations(), 240)
            self._iteration = self._select({}, tr("iteration"), lambda _: self._read(), 130)
            kinds = {kind: tr(text) for kind, text in KINDS.items()}
            self._kind = ui.toggle(kinds, value="self-play", on_change=lambda _: self._read())
            self._kind.props("dense unelevated no-caps")
            icon_button("", "refresh", self._list_runs, tr("read again"))
        with ui.element("div").classes("line-up filters"):
            results = {key: tr(text) for key, text in RESULTS.items()}
            self._result = self._select(results, tr("result"), lambda _: self._show(), 130)
            self._version = self._select({}, tr("version"), lambda _: self._show(), 110)
            self._from, self._to = (self._number(text) for text in (tr("moves from"), tr("to")))
        with ui.element("div").classes("line-up"):
            self._note = ui.label().classes("soft grow").props('role="status"')
            self._back = icon_button("", "chevron_left", lambda: self._show(self._first - SHOWN),
                                     tr("games before these"))  # fmt: skip
            self._on = icon_button("", "chevron_right", lambda: self._show(self._first + SHOWN),
                                   tr("games after these"))  # fmt: skip
        self._games = ui.html("", sanitize=False).classes("boards games")
        self._games.on("click", lambda e: self._open(*e.args), js_handler=OPEN)

    def _select(self, options: Any, label: str, act: Callable[[Any], None], width: int) -> Any:
        found = ui.select(options, label=label, value="" if "" in options else None, on_change=act)
        return found.props("dense outlined options-dense").style(f"min-width: {width}px")

    def _number(self, label: str) -> Any:
        found = ui.number(label, min=0, step=1, format="%g", on_change=lambda _: self._show())
        return found.props("dense outlined clearable").style("width: 120px")

    # ---- what is read

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
            self._iteration.set_options({}, value=None)
            self._read()
            self._note.text = str(error)
            return
        options = {0: tr("all"), **{number: str(number) for number in found}} if found else {}
        here = self._iteration.value if self._iteration.value in options else (found[0] if found else None)
        self._iteration.set_options(options, value=here)
        self._read()

    def _read(self) -> None:
        """Read the games of the iteration."""
        folder, iteration = self._folder(), self._iteration.value
        self._game, self._found = None, []
        if folder is not None and iteration is not None:
            try:
                self._game, self._found = list_games(folder, iteration, self._kind.value, named=self._play.roster.named)
            except UserError as error:
                self._show()
                self._note.text = str(error).splitlines()[0]
                return
        played = sorted({version for game in self._found for version in game.versions}, reverse=True)
        options = {"": tr("any"), **{str(version): str(version) for version in played}}
        self._version.set_options(options, value=self._version.value if self._version.value in options else "")
        self._show()

    # ---- what is shown

    def _show(self, first: int = 0) -> None:
        """Show the games that pass the filters, from number `first` of them on."""
        result, version = self._result.value or "", self._version.value or ""
        found = passing(self._found, result, version, self._from.value, self._to.value)
        self._first, end = first, min(first + SHOWN, len(found))
        self._back.visible, self._on.visible = first > 0, end < len(found)
        self._games.content = games_html(self._game, found[first:end]) if self._game is not None else ""
        if self._folder() is None:
            self._note.text = tr("There is no run with games yet: the tab Training starts one.")
        elif self._iteration.value is None:
            self._note.text = tr("This run has no games.")
        elif not found:
            self._note.text = tr("no games")
        elif len(found) > SHOWN:
            self._note.text = tr("{count} games, {first} to {end} shown; click one to open it on the board",
                                 count=len(found), first=first + 1, end=end)  # fmt: skip
        else:
            self._note.text = tr("{count} games; click one to open it on the board", count=len(found))

    async def _open(self, iteration: Any, index: Any) -> None:
        folder = self._folder()
        if folder is None:
            return
        read = stored_game if self._kind.value == "self-play" else match_game
        try:
            found = await run.io_bound(read, folder, int(iteration), int(index), named=self._play.roster.named)
            if found is None:  # the program ends
                return
            self._play.open_record(found.record, found.values)
        except UserError as error:
            self._note.text = str(error).splitlines()[0]
            return
        self._open_board()


def passing(
    found: list[Listed], result: str, version: str, least: float | None = None, most: float | None = None
) -> list[Listed]:
    """Return the games with a result ("1", "0", "-1" for who began; "": any), of a version, of so many moves."""
    return [
        game for game in found
        if (not result or (game.result > 0) - (game.result < 0) == int(result))
        and (not version or int(version) in game.versions)
        and (least is None or len(game.moves) >= least) and (most is None or len(game.moves) <= most)
    ]  # fmt: skip


def games_html(game: Game, found: list[Listed]) -> str:
    """Return the last positions of games as small boards, each a button."""
    parts = []
    for listed in found:
        try:
            board = board_svg(after_moves(listed.board or game, listed.moves))
        except UserError as error:  # a game that others wrote
            board = f'<div class="note">{escape(str(error).splitlines()[0])}</div>'
        who = tr(listed.who) if listed.who in ("self-play", "imported") else listed.who
        number = tr("iteration {iteration}, game {index}", iteration=listed.iteration, index=listed.number % IMPORTED)
        tip = f"{number}: {who}"
        length = tr("{count} moves", count=len(listed.moves))
        parts.append(
            f'<button type="button" data-game="{listed.number}" data-iteration="{listed.iteration}" '
            f'title="{escape(tip)}">{board}<span>{escape(outcome(game, listed.result).rstrip(".。"))}</span>'
            f"<span>{escape(length)}</span></button>"
        )
    return "".join(parts)
