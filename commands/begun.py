"""The game that a command begins with: moves from the command line or from a file."""

from __future__ import annotations

from pathlib import Path

import games
from arguments import early
from config import UserError
from records import Record, load


def begun(game: str, moves: str, file: str, argv: list[str]) -> Record:
    """Return the moves of the command line or of a file; the file tells the game unless one is named."""
    if not file:
        named = games.make(game)
        return Record(named, named.parse_moves(moves))
    if moves:
        raise UserError("expected --moves or --load, got both")
    return load(Path(file), games.make(game) if early(argv, "game") is not None else None)
