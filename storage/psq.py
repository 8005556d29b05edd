"""Records of Piskvork, .psq: a line with the board, then x,y,ms a line, counted from 1 at the top left, then others.

`Piskvorky 15x15, 11:11, 0` names columns and rows, what plays, and whether player 1 or 2 began (0 or 1). After the
moves come the players' names, if it was a tournament, a number such as -1, and in Gomocup's files `winner,division`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from config import UserError
from games.gomoku import rule_named

_HEAD = re.compile(r"Piskvorky\s+([0-9]{1,3})x([0-9]{1,3})\b(?:.*,\s*([01])\s*\Z)?", re.IGNORECASE)
_MOVE = re.compile(r"\s*([0-9]{1,3})\s*,\s*([0-9]{1,3})\s*(?:,\s*[0-9]{1,12}\s*)?\Z")
GAME = "gomoku"


class Sheet(NamedTuple):
    """The content of a file, before any of it is played."""

    size: int
    moves: list[tuple[int, int]]
    """(column, row), from 0"""
    players: tuple[str, str]
    rule: str
    """Of gomoku; "" where the file names none."""
    notes: tuple[str, ...]


def read(text: str) -> Sheet:
    """Return the content of a file; raise `UserError` with the number of a move that cannot be read."""
    head, *lines = text.strip().splitlines()
    found = _HEAD.match(head.strip())
    if found is None:
        raise UserError(f"expected a first line such as 'Piskvorky 15x15, 11:11, 0', got {head[:40]!r}")
    columns, rows, began = int(found[1]), int(found[2]), found[3]
    if rows != columns:
        raise UserError(f"expected a square board, got {columns} x {rows}")
    moves: list[tuple[int, int]] = []
    while len(moves) < len(lines) and (move := _MOVE.match(lines[len(moves)])):
        x, y = int(move[1]), int(move[2])
        if not (1 <= x <= columns and 1 <= y <= rows):
            raise UserError(f"move {len(moves) + 1}: expected x and y from 1 to {columns}, got {x},{y}")
        moves.append((x - 1, y - 1))
    rest = [line.strip() for line in lines[len(moves) :] if line.strip()]
    end = next((i for i, line in enumerate(rest) if re.fullmatch("-?[0-9]+", line)), len(rest))
    names, others = rest[:end], rest[end + 1 :]
    named = len(names) in (0, 2) and all(re.search(r"[^\W\d_]", name) for name in names)
    if not named or any(_MOVE.match(line) and line.count(",") == 2 for line in rest):
        raise UserError(f"move {len(moves) + 1}: expected x,y,ms, then the end of the moves, got {rest[0][:40]!r}")
    players = ["".join(c for c in name if c.isprintable())[:100] for name in names] or ["", ""]
    division = re.match("[0-2],([a-z]+)", others[0].lower()) if others else None
    rule = rule_named(division[1]) if division else ""
    notes = [f"left out: {' '.join(others)[:60]!r} after the moves"] if others else []
    return Sheet(columns, moves, (players[began == "1"], players[began != "1"]), rule, tuple(notes))
