"""Levels of play of the shipped players, from beginner to full strength, with their measured Elo."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NamedTuple

from config import UserError
from storage.atomic_files import TEXT_BYTES, read_limited
from storage.run_folders import shipped_run

AS_MEASURED: dict[str, Any] = {"changes": {"endgame": 0}, "leaves": 1}
"""Search settings of levels' networks, both when measured and when playing: no solved endings, one leaf at a time."""
FILE = "levels.json"


class Level(NamedTuple):
    """A player and its strength."""

    player: str
    """In the grammar of all commands; `shipped` is the shipped network."""
    sims: int
    """Simulations per move of a network, 0 if the player's name says everything."""
    elo: float
    """Elo relative to `rollout:16`."""
    error: float
    """Half of the 95 % confidence interval of `elo`."""

    def __str__(self) -> str:
        how = f"{self.player}, {self.sims} simulations" if self.sims else self.player
        return f"{how}: Elo {self.elo:.0f} ±{self.error:.0f} over rollout:16"


def read_levels(spec: str) -> list[Level]:
    """Return a game's levels, weakest first; none where no player is shipped. Raise `UserError` for a bad file."""
    folder = shipped_run(spec)
    if folder is None or not (folder / FILE).exists():
        return []
    try:
        found = [_checked(row) for row in json.loads(read_limited(folder / FILE, TEXT_BYTES))["levels"]]
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
    """Return a level, counted from 1; raise `UserError` with the levels that exist."""
    found = read_levels(spec)
    if not 1 <= number <= len(found):
        there = f"level:1 to level:{len(found)}" if found else "none, for no player of it ships"
        raise UserError(f"expected a level of {spec} that there is ({there}), got level:{number}")
    return found[number - 1]
