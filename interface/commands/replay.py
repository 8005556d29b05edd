"""Show a saved game, board by board."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from interface.arguments import Positional, parse, whole

if TYPE_CHECKING:
    from storage.game_files import Record

EXAMPLES = {
    "python main.py replay game.json": "show a game, board by board",
    "python main.py replay games.jsonl --game-number 7": "the seventh game of a match",
    "python main.py replay game.sgf --save game.json": "convert a file",
}


@dataclass(frozen=True)
class Replay:
    """Show a saved game, board by board: .json, .txt, .sgf, .psq, .ggf, .wtb, .obf, or one of a match's .jsonl."""

    file: Positional[str]
    """The file."""
    game_number: int = 1
    """Which game of a file of several, from 1."""
    game: str = ""
    """Game played, as in other commands; needed for .txt, which holds moves only."""
    save: str = ""
    """Also write the game to this file (.json, .txt, .sgf)."""
    overwrite: bool = False
    """Replace that file if it exists."""


def run(argv: list[str]) -> int:
    args = parse(Replay, argv)
    import games
    from evaluation.game_contract import checked
    from storage import game_files

    named = checked(games.make(args.game)) if args.game else None
    record = game_files.load_game(Path(args.file), whole(args.game_number, "game_number", 1, 10**9), named)
    if args.save:
        game_files.check_place(Path(args.save), record.game, overwrite=args.overwrite, stated=record.stated)
        game_files.save(Path(args.save), record)
    print("\n".join(_boards(record)))
    if args.save:
        print(f"saved in {args.save}")
    return 0


def _boards(record: Record) -> Iterator[str]:
    """Yield a heading, what the file states, the board after each move with its number and player, and the result."""
    from games.line_of_moves import follow

    game, states = record.game, follow(record.game, record.moves)
    state = next(states)
    first, second = (
        f"{name} ({game.pieces[turn]})" if name else game.pieces[turn]
        for name, turn in zip(record.players, (1, -1), strict=True)
    )
    yield f"{game.spec}: {first} against {second}{', ' + record.date if record.date else ''}"
    if record.stated:
        yield "the file: " + ", ".join(f"{key} {words}" for key, words in record.stated.items())
    yield from record.notes
    yield state.render()
    for number, action in enumerate(record.moves, 1):
        who, state = game.pieces[state.playerTurn], next(states)
        yield f"\n{number}. {who} {game.move_name(action)}\n{state.render()}"
    if record.result is None:
        yield "\nnot decided"
    else:
        words = {1: f"{first} won", -1: f"{second} won", 0: "a draw"}
        yield "\n" + words[int(record.result)] if record.result in words else f"\n{record.result:+g} for {first}"
    if record.forfeit:
        yield f"by forfeit, not by play: {record.forfeit}"
