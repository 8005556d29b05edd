"""The person's own games, kept in the browser (localStorage), so that an unfinished game can be resumed.

A game is kept from the person's first move in Play on, after each move. The server keeps nothing; what a browser sends
is read like any file from elsewhere, and what is none of ours is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from config import UserError
from plugins.page import tab_address
from plugins.page.game_menu import read_record
from storage.game_files import PERSON, Record, to_bytes

MOST, LONGEST, LARGEST = 60, 20_000, 300_000
"""Games that are kept, characters of one, and of all."""
NUMBER = re.compile("[0-9a-f]{8}", re.ASCII)
"""The number of a game, as `Table.number`."""


class Own(NamedTuple):
    """A game that a browser kept."""

    number: str
    record: Record
    seats: dict[str, str]
    """Who sat there, as in the address (`tab_address.kept`)."""


class OwnGames:
    """What a tab keeps; it belongs to the view of the board."""

    def __init__(self, play: Any) -> None:
        self._play = play
        self._number = ""
        """The game at the table in which a person has moved."""
        self._kept = ""

    def begin(self) -> None:
        """The game at the table is the person's: a person moved in Play, or it is one that was kept."""
        self._number = self._play.table.number

    @property
    def in_address(self) -> str:
        """The number of the game at the table if it is the person's, else ""."""
        return self._number if self._number == self._play.table.number else ""

    def found_in(self, query: Mapping[str, str]) -> None:
        """Resume the person's game that the address names; what is kept of it stays until there is another move."""
        if NUMBER.fullmatch(query.get("own", "")):
            self._number = self._play.table.number = query["own"]
            self._kept = self._file()

    @property
    def unfinished(self) -> bool:
        """Whether the game at the table, or the one left for a try, is the person's and not over."""
        table = self._play.table
        if table.left is not None and table.left.number == self._number:
            return table.left.result is None
        return table.number == self._number and table.result is None

    def keep(self) -> None:
        """Keep the game at the table as it is now, in Play; a position in Analyse is none of the game's."""
        play, table = self._play, self._play.table
        if play.mode != "play" or table.number != self._number:
            return
        file = self._file()
        if file != self._kept and len(file) <= LONGEST:
            entry = {"number": table.number, "file": file, "seats": tab_address.seats_of(table)}
            given = f"{json.dumps(entry)}, {json.dumps(self._kept)}, {MOST}, {LARGEST}"
            play.client.run_javascript(f"ownGames.keep({given})")
            self._kept = file

    def _file(self) -> str:
        """Return the game at the table as the content of a file."""
        return to_bytes(self._play.table.record(), ".json").decode()

    def resume(self, own: Own) -> None:
        """Resume an unfinished game against the same opponent; show a finished one in Analyse."""
        play, table = self._play, self._play.table
        play.open_record(own.record, {})
        if own.record.result is None:
            table.resume(own.number)
            tab_address.seat(table, own.seats, play.roster.players(table.game.spec))
            self.begin()
            play.opponents.found_in({})
            play.opponents.helped = True
            play.refresh_players()
            play.set_mode("play")
            play.changed()


def read_own(text: Any, named: tuple[str, ...] = ()) -> list[Own]:
    """Return the games that a browser kept, newest first; named: see `read_record`."""
    try:
        found = json.loads(text) if isinstance(text, str) and len(text) <= LARGEST else []
    except (ValueError, RecursionError):
        found = []
    entries = [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []
    return [own for entry in entries[:MOST] if (own := _own(entry, named)) is not None]


def _own(entry: dict[str, Any], named: tuple[str, ...]) -> Own | None:
    number, file, seats = entry.get("number"), entry.get("file"), entry.get("seats")
    if not (isinstance(number, str) and NUMBER.fullmatch(number) and isinstance(file, str) and len(file) <= LONGEST):
        return None
    held = seats if isinstance(seats, dict) else {}
    sides = {side: str(held.get(side, PERSON))[:100] for side in tab_address.SIDES}
    try:
        return Own(number, read_record(file.encode(errors="replace"), ".json", ["", *named]), sides)
    except UserError:
        return None
