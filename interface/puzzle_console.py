"""Solving puzzles at the console."""

from __future__ import annotations

import sys

from agent import Quit, User
from console.turn import understood
from evaluation.puzzle_maker import PuzzleSource
from evaluation.puzzles import Attempt
from interface import puzzle_words as words
from languages.translate import tr


class Solver(User):
    """A person at the console who solves puzzles of one game; counts them."""

    def __init__(self, source: PuzzleSource) -> None:
        super().__init__("human", source.game)
        self._source = source
        self.tried = self.solved = self.clean = 0
        """Puzzles; solved ones; those without a hint and a wrong move."""

    def solve(self, number: int) -> None:
        """Let the person solve a puzzle, skip it or see the solution; raise `Quit` at the end of the input."""
        puzzle = self._source.get(number)
        if puzzle is None:
            raise Quit
        attempt = Attempt(puzzle, self.game)
        self.say(f"\n{tr('Puzzle {number}', number=number)} ({tr(puzzle.level)})")
        self.say(attempt.state.render())
        self.say(words.task(puzzle, self.game.pieces[attempt.state.playerTurn]))
        try:
            self._converse(attempt)
        finally:
            self.tried += bool(attempt.played or attempt.errors or attempt.hints)
            self.solved += attempt.solved
            self.clean += attempt.solved and attempt.clean

    def _converse(self, attempt: Attempt) -> None:
        """Read moves and other words until the puzzle is solved or left."""
        hints = 0
        while not attempt.solved:
            side = self.game.pieces[attempt.state.playerTurn]
            self.say(tr("{side} to move (a move, or hint, solution, next, quit):", side=side))
            text = self._read().strip().lower()
            if text in ("quit", "q", "exit"):
                raise Quit
            if text in ("next", "n"):
                return
            if text in ("solution", "s"):
                attempt.hints += 1
                self.say(words.solution(attempt))
                return
            if text in ("hint", "h", "?"):
                hints, attempt.hints = min(hints + 1, words.HINTS), attempt.hints + 1
                self.say(words.hint(attempt, hints))
            elif self._try(attempt, text):
                hints = 0

    def _try(self, attempt: Attempt, text: str) -> bool:
        """Play what was typed, if it is right; say what happened."""
        typed = understood(self.game, attempt.state, text)
        if typed.action is None:  # a word of a game's, as help: the question lists the words of puzzles
            self.say(typed.fault or attempt.state.render())
            return False
        answer = attempt.answer(typed.action)
        if not answer.right:
            self.say(words.wrong(self.game, typed.action, answer.refutation))
            return False
        self.say(attempt.state.render())
        self.say(words.right(attempt, answer))
        return True


def solve_puzzles(source: PuzzleSource, number: int, level: str) -> int:
    """Let a person solve one puzzle after the other, from a number on, until they leave; return the exit code."""
    person, found = Solver(source), True
    try:
        while found:
            person.solve(number)
            if number >= source.shipped:
                print(tr("Making another puzzle ..."), file=sys.stderr, flush=True)
            following = source.following(number, level)
            found, number = following is not None, following or number
        print(tr("There are no more puzzles."))
    except Quit:
        print()
    score = {"solved": person.solved, "tried": person.tried, "clean": person.clean}
    print(tr("{solved} of {tried} solved, {clean} of them at the first try and without a hint.", **score))
    return 0
