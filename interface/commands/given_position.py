"""The position that a command begins with: after moves from the command line, or within a game from a file."""

from __future__ import annotations

from pathlib import Path

import games
from config import UserError
from evaluation import game_contract
from games.line_of_moves import after_moves
from games.sizes import largest_of
from interface.arguments import early, whole
from storage.game_files import Record, load_game


def begun(game: str, moves: str, file: str, argv: list[str], *, game_number: int, ply: int | None) -> Record:
    """Return the game after the moves of the command line, or after the first `ply` moves of a file.

    The game is the one that the file names, unless --game names one. Raises `UserError` if the game is over after them.
    """
    if not file:
        for name in ("ply", "game_number"):
            if early(argv, name) is not None:
                raise UserError(f"expected --load together with --{name.replace('_', '-')}: the file that it refers to")
        start = game_contract.checked(largest_of(games.make(game)))
        return _going_on(Record(start, start.parse_moves(moves)), "")
    if moves:
        raise UserError("expected --moves or --load, got both")
    named = game_contract.checked(games.make(game)) if early(argv, "game") is not None else None
    record = load_game(Path(file), game_number, named)
    if ply is not None:
        whole(ply, "ply", 0, len(record.moves))
        record = record.first_moves(ply)
    return _going_on(record, "; --ply N takes the first N moves of the file")


def _going_on(record: Record, remedy: str) -> Record:
    state = after_moves(record.game, record.moves)
    if record.moves and state.isEndGame:
        raise UserError(f"expected a position to play in, the game is over{remedy}\n{state.render()}")
    return record
