"""Puzzles: positions with exactly one right move, the line that solves them, and what is wrong with each other move.

A puzzle holds all that it takes to be solved, so neither a solver nor a search is needed while somebody tries it.
`puzzle_maker.py` finds them; those that ship are in puzzle_sets/, a file for each game.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import games
from config import UserError
from game import Game, GameState, illegal_move
from games.line_of_moves import after_moves
from storage.run_folders import game_folder
from system.reading import TEXT_BYTES, read_limited

SETS = Path(__file__).parent / "puzzle_sets"
WIN, FAST, ONLY, DRAW = "win", "fast", "only", "draw"
KINDS = (WIN, FAST, ONLY, DRAW)
"""WIN: the only winning move, a win by force of a few moves. FAST: the only move that wins by force within so many
moves; nobody knows whether another wins later. ONLY: the only winning move, the win takes longer. DRAW: the only move
that does not lose."""
LOSES, DRAWS, HOLDS, SLOW = "loses", "draws", "holds", "slow"
OUTCOMES = (LOSES, DRAWS, HOLDS, SLOW)
"""What a wrong move leads to, for who made it. HOLDS: the other side averts the win that there was; SLOW: it does not
win at once, where another does."""
LEVELS = ("easy", "medium", "hard")


class Refutation(NamedTuple):
    """What answers some wrong moves."""

    outcome: str
    line: tuple[int, ...]
    """The moves after the wrong one, the other side's first; empty if the game is over."""
    moves: tuple[int, ...] = ()
    """The wrong moves; empty: all that no other refutation names."""


@dataclass(frozen=True)
class Puzzle:
    """A position with one right move."""

    game: str
    moves: tuple[int, ...]
    """The moves from the start to the position."""
    kind: str
    plies: int
    """Plies of the win by force, the first and the last move included; 0 where it is longer or there is none."""
    line: tuple[int, ...]
    """Best play from the position: the right move, the reply, and so on."""
    asked: int
    """Plies of the line that are to be played, odd: at each own move on them there is one right one, but at the end of
    a win any move that wins at once will do."""
    refutations: tuple[tuple[Refutation, ...], ...]
    """For each own move that is asked, what answers the wrong ones."""
    missed: float = 0.0
    """Share of the weak players that miss the first move."""
    level: str = LEVELS[0]

    @property
    def length(self) -> int:
        """Number of own moves of the win, 0 where it is longer or there is none."""
        return (self.plies + 1) // 2

    def refutation(self, step: int, action: int) -> Refutation | None:
        """Return what answers a wrong move, the `step`-th of the asked ones from 0."""
        found = self.refutations[step] if step < len(self.refutations) else ()
        return next((r for r in found if action in r.moves), next((r for r in found if not r.moves), None))


class Answer(NamedTuple):
    """The result of a move in a puzzle."""

    right: bool
    solved: bool
    reply: int | None = None
    """The other side's move, played already, after a right one."""
    refutation: Refutation | None = None
    """After a wrong one, which is not played."""


class Attempt:
    """A puzzle that somebody is solving."""

    def __init__(self, puzzle: Puzzle, game: Game | None = None) -> None:
        self.puzzle, self.game = puzzle, game or games.make(puzzle.game)
        self.begin()

    def begin(self) -> None:
        """Go back to the first position."""
        self.state: GameState = after_moves(self.game, self.puzzle.moves)
        self.played: list[int] = []
        """The moves from the puzzle's position to here."""
        self.hints = self.errors = 0

    @property
    def solved(self) -> bool:
        return len(self.played) >= self.puzzle.asked

    @property
    def wanted(self) -> int:
        """The right move here."""
        return self.puzzle.line[len(self.played)]

    @property
    def clean(self) -> bool:
        """Whether neither a hint nor a wrong move was needed so far."""
        return not self.hints and not self.errors

    def answer(self, action: int) -> Answer:
        """Play a move if it is right; raise `UserError` if it is not legal, with the legal ones."""
        if self.solved:
            raise UserError("expected a puzzle that is not solved yet")
        if action not in self.state.allowedActions:
            raise UserError(illegal_move(self.game, self.state, action).splitlines()[0])
        after = self.state.takeAction(action)[0]
        wins = after.isEndGame and after.value * after.playerTurn * self.state.playerTurn >= 1.0
        last = len(self.played) + 1 == len(self.puzzle.line)
        if action != self.wanted and not (wins and last):
            self.errors += 1
            return Answer(False, False, refutation=self.puzzle.refutation(len(self.played) // 2, action))
        self._play(action, after)
        if self.solved or after.isEndGame:
            self.played += self.puzzle.line[len(self.played) : self.puzzle.asked]
            return Answer(True, True)
        reply = self.puzzle.line[len(self.played)]
        self._play(reply, self.state.takeAction(reply)[0])
        return Answer(True, False, reply)

    def _play(self, action: int, after: GameState) -> None:
        self.state = after
        self.played.append(action)

    @property
    def rest(self) -> tuple[int, ...]:
        """The moves of best play after those that were asked."""
        return self.puzzle.line[self.puzzle.asked :]


# ---- files


def as_json(puzzle: Puzzle, game: Game) -> dict[str, Any]:
    """Return a puzzle as values for a file: moves by their names."""

    def named(moves: Iterable[int]) -> str:
        return " ".join(map(game.move_name, moves))

    wrong = [[[r.outcome, named(r.line), named(r.moves)] for r in step] for step in puzzle.refutations]
    return {
        "moves": named(puzzle.moves), "kind": puzzle.kind, "plies": puzzle.plies,
        "line": named(puzzle.line), "asked": puzzle.asked, "missed": round(puzzle.missed, 2),
        "level": puzzle.level, "wrong": wrong,
    }  # fmt: skip


def from_json(found: dict[str, Any], game: Game) -> Puzzle:
    """Return the puzzle in a file; raise an error of any kind if it is none."""

    def read(text: str) -> list[int]:
        return [game.parse_move(name) for name in text.split()]

    wrong = tuple(
        tuple(Refutation(outcome, tuple(read(line)), tuple(read(moves))) for outcome, line, moves in step)
        for step in found["wrong"]
    )  # fmt: skip
    puzzle = Puzzle(
        game.spec, tuple(read(found["moves"])), found["kind"], int(found["plies"]), tuple(read(found["line"])),
        int(found["asked"]), wrong, float(found["missed"]), found["level"],
    )  # fmt: skip
    good = puzzle.kind in KINDS and puzzle.level in LEVELS and puzzle.asked % 2 == 1 and len(wrong) == (
        puzzle.asked + 1) // 2 and all(r.outcome in OUTCOMES for step in wrong for r in step)  # fmt: skip
    if not good or not 0 < puzzle.asked <= len(puzzle.line):
        raise ValueError("expected a puzzle")
    after_moves(game, [*puzzle.moves, *puzzle.line])
    return puzzle


def set_file(spec: str) -> Path:
    """Return the file of a game's puzzles that ship, whether it exists or not."""
    return SETS / f"{game_folder(spec)}.json"


def write_set(game: Game, puzzles: Iterable[Puzzle]) -> str:
    """Return the text of a file of puzzles, a line for each."""
    lines = ",\n".join(json.dumps(as_json(puzzle, game), separators=(",", ":")) for puzzle in puzzles)
    return f'{{"game": {json.dumps(game.spec)}, "puzzles": [\n{lines}\n]}}\n'


def puzzles_in_file(game: Game) -> list[dict[str, Any]]:
    """Return the puzzles of a game that ship as `as_json` wrote them, not checked, so that no rule is needed."""
    path = set_file(game.spec)
    if game.origin or not path.exists():
        return []
    try:
        found = json.loads(read_limited(path, TEXT_BYTES))
        if found["game"] != game.spec:
            raise ValueError("expected puzzles of the game")
        return list(found["puzzles"])
    except (OSError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise UserError(f"{path}: expected puzzles, got {type(error).__name__}") from None


def shipped_puzzles(game: Game) -> list[Puzzle]:
    """Return the puzzles of a game that ship, [] if there are none; raise `UserError` for a bad file."""
    path = set_file(game.spec)
    try:
        return [from_json(one, game) for one in puzzles_in_file(game)]
    except (
        OSError,
        LookupError,
        TypeError,
        ValueError,
        AttributeError,
        ArithmeticError,
        RecursionError,
        UserError,
    ) as error:
        raise UserError(f"{path}: expected puzzles, got {type(error).__name__}") from None


def games_with_puzzles(specs: Sequence[str]) -> list[str]:
    """Return those of some games that have puzzles which ship."""
    return [spec for spec in specs if set_file(spec).exists()]


def graded(puzzle: Puzzle, missed: float) -> Puzzle:
    """Return a puzzle with its grade: by how many weak players miss it, and by how long the win is."""
    depth = min(puzzle.plies - 1, 6) / 6 if puzzle.plies else 0.67
    hardness = (missed + depth) / 2
    level = LEVELS[(hardness > 0.42) + (hardness > 0.7)]
    return replace(puzzle, missed=missed, level=level)
