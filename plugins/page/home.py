"""The first screen: games as tiles, in groups; what ships, in its sizes, and what the user trained or named."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from typing import Any

import games
from config import UserError
from evaluation.rating import wilson
from game import Game
from games.sizes import largest_of
from games.titles import title_of, titled
from languages.translate import LANGUAGES, chosen
from players.levels import boards_of, read_levels
from plugins.browser.known_boards import known_specs
from plugins.page.run_reader import game_spec, metrics, reading
from plugins.page.web_players import Roster
from plugins.pictures.board_grid import grid_of
from plugins.pictures.board_parts import board_parts
from storage import run_folders
from storage.run_folders import game_folder, runs_in

FIRST = "connect4", "tictactoe", "othello", "gomoku(size=15)", "hex", "go(komi=7,size=9)"
"""The games of the group "now"; those of the group "sizes" are the others for which a player ships."""
ONLY_RULES = "metasquares(size=8)", "metasquares"
"""Games that come with the program without a network."""


@cache
def shipped_boards() -> tuple[str, ...]:
    """Return the games for which a player ships, every size of a range, and those that come without a player."""
    return tuple(dict.fromkeys([*FIRST, *known_specs(), *ONLY_RULES]))


def address_of(spec: str) -> str:
    """Return the address of a game's page; the name in it is that of its folder of runs."""
    return f"/play/{game_folder(spec)}"


def in_languages(game: Game) -> dict[str, str]:
    """Return {language: a game's name}; your own game is called by its class."""
    found = {}
    for language in LANGUAGES:
        token = chosen.set(language)
        try:
            found[language] = game.name if game.origin else title_of(game.spec)
        finally:
            chosen.reset(token)
    return found


def tile(game: Game) -> dict[str, Any]:
    """Return a game's tile. No rule is compiled for it."""
    grid = grid_of(game.start())
    drawn = grid is not None
    return {
        "spec": game.spec,
        "name": in_languages(game),
        "url": address_of(game.spec),
        "drawing": board_parts(game) if drawn else None,
        "start": {"cells": [cell for row in grid.cells for cell in row]} if grid else None,
        "elo": None,
        "size": None,
        "yours": None,
    }


@cache
def _shipped_tile(spec: str) -> dict[str, Any]:
    found = tile(games.make(spec, typed=False))
    if spec in measured_boards():
        with suppress(UserError):
            found["elo"] = max((round(level.elo) for level in read_levels(spec)), default=None)
    return found


@cache
def measured_boards() -> frozenset[str]:
    """Return the games of the players that ship, on the boards that have levels."""
    found: set[str] = set()
    for folder in run_folders.folders_in(run_folders.SHIPPED):
        for run in runs_in(folder):
            with suppress(UserError):
                found.update(board.spec for board in boards_of(run))
    return frozenset(found)


def groups(roster: Roster) -> list[dict[str, Any]]:
    """Return the groups of tiles."""
    others = list(titled([spec for spec in shipped_boards() if spec not in FIRST]))
    return [
        {"key": "now", "tiles": [_shipped_tile(spec) for spec in FIRST]},
        {"key": "yours", "tiles": _yours(roster)},
        {"key": "sizes", "tiles": [_shipped_tile(spec) for spec in others]},
    ]


def _yours(roster: Roster) -> list[dict[str, Any]]:
    """Return the tiles of the games that the command line named and of those that the user trained, newest run each."""
    found: dict[str, dict[str, Any]] = {}
    for spec in roster.named:
        with suppress(UserError):
            game = largest_of(games.make(spec))
            if game.spec not in shipped_boards():
                found[game.spec] = tile(game)
    for folder in run_folders.folders_in(run_folders.RUNS):
        for run in reversed(runs_in(folder)):
            with suppress(UserError):
                spec = game_spec(run, roster.named)
                game = roster.find(spec)
                with reading(run) as store:
                    best = store.best()
                    version = best or store.newest().version
                if not version:
                    continue
                made = tile(game)
                made["yours"] = {"run": run.name, "version": version, "stronger_than": stronger_than(metrics(run))}
                made["url"] += f"?player={run.name}:{'best' if best else f'version{version:04}'}"
                found[game.spec] = made
                break
    return list(found.values())


def stronger_than(lines: list[dict[str, Any]]) -> str | None:
    """Return the strongest rollouts that a run's network was measured to beat, None if there are none.

    lines: of its metrics. A score counts if the lower end of its 95 % interval is above one half.

    >>> stronger_than([{"score_matches": [{"opponent": "rollout:16", "score": 0.9, "games": 16}]}])
    'rollout:16'
    """
    beaten: dict[int, str] = {}
    for line in lines[-10:]:
        for match in line.get("score_matches") or ():
            with suppress(TypeError, ValueError, KeyError, AttributeError):
                name = str(match["opponent"])
                sims = int(name.removeprefix("rollout:"))
                if wilson(float(match["score"]), int(match["games"]))[0] > 0.5:
                    beaten[sims] = f"rollout:{sims}"
    return beaten[max(beaten)] if beaten else None
