"""On which board each game of a run of several sizes was played: a stage of each iteration says it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import games
from config import UserError
from game import Game
from storage.atomic_files import DamagedData
from storage.game_record import IMPORTED

SIZES = "sizes"
"""The stage, of facts {"games": [[number of the first game, name of its game], ...], "match": that of matches}."""


def facts_of(boards: Iterable[tuple[int, str]], match: str) -> dict[str, Any]:
    """Return the facts of the stage; `boards`: (number of the first game, name of the game) in order."""
    return {"games": [list(board) for board in boards], "match": match}


def facts_of_records(boards: Iterable[str], match: str) -> dict[str, Any]:
    """Return the facts of games that were played elsewhere, from the name of each one's game in order."""
    found: list[tuple[int, str]] = []
    for index, name in enumerate(boards):
        if not found or found[-1][1] != name:
            found.append((index, name))
    return facts_of(found, match)


def board_of(facts: str, index: int) -> str:
    """Return the name of a game's game from the facts of its iteration's stage.

    Of a match's game (a number below 0), and of imported ones whose board is not said, it is that of matches.
    """
    names, match = _boards(facts)
    among = [name for first, name in names if first <= index and (first < IMPORTED) == (index < IMPORTED)]
    return among[-1] if among else match


def with_imported(facts: str, boards: Iterable[tuple[int, str]]) -> dict[str, Any]:
    """Return the facts of an iteration's stage with those of games that were imported: (number of a game, its game)."""
    names, match = _boards(facts)
    found = list(names)
    for index, name in boards:
        if found[-1][0] < IMPORTED or found[-1][1] != name:
            found.append((index, name))
    return facts_of(found, match)


@lru_cache(maxsize=64)
def _boards(facts: str) -> tuple[tuple[tuple[int, str], ...], str]:
    try:
        found = json.loads(facts)
        return tuple((int(first), str(name)) for first, name in found["games"]), str(found["match"])
    except (ValueError, TypeError, KeyError, RecursionError):
        raise DamagedData("expected the sizes of an iteration's games, got something else") from None


class SizesPlayed:
    """The game of each stored game and match of a run."""

    def __init__(self, game: Game, stages: Iterable[tuple[Any, ...]]) -> None:
        """Read the rows of `stages` (iteration, stage, facts); `game`: the run's."""
        self._game = game
        self._facts = {row[0]: row[2] for row in stages if row[1] == SIZES}
        self._known = {each.spec: each for each in game.sizes}

    def game(self, iteration: int, index: int) -> Game:
        """Return the game of a stored game."""
        return self.named(board_of(self._facts[iteration], index)) if iteration in self._facts else self._game

    def match(self, iteration: int) -> Game:
        """Return the game of an iteration's matches."""
        return self.game(iteration, -1)

    def named(self, name: str) -> Game:
        """Return the game with this name, a size of the run's game; raise `UserError` for another game."""
        own = self._game.origin or self._game.name
        if not (name == own or name.startswith(f"{own}(")):
            raise UserError(f"expected a size of {self._game.spec}, got {ascii(name[:60])}")
        if name not in self._known:
            self._known[name] = games.make(name)
        return self._known[name]
