"""What a tab's address keeps: the game, its moves, who sits where, who gave up; loaded anew the tab shows it again."""

from __future__ import annotations

import json
from collections.abc import Container, Mapping
from typing import Any

from interface.web.table import Table
from interface.web.web_players import has_level, levels_of

KEYS = "game", "moves", "first", "second", "resigned"
SIDES = {"first": 1, "second": -1}
_PUT = (
    "const place = new URL(location); for (const [name, value] of Object.entries({}))"
    " value ? place.searchParams.set(name, value) : place.searchParams.delete(name);"
    " history.replaceState(history.state, '', place)"
)


def kept(table: Table) -> dict[str, str]:
    """Return {key: value} of a table; seats are player@level, where a level can be chosen."""
    seats = {
        key: table.seats[side] + (f"@{table.levels[side]}" if has_level(table.seats[side]) else "")
        for key, side in SIDES.items()
    }
    given = "" if table.resigned is None else next(key for key, side in SIDES.items() if side == table.resigned)
    return {"game": table.game.spec, "moves": table.game.format_moves(table.moves), **seats, "resigned": given}


def script(values: Mapping[str, str]) -> str:
    """Return what puts them into the address of the browser."""
    return _PUT.format(json.dumps(values))


def seat(table: Table, asked: Mapping[str, str], offered: Container[str]) -> bool:
    """Seat who the address names, as far as they are offered; return whether both are."""
    found: dict[int, tuple[str, str]] = {}
    for key, side in SIDES.items():
        name, _, level = asked.get(key, "").partition("@")  # no name of a player here has one
        if name in offered:
            found[side] = name, level if level in levels_of(name) else "400"
    if len(found) < len(SIDES):
        return False
    table.seats = {side: name for side, (name, _) in found.items()}
    table.levels = {side: level for side, (_, level) in found.items()}
    return True


def give_up(table: Table, asked: Mapping[str, Any]) -> None:
    """Let the side resign that did."""
    side = SIDES.get(str(asked.get("resigned")))
    if side is not None:
        table.resign(side)
