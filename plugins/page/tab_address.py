"""The state in a tab's address: the game, its moves, its seats, a resignation; a reload restores it."""

from __future__ import annotations

import json
import time
from collections.abc import Container, Mapping
from typing import Any

from plugins.page.table import Table
from plugins.page.web_players import has_level, levels_of

SIDES = {"first": 1, "second": -1}
_PUT = (
    "const place = new URL(location); for (const [name, value] of Object.entries({}))"
    " value ? place.searchParams.set(name, value) : place.searchParams.delete(name);"
    " history.replaceState(history.state, '', place)"
)


def kept(table: Table) -> dict[str, str]:
    """Return {key: value} of a table; seats are player@level, if a level can be chosen.

    resigned: the side that did, with ",late" if its time was up. clock: see `Clock.text`.
    """
    seats = seats_of(table)
    given = "" if table.resigned is None else next(key for key, side in SIDES.items() if side == table.resigned)
    given += ",late" if given and table.late else ""
    seats["clock"] = table.clock.text(time.monotonic()) if table.clock else ""
    if table.game.set_up_from is not None:  # an address holds moves only
        return {"game": table.game.spec, "moves": "", **seats, "resigned": ""}
    return {"game": table.game.spec, "moves": table.game.format_moves(table.moves), **seats, "resigned": given}


def seats_of(table: Table) -> dict[str, str]:
    """Return {first or second: player@level, or the player if no level can be chosen}."""
    return {
        key: table.seats[side] + (f"@{table.levels[side]}" if has_level(table.seats[side]) else "")
        for key, side in SIDES.items()
    }


def script(values: Mapping[str, str]) -> str:
    """Return the script that writes them into the browser's address."""
    return _PUT.format(json.dumps(values))


def seat(table: Table, query: Mapping[str, str], offered: Container[str]) -> bool:
    """Seat the players that the address names, if they are offered; return whether both are."""
    found: dict[int, tuple[str, str]] = {}
    for key, side in SIDES.items():
        name, _, level = query.get(key, "").partition("@")  # no name of a player here has an @
        if name in offered:
            found[side] = name, level if level in levels_of(name) else "400"
    if len(found) < len(SIDES):
        return False
    table.seats = {side: name for side, (name, _) in found.items()}
    table.levels = {side: level for side, (_, level) in found.items()}
    return True


def give_up(table: Table, query: Mapping[str, Any]) -> None:
    """Let the side resign that resigned in the address."""
    name, _, late = str(query.get("resigned")).partition(",")
    if name in SIDES:
        table.resign(SIDES[name], late=late == "late")


def restore(play: Any, query: Mapping[str, str], found: str | None) -> None:
    """Set the view of the board to what an address holds; found: the game that it names, None if there is none."""
    table = play.table
    unknown = bool(query.get("game")) and not found
    loaded = bool(query.get("moves")) and not unknown and play.do(table.load_text, query["moves"])
    if found and seat(table, query, play.roster.players(found)):
        play.opponents.found_in(query)  # after the moves, as another game has a full clock
        play.refresh_players()
    if unknown:
        play.sheet.leave_address()
        named = f"expected a game that is offered here, got {query['game'][:60]}"
        play.tell(f"{named}: `python main.py serve --game` names it")
    elif loaded:
        give_up(table, query)
        play.own.found_in(query)
        table.paused = play.mode != "play" or not play.own.in_address  # the opponent of a person's own game plays on
        play.opponents.helped = True  # whether it was without help until then is not in the address
