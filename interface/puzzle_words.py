"""The texts of puzzles and of the teacher, for the console and the page, in the person's language."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.puzzles import DRAW, DRAWS, FAST, LOSES, ONLY, SLOW, WIN, Answer, Attempt, Puzzle, Refutation
from evaluation.teacher import Lesson
from game import Game
from interface.review_words import percent
from languages.translate import tr

HINTS = 3
"""Steps of a hint: what there is, where it is, which move it is."""
AREAS = (
    ("the top left", "the top", "the top right"), ("the left", "the centre", "the right"),
    ("the bottom left", "the bottom", "the bottom right"),
)  # fmt: skip
TEXTS = (
    "the top left", "the top", "the top right", "the left", "the centre", "the right", "the bottom left", "the bottom",
    "the bottom right", "easy", "medium", "hard", "solved alone", "solved with help", "not solved",
)  # fmt: skip
"""Areas of a board, levels, and how a puzzle was solved."""


def task(puzzle: Puzzle, side: str) -> str:
    """Return what is to be done; side: the name of the player to move."""
    if puzzle.kind == DRAW:
        return tr("{side} to move: one move saves the draw. Which?", side=side)
    if puzzle.kind == FAST:
        return tr("{side} to move: one move wins by force. Which?", side=side)
    return tr("{side} to move: one move wins. Which?", side=side)


def hint(attempt: Attempt, step: int) -> str:
    """Return a hint for the move that is wanted; step: 1, 2 or 3 of HINTS."""
    puzzle, game = attempt.puzzle, attempt.game
    if step == 1 and puzzle.kind in (WIN, FAST):
        left = (puzzle.plies - len(attempt.played) + 1) // 2
        return tr("It wins at once.") if left == 1 else tr("There is a win in {count} moves.", count=left)
    if step == 1:
        return tr("The win takes a while; every other move gives it away.") if puzzle.kind == ONLY else tr(
            "Every other move loses.")  # fmt: skip
    if step == 2:
        return _place(game, attempt.wanted)
    return tr("The move is {move}.", move=game.move_name(attempt.wanted))


def _place(game: Game, action: int) -> str:
    """Return in words where a move is, without naming it."""
    rows, columns = game.grid_shape
    if game.policy_layout == "columns":
        first, last = max(action - 1, 0), min(action + 1, columns - 1)
        return tr("Look at the columns {first} to {last}.", first=game.move_name(first), last=game.move_name(last))
    if game.policy_layout != "points" or action >= rows * columns:
        return tr("It is no point of the board.")
    row, column = divmod(action, columns)
    return tr("Look here: {area}.", area=tr(AREAS[3 * row // rows][3 * column // columns]))


def area(game: Game, action: int) -> list[int]:
    """Return the actions that the second hint is about, legal or not; [] where it is about none."""
    rows, columns = game.grid_shape
    if game.policy_layout == "columns":
        return [c for c in range(columns) if abs(c - action) <= 1]
    if game.policy_layout != "points" or action >= rows * columns:
        return []
    row, column = divmod(action, columns)
    return [
        r * columns + c for r in range(rows) for c in range(columns)
        if 3 * r // rows == 3 * row // rows and 3 * c // columns == 3 * column // columns
    ]  # fmt: skip


def wrong(game: Game, action: int, found: Refutation | None) -> str:
    """Return why a move is wrong."""
    move = game.move_name(action)
    if found is None:
        return tr("{move} is not it.", move=move)
    said = {"move": move, "line": named(game, found.line)}
    if found.outcome == LOSES:
        return tr("{move} loses: the reply is {line}.", **said) if found.line else tr("{move} loses.", move=move)
    if found.outcome == DRAWS:
        return tr("{move} only draws: the reply is {line}.", **said) if found.line else tr("{move} draws.", move=move)
    if found.outcome == SLOW:
        return tr("{move} does not win at once; another move does.", move=move)
    if not found.line:
        return tr("{move} lets the win slip.", move=move)
    return tr("{move} lets the win slip: the reply {line} holds.", **said)


def right(attempt: Attempt, answer: Answer) -> str:
    """Return what a right move leads to."""
    if not answer.solved:
        reply = attempt.game.move_name(answer.reply) if answer.reply is not None else ""
        return tr("Right. The reply is {move}; and now?", move=reply)
    if attempt.rest:
        return tr("Solved. Best play goes on {line}.", line=named(attempt.game, attempt.rest))
    return tr("Solved.")


def solution(attempt: Attempt) -> str:
    """Return the line that solves a puzzle from here on."""
    line = attempt.puzzle.line[len(attempt.played) :]
    return tr("The solution: {line}.", line=named(attempt.game, line))


def named(game: Game, moves: Sequence[int]) -> str:
    """Return moves by their names, with blanks between them."""
    return " ".join(game.move_name(action) for action in moves)


def lesson(game: Game, found: Lesson) -> str:
    """Return why a move loses value, and what would keep it."""
    move, line = game.move_name(found.action), named(game, found.line)
    better = tr(" or ").join(game.move_name(action) for action in found.better)
    if not found.exact:
        chances = {"before": percent(50 + 50 * found.before), "after": percent(50 + 50 * found.after)}
        text = tr("{move} looks bad: your chances fall from {before} % to {after} %", move=move, **chances)
        text += tr(", after {line}.", line=line) if line else "."
        return text + " " + tr("{moves} looks better.", moves=better)
    if found.after < 0:
        text = tr("{move} loses: the reply {line} wins.", move=move, line=line) if line else tr(
            "{move} loses.", move=move)  # fmt: skip
    elif line:
        text = tr("{move} misses the win: the reply {line} holds.", move=move, line=line)
    else:
        text = tr("{move} misses the win.", move=move)
    if found.before > 0:
        return text + " " + tr("{moves} wins.", moves=better)
    kept = tr("{moves} keeps the draw.", moves=better) if found.solved else tr("{moves} averts that.", moves=better)
    return text + " " + kept
