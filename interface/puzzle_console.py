"""Solving puzzles at the console."""

from __future__ import annotations

import sys

from agent import Quit, User
from console.turn import listed, understood
from evaluation.puzzle_maker import PuzzleSource
from evaluation.puzzles import Attempt
from game import Game, GameState
from interface import puzzle_words as words
from languages.translate import tr

COMMANDS = {
    "hint": ("hint", "h", "?"),
    "solution": ("solution", "s"),
    "board": ("board", "b"),
    "next": ("next", "n"),
    "quit": ("quit", "q", "exit"),
    "help": ("help",),
}
"""{command: what is typed for it}; a move that has such a name is a move."""


def help_text(game: Game, state: GameState) -> str:
    """Return what can be typed at a puzzle, a line each."""
    lines = {
        game.move_name(state.allowedActions[0]): tr("a move: your answer"),
        "hint, h, ?": tr("a hint; three steps lead to the move"),
        "solution, s": tr("show the solution"),
        "board, b": tr("show the board"),
        "next, n": tr("the next puzzle"),
        "quit, q": tr("leave"),
        "help": tr("this list"),
    }
    return listed(lines)


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
            typed = understood(self.game, attempt.state, self._read(), COMMANDS)
            if typed.command == "quit":
                raise Quit
            if typed.command == "next":
                return
            if typed.command == "solution":
                attempt.hints += 1
                self.say(words.solution(attempt))
                return
            if typed.command == "hint":
                hints, attempt.hints = min(hints + 1, words.HINTS), attempt.hints + 1
                self.say(words.hint(attempt, hints))
            elif typed.command == "help":
                self.say(help_text(self.game, attempt.state))
            elif typed.action is None:
                self.say(typed.fault or attempt.state.render())
            elif self._try(attempt, typed.action):
                hints = 0

    def _try(self, attempt: Attempt, action: int) -> bool:
        """Play a move, if it is right; say what happened."""
        answer = attempt.answer(action)
        if not answer.right:
            self.say(words.wrong(self.game, action, answer.refutation))
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
