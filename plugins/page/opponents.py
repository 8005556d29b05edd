"""The opponents of the mode Play: tiles by name and strength, who begins, the clock.

The tiles are levels of the shipped player with their measured Elo (players/levels.py); a game without them has rollouts
of four budgets, which nobody has measured. "Fits me" seats one of the tiles and moves one tile up after each game won
and one down after each game lost, so that one wins about every other game. The browser remembers the tile for each game
(localStorage); a game with help (a move taken back, a hint, analysis, another opponent on the way) moves nothing.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from contextlib import suppress
from html import escape
from typing import Any, NamedTuple

from nicegui import ui

from config import UserError
from languages.translate import tr
from players.levels import Level, read_levels
from plugins.page.clock import INCREMENTS, MINUTES, Clock, from_text
from storage.game_files import PERSON

NAMES = ("Beginner", "Novice", "Casual", "Club", "Strong", "Expert", "Master")
TEXTS = ("Beginner", "Novice", "Casual", "Club", "Strong", "Expert", "Master", "First", "Second", "Random")
"""Names of opponents, and who begins."""
UNMEASURED = "random", "rollout@25", "rollout@100", "rollout@400"
"""Opponents, player@budget, weakest first, of a game for which no level was measured."""
DEFAULT = 1
"""The opponent of a new user: the second weakest."""
FITS, FRIEND = "fits", "friend"
ORDER = {"first": "First", "second": "Second", "lot": "Random"}
RECALL = "() => emit(localStorage.getItem('fits:' + {}))"


class Opponent(NamedTuple):
    """A player on a tile."""

    seat: str
    """As in `Table.seats`."""
    budget: str
    """As in `Table.levels`; "" for the player's own."""
    name: str
    strength: str
    """Its Elo with the error, or its name."""


def opponents(spec: str) -> list[Opponent]:
    """Return the opponents of a game, weakest first."""
    levels: list[Level] = []
    with suppress(UserError):
        levels = read_levels(spec)
    if not levels:
        found = [entry.partition("@") for entry in UNMEASURED]
        return [Opponent(seat, budget, tr(name), tr("not measured"))
                for name, (seat, _, budget) in zip(NAMES, found, strict=False)]  # fmt: skip
    numbers = spread([level.elo for level in levels], len(NAMES))
    steps = max(len(numbers) - 1, 1)
    return [
        Opponent(
            f"level:{number + 1}", "",
            tr(getattr(levels[number], "name", "") or NAMES[round(i * (len(NAMES) - 1) / steps)]),
            strength(levels[number]),
        )
        for i, number in enumerate(numbers)
    ]  # fmt: skip


def strength(level: Level) -> str:
    """Return a level's Elo with its error; the level to which the others are relative has none.

    >>> strength(Level("random", 0, -346.0, 167.0))
    'Elo −346 ±167'
    """
    error = f" ±{level.error:.0f}" if level.error else ""
    return f"Elo {level.elo:.0f}".replace("-", "−") + error


def spread(elos: list[float], most: int) -> list[int]:
    """Return the indices of at most `most` of ascending Elos, the ends included, as far apart as they can be.

    >>> spread([0, 10, 20, 500, 1000], 3)
    [0, 3, 4]
    """
    kept = list(range(len(elos)))
    while len(kept) > most:
        gaps = [elos[kept[i + 1]] - elos[kept[i - 1]] for i in range(1, len(kept) - 1)]
        del kept[1 + gaps.index(min(gaps))]
    return kept


def fitted(step: int, result: float, count: int) -> int:
    """Return the tile of the next game of "fits me" after a result for the person: 1 won, 0 drawn, -1 lost."""
    return min(max(step + (result > 0) - (result < 0), 0), count - 1)


class Opponents:
    """The card; it belongs to the view of the board."""

    def __init__(self, play: Any) -> None:
        self._play = play
        self.fits = False
        """Whether the machine at the table is the one that fits the person."""
        self.helped = False
        """Whether this game moves "fits me" no more: it had help, or was counted."""
        self.order = "first"
        self.listed = False
        """Whether the full list of players is open."""
        self._step = DEFAULT
        """The tile of "fits me" in the next game."""
        self._tiles: dict[str, Any] = {}
        self._offered: list[Opponent] = []
        self._drawn = ""
        self._showing = False

    # ---- display

    def build(self) -> None:
        """Put the card where the page is being built."""
        with ui.element("section").classes("card stack opponents") as self._card:
            self._grid = ui.element("div").classes("tiles").props(f'role="group" aria-label="{tr("opponent")}"')
            with ui.element("div").classes("line-up"):
                ui.label(tr("You play")).classes("soft")
                self._first = ui.toggle({key: tr(name) for key, name in ORDER.items()}, value=self.order)
                self._first.props(f'dense unelevated no-caps aria-label="{tr("You play")}"').classes("choice")
                self._first.on_value_change(lambda e: self.begin_as(e.value))
            with ui.element("div").classes("line-up"):
                ui.label(tr("Minutes")).classes("soft")
                times = {m: str(m) if m else tr("no clock") for m in MINUTES}
                self._minutes = ui.toggle(times, value=0, on_change=lambda _: self._set_clock())
                label = tr("minutes for each side")
                self._minutes.props(f'dense unelevated no-caps aria-label="{label}"').classes("choice")
                more = {s: tr("+{seconds} s", seconds=s) for s in INCREMENTS}
                self._increment = ui.select(more, value=0, on_change=lambda _: self._set_clock())
                self._increment.props(f'dense outlined options-dense aria-label="{tr("seconds added for each move")}"')

    def show(self) -> None:
        """Show which opponent is seated, who begins and the clock."""
        table = self._play.table
        self._card.visible = self._play.mode == "play"
        if self._drawn != table.game.spec:
            self._drawn = table.game.spec
            self._draw()
        now = FITS if self.fits else self._seated()
        for key, tile in self._tiles.items():
            on = key == now or (key == "other" and self.listed)
            tile.classes(add="on" if on else "", remove="" if on else "on")
            tile.props(f'aria-pressed={"true" if on else "false"}')
        self._first.value = self.order
        clock, self._showing = table.clock, True  # else the first of two values would begin another clock
        self._minutes.value = int(clock.seconds) // 60 if clock else 0
        self._increment.value = int(clock.increment) if clock else self._increment.value
        self._increment.visible, self._showing = clock is not None, False

    def _draw(self) -> None:
        """Draw the tiles of the game that is on the table."""
        self._offered = opponents(self._drawn)  # of a game that was loaded, too
        self._grid.clear()
        self._tiles = {}
        with self._grid:
            for i, one in enumerate(self._offered):
                self._tile(str(i), one.name, one.strength).on("click", lambda i=i: self.choose(i))
            tip = tr("one step up after a game won, one down after a game lost")
            recall = RECALL.format(json.dumps(self._drawn))
            tile = self._tile(FITS, tr("Fits me"), tr("adapts to you"), tip)
            tile.on("click", lambda e: self.fit(e.args), js_handler=recall)
            self._tile(FRIEND, tr("A friend"), tr("at this screen")).on("click", self.invite)
            self._tile("other", tr("Other ..."), tr("all players")).on("click", self.open_list)

    def _tile(self, key: str, name: str, below: str, tip: str = "") -> Any:
        tile = self._tiles[key] = ui.element("button").classes("tile").props("type=button")
        with tile:
            ui.html(f"<b>{escape(name)}</b><span>{escape(below)}</span>", sanitize=False)
            if tip:
                ui.tooltip(tip)
        return tile

    def _seated(self) -> str:
        """Return the key of the tile whose player sits at the table; "" if none does."""
        table = self._play.table
        if set(table.seats.values()) == {PERSON}:
            return FRIEND
        people = [side for side in (1, -1) if table.seats[side] == PERSON]
        found = [i for i, one in enumerate(self._offered) if people and self._sits(one, -people[0])]
        return str(found[0]) if found else ""

    def _sits(self, one: Opponent, side: int) -> bool:
        """Return whether an opponent sits on a side."""
        table = self._play.table
        return table.seats[side] == one.seat and one.budget in ("", table.levels[side])

    def name_of(self, side: int) -> str:
        """Return the name of who sits on a side: a person, a tile's name, or the list's text."""
        table = self._play.table
        if table.seats[side] == PERSON:
            return tr("You") if table.seats[-side] != PERSON else table.side_name(side)
        tile = next((one.name for one in self._offered if self._sits(one, side)), None)
        return tile or str(self._play.seats.text_of(table.seats[side]))

    # ---- actions

    @property
    def me(self) -> int:
        """The side of the person; the one who is to begin as chosen when there is none, or two."""
        people = [side for side in (1, -1) if self._play.table.seats[side] == PERSON]
        return people[0] if len(people) == 1 else self._drawn_side()

    def _drawn_side(self) -> int:
        return {"first": 1, "second": -1}.get(self.order) or secrets.choice((1, -1))

    def choose(self, number: int) -> None:
        """Seat the opponent of a tile."""
        self.fits = False
        self._seat(number)

    def fit(self, remembered: Any) -> None:
        """Seat the opponent that fits; remembered: what the browser holds, a tile's number or nothing."""
        text = str(remembered)
        self.fits = True
        self._seat(int(text) if text.isdecimal() and len(text) < 4 else DEFAULT)

    def _seat(self, number: int) -> None:
        one, me = self._offered[min(number, len(self._offered) - 1)], self.me
        self._step = min(number, len(self._offered) - 1)
        self._play.seats.take({me: PERSON, -me: one.seat}, one.budget)

    def seat_default(self) -> None:
        """Seat the opponent of a new user, for another game."""
        self._offered = opponents(self._play.table.game.spec)
        one, me = self._offered[min(DEFAULT, len(self._offered) - 1)], self._drawn_side()
        self._play.table.seats = {me: PERSON, -me: one.seat}
        self._play.table.levels[-me] = one.budget or "400"
        self.fits = self.helped = False

    def found_in(self, query: Mapping[str, str]) -> None:
        """Take what the address holds besides the seats: whether the opponent is the one that fits, the clock."""
        table = self._play.table
        table.clock = from_text(query.get("clock", ""))
        now = self._seated()
        self.fits = bool(query.get("fits")) and now.isdecimal()
        self._step = int(now) if self.fits else DEFAULT
        people = [side for side in (1, -1) if table.seats[side] == PERSON]
        if len(people) == 1:
            self.order = "first" if people[0] == 1 else "second"

    def invite(self) -> None:
        """Let two people play at this screen."""
        self.fits = False
        self._play.seats.take({1: PERSON, -1: PERSON}, "")

    def open_list(self) -> None:
        """Open the list of all players, or close it."""
        self.listed = not self.listed
        self._play.show()

    def begin_as(self, order: str) -> None:
        """Choose who begins: at once if nothing was played by the person yet, else from the next game on."""
        if order == self.order or order not in ORDER:
            return
        self.order, table = order, self._play.table
        begun = any(state.playerTurn == self.me for state in table.states[: len(table.moves)]) and table.result is None
        if begun:
            self._play.tell(tr("From the next game on."))
        else:
            self._play.new()

    def new_game(self, *, rematch: bool = False) -> None:
        """Seat who is to begin, or the other one for a rematch, and the machine that fits now, for another game."""
        table, sides = self._play.table, (1, -1)
        self.helped = False
        people = [side for side in sides if table.seats[side] == PERSON]
        if rematch or (len(people) == 1 and people[0] != self._drawn_side()):
            table.swap()
        if rematch and len(people) == 1 and self.order != "lot":
            self.order = "first" if people[0] == -1 else "second"
        if self.fits and len(people) == 1:
            one = self._offered[self._step]
            table.seats[-self.me], table.levels[-self.me] = one.seat, one.budget or "400"

    def ended(self) -> None:
        """Move "fits me" after a game that ended without help."""
        table = self._play.table
        if table.result is None or self.helped:
            return
        self.helped = True
        if not self.fits or not (now := self._seated()).isdecimal():
            return
        self._step = fitted(int(now), table.result * self.me, len(self._offered))
        key = json.dumps(f"fits:{table.game.spec}")
        self._play.client.run_javascript(f"localStorage.setItem({key}, {self._step})")

    def _set_clock(self) -> None:
        minutes, increment, table = int(self._minutes.value), int(self._increment.value), self._play.table
        old = table.clock
        now = (minutes, increment) if minutes else (0, 0)
        if self._showing or now == ((old.seconds / 60, old.increment) if old else (0, 0)):
            return
        table.clock = Clock(60.0 * minutes, increment) if minutes else None
        self._play.changed()
