"""Levels of play of the players that ship, from beginner to full strength, with their measured Elo."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NamedTuple

from config import UserError
from storage.run_folders import shipped_run

AS_MEASURED: dict[str, Any] = {"changes": {"endgame": 0}, "leaves": 1}
"""How networks of levels search, when they are measured and when they play: without solved endings, leaf by leaf."""
FILE = "levels.json"


class Level(NamedTuple):
    """A player and its strength."""

    player: str
    """In the grammar of all commands; `shipped` is the network."""
    sims: int
    """Simulations a move of a network, 0 where the player's name says all."""
    elo: float
    """Over `rollout:16`."""
    error: float
    """Half of its 95 % interval."""

    def __str__(self) -> str:
        how = f"{self.player}, {self.sims} simulations" if self.sims else self.player
        return f"{how}: Elo {self.elo:.0f} ±{self.error:.0f} over rollout:16"


def read_levels(spec: str) -> list[Level]:
    """Return the levels of a game, the weakest first; none where no player ships. Raise `UserError` for a bad file."""
    folder = shipped_run(spec)
    if folder is None or not (folder / FILE).exists():
        return []
    try:
        found = [_checked(row) for row in json.loads((folder / FILE).read_text(encoding="utf-8"))["levels"]]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise UserError(f"{folder / FILE}: expected levels of play, got {type(error).__name__}") from None
    return sorted(found, key=lambda level: level.elo)


def _checked(row: dict[str, Any]) -> Level:
    level = Level(str(row["player"]), int(row["sims"]), float(row["elo"]), float(row["error"]))
    if not (math.isfinite(level.elo) and math.isfinite(level.error) and 0 <= level.sims <= 60_000):
        raise ValueError(row)
    if level.player.startswith("level:"):
        raise ValueError("a level is not another level")
    if re.search("gtp:|book:", level.player, re.IGNORECASE):
        raise ValueError("a level starts no program and opens no file")
    return level


def find_level(spec: str, number: int) -> Level:
    """Return a level, counted from 1; raise `UserError` saying which there are."""
    found = read_levels(spec)
    if not 1 <= number <= len(found):
        there = f"level:1 to level:{len(found)}" if found else "none, for no player of it ships"
        raise UserError(f"expected a level of {spec} that there is ({there}), got level:{number}")
    return found[number - 1]
