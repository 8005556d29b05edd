"""Runs of several sizes whose network plays a game that has no run of its own."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import games
from config import UserError, has_range
from game import Game
from games.parameters import values_of
from games.sizes import BOARD, families, family
from storage import run_folders
from storage.run_folders import game_folder, read_config, runs_of, settings_of


def family_runs(game: Game, root: Path | None = None) -> list[Path]:
    """Return the folders of all runs whose network plays a game on boards of any size, the nearest rules last.

    Games of one name and one set of words as parameters are near, those whose numbers (a komi) differ least nearest.
    Of equally near ones the newest is last. root: the user's runs, or the folder of those that ship.
    """
    own = [folder for name in families(game) for folder in runs_of(name, root)]
    found = [(0.0, folder) for folder in own]
    base = root or run_folders.RUNS
    if not game.origin and base.is_dir():
        for place in sorted(base.glob(f"{game_folder(game.name)}-*many*")):
            for folder in run_folders.runs_in(place):
                far = _distance(game, folder) if folder not in own else None
                found += [(far, folder)] if far is not None else []
    return [folder for _, folder in sorted(found, key=lambda each: -each[0])]


def _distance(game: Game, folder: Path) -> float | None:
    """Return how far the numbers of a run's rules are from a game's; None if its network cannot play the game."""
    with suppress(UserError):
        spec = read_config(folder).game
        if not has_range(spec) or game_folder(spec) != folder.parent.name or family(spec).split("(")[0] != game.name:
            return None
        other = games.make(spec, typed=False)
        mine, theirs = _rules(game), _rules(other)
        same = [key for key, value in mine.items() if not isinstance(value, float)]
        if type(other) is type(game) and all(mine[key] == theirs[key] for key in same):
            return sum(abs(float(mine[key]) - float(theirs[key])) for key in mine if key not in same)
    return None


def _rules(game: Game) -> dict[str, int | float | str]:
    """Return all parameters of a game but its board."""
    return {name: value for name, value in values_of(game).items() if name not in BOARD}


def family_run(game: Game, number: int | None = None, root: Path | None = None) -> Path | None:
    """Return such a run of the user's, 0: one that ships; the one with a number, or the best to play with; or None."""
    found = family_runs(game, run_folders.SHIPPED if number == 0 else root)
    if number:
        found = [folder for folder in found if int(folder.name[3:]) == number]
    trained = [folder for folder in found if is_trained_on(settings_of(folder).game, game)]
    return next(reversed(trained or found), None)


def plays(spec: str, game: Game) -> bool:
    """Return whether a run of the game with this name learns a network for the board of another one."""
    return has_range(spec) and spec.split("(")[0] == game.spec.split("(")[0]


def is_trained_on(spec: str, game: Game) -> bool:
    """Return whether the board of a game is one of those in a range."""
    return any(each.grid_shape == game.grid_shape for each in games.make(spec, typed=bool(game.origin)).sizes)


def note(spec: str, game: Game) -> str:
    """Return what a player should know of such a network: what it was trained on."""
    more = "" if is_trained_on(spec, game) else ", not on this board"
    return f"{game.spec}: a network of many sizes plays, trained on {spec}{more}"
