"""Levels of play of the shipped players, by name from beginner to full strength, with their measured Elo."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any, NamedTuple

import games
from config import UserError, has_range
from game import Game
from games.sizes import sizes_of
from players.runs_of_many_sizes import family_run
from storage.run_folders import read_config, shipped_run
from system.reading import TEXT_BYTES, read_limited

AS_MEASURED: dict[str, Any] = {"changes": {"endgame": 0, "forced_wins": 0}, "leaves": 1}
"""Search settings of levels' networks, when measured and when playing: no solved endings, no forced wins, one leaf at a
time."""
FILE = "levels.json"
TEXTS = NAMES = (
    "Beginner", "Novice", "Learner", "Casual", "Regular", "Club", "Strong", "Advanced", "Expert", "Master",
)  # fmt: skip
"""Names of levels, weakest first; most games leave some out."""
MORE_NAMES = "Advanced", "Learner", "Regular"
"""Those of more than seven levels, in the order in which they are needed."""
USUAL = len(NAMES) - len(MORE_NAMES)
"""Levels of a game in which the beginner is not very far from the master."""
NETWORKS = "net:shipped", "shipped"
"""Players whose moves may have a temperature: the shipped network without and with a search."""


class Level(NamedTuple):
    """A player and its strength."""

    player: str
    """In the grammar of all commands; `shipped` is the shipped network, `net:shipped` the same without a search."""
    sims: int
    """Simulations per move of a network, 0 if the player's name says everything."""
    elo: float
    """Elo relative to random moves."""
    error: float
    """Half of the 95 % confidence interval of its distance to the level below, of the lowest to random moves."""
    temperature: float = 0.0
    """Of the network's choice of a move, see players/tempered.py; 0: the best move by priors or visits."""
    name: str = ""
    """One of NAMES, or none."""
    slips: float = 0.0
    """Share of moves that are drawn from all that are allowed, of a network without a search."""

    @property
    def how(self) -> str:
        """Return what moves: the player's name, its simulations, its temperature, its slips."""
        sims = f", {self.sims} simulations" if self.sims else ""
        temperature = f", temperature {self.temperature:g}" if self.temperature else ""
        return f"{self.player}{sims}{temperature}" + (f", {self.slips:.0%} of moves at random" if self.slips else "")

    def __str__(self) -> str:
        return f"{self.name + ': ' if self.name else ''}Elo {self.elo:.0f} ±{self.error:.0f} ({self.how})"


class LevelsFile(NamedTuple):
    """Levels of play, and how they were measured."""

    levels: list[Level]
    """Weakest first."""
    anchor: str
    """The player whose Elo is 0."""
    games: int
    """Of each pair of neighbours, at least."""


def names_of(count: int) -> list[str]:
    """Return the names of `count` levels, weakest first.

    >>> names_of(3), names_of(1)
    (['Beginner', 'Club', 'Master'], ['Master'])
    """
    more = MORE_NAMES[: max(count - USUAL, 0)]
    names = [name for name in NAMES if name in more or name not in MORE_NAMES]
    if count < 2:
        return names[len(names) - count :]
    return [names[round(i * (len(names) - 1) / (count - 1))] for i in range(count)]


def read_levels(spec: str) -> list[Level]:
    """Return a game's levels, weakest first; none where they were not measured. Raise `UserError` for a bad file."""
    run = levels_run(spec)
    file = file_on(run, games.make(spec, typed=False)) if run is not None else None
    return read_file(file).levels if file is not None and file.exists() else []


def read_file(file: Path) -> LevelsFile:
    """Return what a file of levels in a shipped run holds; raise `UserError` for a bad one."""
    try:
        found = json.loads(read_limited(file, TEXT_BYTES))
        levels = sorted((_checked(row) for row in found["levels"]), key=lambda level: level.elo)
        return LevelsFile(levels, str(found.get("anchor", "")), int(found.get("games", 0)))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        raise UserError(f"{file}: expected levels of play, got {type(error).__name__}") from None


def levels_run(spec: str) -> Path | None:
    """Return the shipped run of a game: its own, or that of several sizes of which it is one."""
    if own := shipped_run(spec):
        return own
    run = _of_many_sizes(spec)
    return run if run is not None and spec in [board.spec for board in _boards(run)] else None


def file_on(run: Path, board: Game, name: str = FILE) -> Path:
    """Return the file of a board in a shipped run: of the largest board `levels.json`, of others `levels_9x9.json`."""
    rows, columns = board.grid_shape
    largest = games.make(read_config(run).game, typed=False).grid_shape
    return run / (name if board.grid_shape == largest else name.replace(".", f"_{rows}x{columns}."))


def boards_of(run: Path) -> list[Game]:
    """Return the boards on which a shipped run has levels, the largest first."""
    return [board for board in reversed(_boards(run)) if file_on(run, board).exists()]


def other_boards(spec: str) -> list[str]:
    """Return the boards on which the network that plays a game has levels."""
    run = shipped_run(spec) or _of_many_sizes(spec)
    return [board.spec for board in boards_of(run)] if run is not None else []


def _of_many_sizes(spec: str) -> Path | None:
    """Return the shipped run of several sizes whose network plays a game, also one with other numbers in its rules."""
    if has_range(spec) or ".py" in spec or ":" in spec:
        return None
    return family_run(games.make(spec, typed=False), 0)


def _boards(run: Path) -> tuple[Game, ...]:
    return sizes_of(games.make(read_config(run).game, typed=False))


def _checked(row: dict[str, Any]) -> Level:
    numbers = float(row["elo"]), float(row["error"]), float(row.get("temperature", 0))
    level = Level(str(row["player"]), int(row["sims"]), *numbers, str(row.get("name", "")), float(row.get("slips", 0)))
    if not (all(map(math.isfinite, numbers)) and 0 <= level.sims <= 60_000 and 0 <= level.temperature <= 100):
        raise ValueError(row)
    if level.temperature and level.player not in NETWORKS:
        raise ValueError("only a network's moves have a temperature")
    if not 0 <= level.slips <= 1 or level.slips and not (level.player == NETWORKS[0] and level.temperature):
        raise ValueError("only a network without a search slips, and draws its other moves with a temperature")
    if level.player in NETWORKS and (level.sims > 0) != (level.player == "shipped"):
        raise ValueError("a network searches with simulations")
    if level.name not in ("", *NAMES):
        raise ValueError("a level has one of the names")
    if level.player.startswith("level:"):
        raise ValueError("a level is not another level")
    if re.search("gtp:|gomocup:|book:", level.player, re.IGNORECASE):
        raise ValueError("a level starts no program and opens no file")
    return level


def find_level(spec: str, number: int) -> Level:
    """Return a level, counted from 1; raise `UserError` with the levels that exist."""
    return read_levels(spec)[level_number(spec, str(number)) - 1]


def level_number(spec: str, text: str) -> int:
    """Return the number, from 1, of a level by its number or its name; raise `UserError` with those that exist."""
    found = read_levels(spec)
    for number, level in enumerate(found, 1):
        if text.lower() in (str(number), level.name.lower() or None):
            return number
    names = "".join(f", level:{level.name.lower()}" for level in found if level.name)
    there_are = f"none; there are some of {' and '.join(others)}" if (others := other_boards(spec)) else ""
    none = there_are or "none, for no player of it ships"
    there = f"level:1 to level:{len(found)}{names}" if found else none
    raise UserError(f"expected a level of {spec} that there is ({there}), got level:{text}")
