"""What a drawn board shows of a search: a number on each move, the line that follows it."""

from __future__ import annotations

from typing import Any

from game import Game
from plugins.pictures.board_svg import Mark

MOST_LINES = 40
"""Moves whose line a drawing holds: half a kilobyte each."""
LONGEST_LINE = 12
"""Moves of a principal variation that are drawn."""


def overlay_of(found: dict[str, Any], kind: str) -> dict[int, Mark]:
    """Return the overlay of `board_svg`: N (share of the visits), P, Q or V; "none" is empty.

    found: the result of `explain.describe`. Moves without the number are left out.
    """
    moves, marks = found["moves"], {}
    if kind in ("N", "P"):
        key = "share" if kind == "N" else "P"
        largest = max([m[key] for m in moves], default=0) or 1.0
        for m in moves:
            if round(100 * m[key]) >= 1:
                marks[m["action"]] = Mark(m[key] / largest, f"{100 * m[key]:.0f}")
    elif kind in ("Q", "V"):
        for m in moves:
            if m[kind] is not None:
                marks[m["action"]] = Mark(m[kind], f"{m[kind]:+.2f}".replace("0.", ".").replace("1.00", "1"))
    return marks


def lines_of(found: dict[str, Any], game: Game) -> dict[int, list[int]]:
    """Return {move: its principal variation, itself first} of the most visited moves, for `board_svg`."""
    visited = [m for m in found["moves"][:MOST_LINES] if m["N"]]
    return {m["action"]: [game.parse_move(name) for name in m["pv"][:LONGEST_LINE]] for m in visited}
