"""A turn of a person at the console: the board in colours, the question, and what a typed line means."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from config import UserError
from game import Game, GameState, illegal_move
from languages.translate import tr
from system.terminal import columns_of

COMMANDS = {
    "help": ("help", "?"), "hint": ("hint", "h"), "undo": ("undo", "u"), "board": ("board", "b"),
    "moves": ("moves", "m"), "resign": ("resign", "r"), "quit": ("quit", "q", "exit"),
}  # fmt: skip
"""{command: what is typed for it}; a move that has such a name is a move."""
COLUMNS = 79
"""Columns of the question at most."""
SIDES = {1: "\x1b[1;31m", -1: "\x1b[1;36m"}
FAINT, PLAIN = "\x1b[2m", "\x1b[0m"
_WORD = re.compile(r"(\[?)([^\s\[\]]+)(\]?)")
"""A word of a board's text, with the brackets of the last move, which may stand close: X O[X]-."""


class Typed(NamedTuple):
    """What a line means: a move, a command, or neither, and why not."""

    action: int | None = None
    command: str = ""
    fault: str = ""


def understood(game: Game, state: GameState, text: str, commands: Mapping[str, Sequence[str]] = COMMANDS) -> Typed:
    """Return what a person means by a line typed in a position; the fault is one line that says what is possible.

    commands: {command: what is typed for it}.
    """
    text = text.strip().lower()
    legal = {game.move_name(action).lower(): action for action in state.allowedActions}
    if text in legal:
        return Typed(legal[text])
    for command, words in commands.items():
        if text in words:
            return Typed(command=command)
    try:
        action = game.parse_move(text)
    except UserError as error:
        near = difflib.get_close_matches(text[:20], commands, n=1, cutoff=0.6)
        hint = tr("did you mean {word}?", word=near[0]) if near else tr("help lists what can be typed")
        return Typed(fault=f"{_one_line(error, game, state, text)}; {hint}")
    return Typed(action) if action in state.allowedActions else Typed(fault=refusal(game, state, action))


def _one_line(error: UserError, game: Game, state: GameState, text: str) -> str:
    """Return why a text is no move. A game of one's own may say that in its own words."""
    if not str(error).startswith("expected a move such as "):
        return str(error).splitlines()[0][:200]
    example = game.move_name(state.allowedActions[0])
    return tr("expected a move such as {move}, got {text}", move=example, text=repr(text[:40]))


def refusal(game: Game, state: GameState, action: int) -> str:
    """Return that a move cannot be played, with the moves that can, in the person's language."""
    message = illegal_move(game, state, action).splitlines()[0]
    move, _, moves = message.removeprefix("illegal move ").removesuffix(")").partition(" (legal: ")
    return tr("illegal move {move} (legal: {moves})", move=move, moves=moves)


def question(game: Game, state: GameState) -> str:
    """Return the line before the prompt: whose turn it is, the legal moves or as many as fit, where help is."""
    legal = [game.move_name(action) for action in state.allowedActions]

    def line(moves: str) -> str:
        return tr("{side} to move. Legal: {moves}  (or help)", side=game.pieces[state.playerTurn], moves=moves)

    if columns_of(line(" ".join(legal))) <= COLUMNS:
        return line(" ".join(legal))
    shown, end = "", f" ... {legal[-1]}"
    for move in legal[:-1]:
        longer = f"{shown} {move}".strip()
        if shown and columns_of(line(longer + end)) > COLUMNS:
            break
        shown = longer
    return line(shown + end)


def help_text(game: Game, state: GameState) -> str:
    """Return what can be typed, a line each."""
    move = game.move_name(state.allowedActions[0])
    lines = {
        move: tr("a move, as the question shows them"), "hint, h": tr("what a network's search thinks"),
        "undo, u": tr("take your last move back"), "board, b": tr("show the board"), "moves, m": tr("the moves so far"),
        "resign, r": tr("give the game up"), "quit, q": tr("leave; with --save the game is kept"),
        "help, ?": tr("this list"),
    }  # fmt: skip
    return listed(lines)


def listed(lines: Mapping[str, str]) -> str:
    """Return {what can be typed: what it does} as text, a line each."""
    width = max(11, 2 + max(map(len, lines)))
    return "\n".join(f"  {what:<{width}}{words}" for what, words in lines.items())


def moves_text(game: Game, moves: Sequence[int]) -> str:
    """Return the moves so far in a line that `--moves` reads."""
    return game.format_moves(moves) or tr("no move yet")


def board_text(game: Game, text: str, *, colours: bool) -> str:
    """Return a rendered board, with `colours` for the sides; the marks of the sides differ without them as well."""
    if not colours:
        return text
    pieces = {mark: SIDES[side] for side, mark in game.pieces.items() if side} | {game.pieces[0]: FAINT}

    def coloured(match: re.Match[str]) -> str:
        code = pieces.get(match[2])
        return f"{code}{match[0]}{PLAIN}" if code else match[0]

    return _WORD.sub(coloured, text)
