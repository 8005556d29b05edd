"""Games as small boards: a run's, of self-play with their values and of its tournaments, and the person's own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

from nicegui import run, ui

from config import UserError
from game import Game
from games.line_of_moves import after_moves
from languages.translate import tr
from plugins.page.controls import icon_button
from plugins.page.opponents import opponents
from plugins.page.own_games import LARGEST, Own, read_own
from plugins.page.run_reader import Listed, iterations, list_games, match_game, stored_game
from plugins.page.tab_language import in_background
from plugins.page.table import outcome
from plugins.page.web_players import named_runs
from plugins.pictures.board_svg import board_svg
from storage.game_files import PERSON
from storage.game_record import IMPORTED

KINDS = {"self-play": "Self-play", "tournament": "Tournament", "mine": "Mine"}
RESULTS = {"": "any result", "1": "first won", "0": "draw", "-1": "second won", "left": "not finished"}
TEXTS = "Self-play", "Tournament", "Mine", "any result", "first won", "draw", "second won", "not finished"
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
        self._own: list[Own] = []
        self._first = 0
        with ui.element("div").classes("sheet").style("grid-template-columns: minmax(0, 1fr); max-width: 1100px"):
            with ui.element("div").classes("card stack"):
                self._build()
        self._list_runs()
        if not any(map(has_games, self._folders.values())):  # players ship without their games
            self._kind.value = "mine"

    def _build(self) -> None:
        with ui.element("div").classes("line-up"):
            kinds = {kind: tr(text) for kind, text in KINDS.items()}
            self._kind = ui.toggle(kinds, value="self-play", on_change=lambda _: self._read())
            self._kind.props(f'dense unelevated no-caps aria-label="{tr("kind of games")}"')
            self._run = self._select([], tr("run"), lambda _: self._list_iterations(), 240)
            self._iteration = self._select({}, tr("iteration"), lambda _: self._read(), 130)
            icon_button("", "refresh", self._list_runs, tr("read again"))
            self._forget = icon_button(tr("Delete"), "delete", self._ask_to_forget, tr("delete all these games"))
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
        """Read the games of the iteration, or those that the browser kept."""
        mine = self._kind.value == "mine"
        for part in (self._run, self._iteration, self._version):
            part.visible = not mine
        self._forget.visible = mine
        if mine:
            self._game, self._found, self._own = None, [], []
            self._show()
            in_background(self._read_own(), "own games")
            return
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

    async def _read_own(self) -> None:
        with self._games.client:
            try:
                text = await ui.run_javascript(f"return ownGames.text({LARGEST})", timeout=60)
            except TimeoutError:
                text = ""
            found = await run.io_bound(read_own, text, self._play.roster.named)
            if found is not None and self._kind.value == "mine":  # it is None when the program ends
                self._own, self._found = found, listed(found)
                self._show()

    def _ask_to_forget(self) -> None:
        self._play.question.ask(tr("Delete all your games from this browser?"), tr("Delete"), self._forget_own)

    def _forget_own(self) -> None:
        ui.run_javascript("ownGames.forget()")
        self._read()

    # ---- what is shown

    def _show(self, first: int = 0) -> None:
        """Show the games that pass the filters, from number `first` of them on."""
        mine = self._kind.value == "mine"
        result, version = self._result.value or "", "" if mine else self._version.value or ""
        found = passing(self._found, result, version, self._from.value, self._to.value)
        self._first, end = first, min(first + SHOWN, len(found))
        self._back.visible, self._on.visible = first > 0, end < len(found)
        self._games.content = games_html(self._game, found[first:end])
        if mine and not self._own:
            self._note.text = tr("Games that you play are kept here, in this browser.")
        elif not mine and self._folder() is None:
            self._note.text = tr("There is no run with games yet: the tab Training starts one.")
        elif not mine and self._iteration.value is None:
            self._note.text = tr("This run has no games.")
        elif not found:
            self._note.text = tr("no games")
        elif len(found) > SHOWN:
            self._note.text = tr("{count} games, {first} to {end} shown; click one to open it on the board",
                                 count=len(found), first=first + 1, end=end)  # fmt: skip
        elif len(found) == 1:
            self._note.text = tr("1 game; click it to open it on the board")
        else:
            self._note.text = tr("{count} games; click one to open it on the board", count=len(found))

    async def _open(self, iteration: Any, index: Any) -> None:
        if self._kind.value == "mine":
            number = int(index)
            if 0 <= number < len(self._own):
                own = self._own[number]
                self._play.instead(partial(self._put, partial(self._play.own.resume, own)), tr("Open the other game"))
            return
        folder = self._folder()
        if folder is None:
            return
        read = stored_game if self._kind.value == "self-play" else match_game
        try:
            found = await run.io_bound(read, folder, int(iteration), int(index), named=self._play.roster.named)
            if found is None:  # the program ends
                return
        except UserError as error:
            self._note.text = str(error).splitlines()[0]
            return
        show = partial(self._play.open_record, found.record, found.values)
        self._play.instead(partial(self._put, show), tr("Open the other game"))

    def _put(self, show: Callable[[], None]) -> None:
        """Put a game on the board and go there."""
        try:
            show()
        except UserError as error:
            self._note.text = str(error).splitlines()[0]
            return
        self._open_board()


def has_games(folder: Path) -> bool:
    """Return whether a run has games to show, or says itself why they cannot be read."""
    try:
        return bool(iterations(folder))
    except UserError:
        return True


def passing(
    found: list[Listed], result: str, version: str, least: float | None = None, most: float | None = None
) -> list[Listed]:
    """Return the games with a result (a key of RESULTS, for who began), of a version, with `least` to `most` moves."""
    return [
        game for game in found
        if result in ("", kind_of(game.result))
        and (not version or int(version) in game.versions)
        and (least is None or len(game.moves) >= least) and (most is None or len(game.moves) <= most)
    ]  # fmt: skip


def kind_of(result: float | None) -> str:
    """Return the key of RESULTS of a result.

    >>> [kind_of(result) for result in (1.0, 0.0, None)]
    ['1', '0', 'left']
    """
    return "left" if result is None else str((result > 0) - (result < 0))


def listed(own: list[Own]) -> list[Listed]:
    """Return the person's games as entries of a list."""
    found = []
    for i, (_, record, _) in enumerate(own):
        tiles = {f"{one.seat}:{one.budget}".strip(":"): one.name for one in opponents(record.game.spec)}
        who = " - ".join(tiles.get(name, name) for name in (tr("You") if n == PERSON else n for n in record.players))
        person = 0 if record.players.count(PERSON) != 1 else 1 if record.players[0] == PERSON else -1
        found.append(Listed(i, who, record.result, record.moves, 0, (), record.game, person))
    return found


def games_html(game: Game | None, found: list[Listed]) -> str:
    """Return the last positions of games as small boards, each a button; game: of those that name none."""
    parts = []
    for one in found:
        own = one.board or game
        if own is None:
            raise ValueError(f"expected a game for {one}")
        try:
            board = board_svg(after_moves(own, one.moves))
        except UserError as error:  # a game that others wrote
            board = f'<div class="note">{escape(str(error).splitlines()[0])}</div>'
        tip = tr(one.who) if one.who in ("self-play", "imported") else one.who
        if one.iteration:
            index = one.number % IMPORTED
            tip = f"{tr('iteration {iteration}, game {index}', iteration=one.iteration, index=index)}: {tip}"
        length = tr("1 move") if len(one.moves) == 1 else tr("{count} moves", count=len(one.moves))
        lines = [_result(own, one), one.who, length] if one.person else [_result(own, one), length]
        parts.append(
            f'<button type="button" data-game="{one.number}" data-iteration="{one.iteration}" '
            f'title="{escape(tip)}">{board}{"".join(f"<span>{escape(line)}</span>" for line in lines)}</button>'
        )
    return "".join(parts)


def _result(game: Game, one: Listed) -> str:
    """Return how a game ended, in the person's own games against machines for the person."""
    if one.result is None:
        return tr("not finished")
    if one.result and one.person:
        return (tr("You win.") if one.result * one.person > 0 else tr("You lose.")).rstrip(".。")
    return outcome(game, one.result).rstrip(".。")
