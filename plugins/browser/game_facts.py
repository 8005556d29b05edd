"""What the page of one file needs to know of a game: names, board, texts, puzzles, thresholds, the first position."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from evaluation.puzzles import puzzles_in_file
from evaluation.review import ACCURACY, thresholds
from game import Game
from games.parameters import values_of
from games.titles import title_of
from interface.side_names import has_points, side_name
from languages.translate import LANGUAGES, catalogue, chosen
from players.levels import NAMES
from plugins.browser.known_boards import known_board
from plugins.pictures.board_grid import grid_of
from plugins.pictures.board_parts import board_parts
from system.reading import TEXT_BYTES, read_limited

PAGE = Path(__file__).parent / "page"
SCRIPTS = (
    "words.js",
    "parts.js",
    "picture.js",
    "grid.js",
    "draw.js",
    "records.js",
    "client.js",
    "game.js",
    "why.js",
    "analyse.js",
    "tree.js",
    "counting.js",
    "endings.js",
    "puzzles.js",
    "learn.js",
    "page.js",
)
"""The page's own scripts, in their order; the worker's is worker.js."""
START_SCRIPTS = "words.js", "picture.js", "start.js"
"""The scripts of a site's start page."""
_SAID = re.compile(r"""\b(?:tr|said)\(\s*"((?:[^"\\]|\\.)*)\"""")


def page_file(name: str) -> str:
    """Return the text of a file of the page."""
    return read_limited(PAGE / name, TEXT_BYTES).decode()


@cache
def page_texts() -> tuple[str, ...]:
    """Return the English texts of the page, and the names of levels."""
    return (*texts_in([page_file(name) for name in (*SCRIPTS, *START_SCRIPTS)]), *NAMES)


def texts_in(scripts: Iterable[str]) -> tuple[str, ...]:
    """Return the English texts of scripts: those of their calls of `tr` and `said`."""
    return tuple(dict.fromkeys(text for source in scripts for text in _SAID.findall(source)))


def translated(texts: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return {language: {English text: text}} of the languages other than English."""
    return {
        one: {text: catalogue(one)[text] for text in texts if text in catalogue(one)}
        for one in LANGUAGES
        if one != "en"
    }


def game_facts(game: Game) -> dict[str, Any]:
    """Return what the page needs to know of a game, as values for JSON."""
    start, (rows, columns) = game.start(), game.grid_shape
    grid = grid_of(start)
    if grid is None:  # its positions are shown as text
        rows = columns = 0
    actions = range(game.action_size)
    limits = thresholds(game.spec)
    known = known_board(game)
    return {
        "spec": public_spec(game),
        "title": _in_languages(lambda: game.name if game.origin else title_of(game.spec)),
        "rules": _in_languages(lambda: game.aim),
        "look": game.look if grid is not None else "text",
        "layout": game.policy_layout,
        "rows": rows,
        "columns": columns,
        "actionSize": game.action_size,
        "actionNames": [game.move_name(action) for action in actions],
        "setsUp": game.arranged is not None and grid is not None,
        "sideNames": _in_languages(lambda: [side_name(game, 1), side_name(game, -1)]),
        "winningLine": game.winning_line,
        "scored": has_points(game, start),
        "scoredByArea": game.scored_by_area,
        "resumes": game.scored_by_area and game.resumed(start) is not None,
        "sgf": _sgf(game),
        "thresholds": limits._asdict(),
        "puzzles": puzzles_in_file(game),
        "accuracy": ACCURACY,
        "start": {
            "cells": [cell for row in grid.cells for cell in row] if grid is not None else [],
            "player": start.playerTurn,
            "legal": known.legal if known else [int(action) for action in start.allowedActions],
            "over": False,
            "result": None,
            "last": -1,
            "score": None,
        }
        | ({"text": start.render()} if grid is None else {}),
        "drawing": board_parts(game) if grid is not None else None,
        "texts": translated(page_texts()),
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
