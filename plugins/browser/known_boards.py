"""What is known of the boards of games that ship, so that nothing has to be compiled for this computer to make a page:
how the board is read from a game's planes, and which moves begin a game. `distribution/make_ready.py` writes it.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from config import has_range
from game import Game
from storage import run_folders
from storage.run_folders import read_config, runs_in
from system.reading import TEXT_BYTES, read_limited

FILE = Path(__file__).with_name("known_boards.json")


class KnownBoard(NamedTuple):
    """A board of a game."""

    stones: tuple[int, int, int]
    """As in `engine.Board`."""
    forbidden: bool
    legal: list[int]
    """The moves that may begin a game."""


@cache
def _known() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(read_limited(FILE, TEXT_BYTES))
    return found


def known_board(game: Game) -> KnownBoard | None:
    """Return what is known of a game's board; None for your own game, or one for which no player ships."""
    found = _known().get(game.spec) if not game.origin and game.set_up_from is None else None
    if found is None:
        return None
    own, other, planes, forbidden, legal = found
    return KnownBoard((own, other, planes), bool(forbidden), list(range(legal)) if isinstance(legal, int) else legal)


def known_specs() -> list[str]:
    """Return the names of the games whose boards are known."""
    return list(_known())


def boards_that_ship() -> list[str]:
    """Return the names of the games for which a player ships, every size of a range."""
    import games

    found = []
    for folder in sorted(run_folders.SHIPPED.iterdir()) if run_folders.SHIPPED.is_dir() else ():
        for run in runs_in(folder):
            spec = read_config(run).game
            found += [board.spec for board in games.make(spec, typed=False).sizes] if has_range(spec) else [spec]
    return list(dict.fromkeys(found))


def as_json(boards: dict[str, KnownBoard]) -> str:
    """Return the file's text, a board a line."""
    rows = []
    for spec, board in sorted(boards.items()):
        legal: Any = len(board.legal) if board.legal == list(range(len(board.legal))) else board.legal
        rows.append(f"{json.dumps(spec)}: {json.dumps([*board.stones, int(board.forbidden), legal])}")
    return "{\n" + ",\n".join(rows) + "\n}\n"
