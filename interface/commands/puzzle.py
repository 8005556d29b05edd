"""Solve puzzles at the console."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from config import UserError
from interface.arguments import parse, whole
from interface.commands import show_compiling
from languages.translate import tr

if TYPE_CHECKING:
    from evaluation.puzzle_maker import PuzzleSource

EXAMPLES = {
    "python main.py puzzle": "puzzles of Connect 4, the easiest first",
    "python main.py puzzle --game gomoku --level hard": "of gomoku 9x9, the hard ones",
    "python main.py puzzle --number 12 --json": "one of them, with its solution, for programs",
}


@dataclass(frozen=True)
class Puzzle:
    """Solve puzzles at the console: positions with exactly one right move. `hint` helps in three steps."""

    game: str = "connect4"
    number: int | None = None
    """Begin with this puzzle; after those that ship more are made, always the same ones."""
    level: Literal["any", "easy", "medium", "hard"] = "any"
    """Only puzzles of this level."""
    json: bool = False
    """Print one puzzle with its solution as JSON."""


def run(argv: list[str]) -> int:
    args = parse(Puzzle, argv)
    import games
    from evaluation.game_contract import checked
    from evaluation.puzzle_maker import AHEAD, PuzzleSource
    from evaluation.puzzles import as_json

    source, level = PuzzleSource(checked(games.make(args.game))), "" if args.level == "any" else args.level
    number = whole(args.number, "number", 1, source.shipped + AHEAD) if args.number is not None else None
    first = _first(source, number, level)
    if args.json:
        found = source.get(first)
        print(json.dumps({"game": source.game.spec, "number": first} | (as_json(found, source.game) if found else {})))
        return 0
    from interface.puzzle_console import solve_puzzles

    return solve_puzzles(source, first, level)


def _first(source: PuzzleSource, number: int | None, level: str) -> int:
    """Return the number of the puzzle to begin with; raise `UserError` if there is none."""
    if number is None or number > source.shipped:
        show_compiling("search")
    if not source.shipped or (number or 0) > source.shipped:
        print(tr("Making a puzzle ..."), file=sys.stderr, flush=True)
    found = None if number is None else source.get(number)
    first = source.following(0, level) if number is None else number if found else None
    if found and level and found.level != level:
        raise UserError(f"expected the number of a puzzle that is {level}, number {number} is {found.level}")
    if first is None:
        wanted = f"puzzle {number}, {source.game.spec} has fewer"
        if number is None:
            wanted = f"{level or 'any'} puzzles, {source.game.spec} has none"
        there = f"{source.shipped} ship" if source.shipped else "none ships, and none was found by a solver"
        raise UserError(f"expected a game with {wanted} ({there})")
    return first
