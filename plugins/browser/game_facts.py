"""What the page of one file needs to know of a game: names, board, texts, puzzles, thresholds, the first position."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from evaluation.puzzles import as_json, shipped_puzzles
from evaluation.review import ACCURACY, thresholds
from game import Game
from games.parameters import values_of
from games.titles import title_of
from interface.side_names import has_points, side_name
from languages.translate import LANGUAGES, catalogue, chosen
from players.levels import NAMES
from plugins.pictures.board_grid import grid_of
from plugins.pictures.board_parts import board_parts
from system.reading import TEXT_BYTES, read_limited

PAGE = Path(__file__).parent / "page"
SCRIPTS = (
    "words.js",
    "grid.js",
    "draw.js",
    "records.js",
    "client.js",
    "game.js",
    "analyse.js",
    "puzzles.js",
    "page.js",
)
"""The page's own scripts, in their order; the worker's is worker.js."""
_SAID = re.compile(r"""\b(?:tr|said)\(\s*"((?:[^"\\]|\\.)*)\"""")


def page_file(name: str) -> str:
    """Return the text of a file of the page."""
    return read_limited(PAGE / name, TEXT_BYTES).decode()


@cache
def page_texts() -> tuple[str, ...]:
    """Return the English texts of the page: those of its calls of `tr` and `said`, and the names of levels."""
    found = [text for name in (*SCRIPTS, "start.js") for text in _SAID.findall(page_file(name))]
    return tuple(dict.fromkeys((*found, *NAMES)))


def game_facts(game: Game) -> dict[str, Any]:
    """Return what the page needs to know of a game, as values for JSON."""
    start, (rows, columns) = game.start(), game.grid_shape
    grid = grid_of(start)
    if grid is None or game.policy_layout not in ("points", "columns"):
        raise TypeError(f"expected a game on points or columns with a board, got {game.spec}")
    actions = range(game.action_size)
    zh = catalogue("zh")
    limits = thresholds(game.spec)
    return {
        "spec": public_spec(game),
        "title": _in_languages(lambda: game.name if game.origin else title_of(game.spec)),
        "rules": _in_languages(lambda: game.aim),
        "look": game.look,
        "layout": game.policy_layout,
        "rows": rows,
        "columns": columns,
        "actionSize": game.action_size,
        "actionNames": [game.move_name(action) for action in actions],
        "setsUp": game.arranged is not None,
        "sideNames": _in_languages(lambda: [side_name(game, 1), side_name(game, -1)]),
        "winningLine": game.winning_line,
        "scored": has_points(game, start),
        "scoredByArea": game.scored_by_area,
        "sgf": _sgf(game),
        "thresholds": limits._asdict(),
        "accuracy": ACCURACY,
        "puzzles": [as_json(puzzle, game) for puzzle in shipped_puzzles(game)],
        "start": {
            "cells": [cell for row in grid.cells for cell in row],
            "player": start.playerTurn,
            "legal": [int(action) for action in start.allowedActions],
            "over": False,
            "result": None,
            "last": -1,
            "score": None,
        },
        "drawing": board_parts(game),
        "texts": {"zh": {text: zh[text] for text in page_texts() if text in zh}},
        "languages": LANGUAGES,
    }


def public_spec(game: Game) -> str:
    """Return a game's name for others: of your own game without the folders of its file."""
    return re.sub(r"^.*[/\\]", "", game.spec) if game.origin else game.spec


def _sgf(game: Game) -> dict[str, Any] | None:
    """Return what an SGF file says of a game; None where it has no such form."""
    if game.sgf_number is None:
        return None
    values = values_of(game)
    return {
        "number": game.sgf_number,
        "rule": str(values.get("rule", "")),
        "komi": f"{values['komi']:g}" if "komi" in values else "",
        "vertices": [game.vertex(action) for action in range(game.action_size)] if game.own_vertices else None,
    }


def _in_languages(say: Callable[[], Any]) -> dict[str, Any]:
    """Return {language: what a function says in it}."""
    found = {}
    for language in LANGUAGES:
        token = chosen.set(language)
        try:
            found[language] = say()
        finally:
            chosen.reset(token)
    return found
