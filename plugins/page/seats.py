"""The list of all players for both seats, with their budgets: always open in Analyse, behind a tile in Play."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from languages.translate import tr
from plugins.page.controls import icon_button
from plugins.page.web_players import LEVELS, has_level, levels_of
from plugins.pictures.board_svg import LOOKS
from storage.game_files import PERSON


class Seats:
    """The lists; they belong to the view of the board."""

    def __init__(self, play: Any) -> None:
        self._play = play
        self._rows: dict[int, tuple[Any, Any, Any]] = {}

    def build(self) -> None:
        """Put the lists where the page is being built."""
        with ui.element("div").classes("seats") as self._place:
            with ui.element("div").classes("stack"):
                for side in (1, -1):
                    with ui.element("div").classes("seat"):
                        self._rows[side] = self._row(side, 1 if side == 1 else 2)
            icon_button("", "swap_vert", self._play.swap, tr("swap sides"))

    def _row(self, side: int, number: int) -> tuple[Any, Any, Any]:
        """Return what shows and chooses the player of a side: a dot, the player, its budget."""
        dot = ui.html("", sanitize=False)
        who = ui.select({PERSON: ""}, value=PERSON, on_change=lambda e: self._sit(side, e.value))
        who.props(f'dense outlined options-dense aria-label="{tr("player {number}", number=number)}"')
        levels = {level: tr(text) for level, text in LEVELS.items()}
        level = ui.select(levels, value="400", on_change=lambda e: self._set_level(side, e.value))
        name = tr("level {number}", number=number)
        level.props(f'dense outlined options-dense label="{tr("level")}" aria-label="{name}"')
        return dot, who, level

    def show(self) -> None:
        """Show who sits at the table."""
        table = self._play.table
        self._place.visible = self._play.mode == "analyse" or self._play.opponents.listed
        sides = LOOKS[table.game.look].sides
        for side, (dot, who, level) in self._rows.items():
            dot.content = f'<span class="dot-side" style="background:{sides[side][0]}"></span>'
            who.props["label"] = table.side_name(side)
            who.value = table.seats[side]
            if list(level.options) != list(levels := levels_of(who.value)):
                level.set_options({key: tr(text) for key, text in levels.items()}, value=table.levels[side])
            level.value = table.levels[side]
            level.visible = has_level(table.seats[side])

    def offer(self, options: dict[str, str]) -> None:
        """Offer the players of the game that is on the table."""
        for side, (_, who, _) in self._rows.items():
            seated = self._play.table.seats[side]
            who.set_options(options, value=seated if seated in options else PERSON)

    def text_of(self, name: str) -> str:
        """Return the displayed text of a player."""
        return str(self._rows[1][1].options.get(name, name))

    def take(self, seats: dict[int, str], budget: str) -> None:
        """Seat two players; budget: the machine's, "" for its own. A game that is over is followed by another."""
        table = self._play.table
        table.seats = dict(seats)
        for side in (1, -1):
            if seats[side] != PERSON:
                table.levels[side] = budget or "400"
        self._seated()

    def _sit(self, side: int, name: str) -> None:
        table = self._play.table
        if name != table.seats[side]:
            self._play.opponents.fits = False
            table.seats[side] = name
            if table.levels[side] not in levels_of(name):
                table.levels[side] = "400"
            self._seated()

    def _set_level(self, side: int, level: str) -> None:
        if level != self._play.table.levels[side]:
            self._play.table.levels[side] = level
            self._seated()

    def _seated(self) -> None:
        opponents, table = self._play.opponents, self._play.table
        opponents.helped = table.result is None and (opponents.helped or bool(table.moves))  # else a new game begins
        self._play.keep_seated()
        self._play.changed()
