"""Play against a player at the console."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from config import UserError
from interface.arguments import early, parse
from interface.commands import show_compiling, take_as_ctrl_c
from languages.translate import tr
from system.shell import join

if TYPE_CHECKING:
    from game import Game
    from storage.game_files import Record

SUBSTITUTE = "rollout:1s"
"""The opponent where there is no network for a game."""

EXAMPLES = {
    "python main.py play": "Connect 4 against your newest run's best network, or the shipped one",
    "python main.py play --game gomoku --against level:4": "an opponent of your strength (see `levels`)",
    "python main.py play --first machine --save game.json": "the machine begins; the game is saved",
}


@dataclass(frozen=True)
class Play:
    """Play against a player at the console."""

    game: str = "connect4"
    against: str = "best"
    """Opponent: PLAYERS; see docs/play.md, and `levels` for the levels. With --load by default the player in that
    file; rollout:1s where there is no network for the game."""
    sims: int = 400
    """Simulations per move of a network; a level has its own."""
    first: Literal["human", "machine"] = "human"
    """Side that begins."""
    moves: str = ""
    """Moves already played: 4453, in Othello f5d6c3; in other games blanks or commas between them, "b2 a3"."""
    load: str = ""
    """Continue the game in this file (.json, .jsonl of a match, .sgf, .psq, .ggf, .wtb, .obf; .txt with --game)."""
    game_number: int = 1
    """Which game of a file of several, from 1."""
    ply: int | None = None
    """Number of the file's moves after which the game continues; by default all."""
    save: str = ""
    """Write the game to this file at the end, finished or not: .json for any game, .txt holds the moves only, .sgf."""
    overwrite: bool = False
    """Replace the file to save to if it exists."""
    teach: bool = False
    """Take a bad move back and say why; the same move again is played."""


def run(argv: list[str]) -> int:
    args = parse(Play, argv)
    show_compiling("search")
    from interface.commands.given_position import begun
    from interface.console import play_console
    from storage.game_files import PERSON

    record = begun(args.game, args.moves, args.load, argv, game_number=args.game_number, ply=args.ply)
    if record.result is not None:
        message = "expected a game to go on with, this one was given up; --ply N takes the first N moves of the file"
        raise UserError(f"{args.load}: {message}")
    first, against = args.first == "human", args.against
    if record.players.count(PERSON) == 1:
        if early(argv, "first") is None:
            first = record.players[0] == PERSON
        other = record.players[record.players[0] == PERSON]
        if early(argv, "against") is None and other:
            against = _opponent(record, other, args.against)
    if early(argv, "against") is None and against == args.against:
        against = _usual(record.game, against)
    if against.startswith("level:") and early(argv, "sims") is not None:
        raise UserError("expected no --sims with a level, which has a number of its own")
    for note in record.notes:
        print(note)
    take_as_ctrl_c("SIGHUP")  # so that the game is saved
    return play_console(
        record.game, against, args.sims, first, record.moves,
        save_to=Path(args.save) if args.save else None, overwrite=args.overwrite,
        teach=args.teach,
    )  # fmt: skip


def _usual(game: Game, usual: str) -> str:
    """Return the usual opponent, a network, or one that needs none where there is no network for the game yet."""
    from players.by_name import NoNetwork, run_folder

    try:
        run_folder(game, None)
    except NoNetwork:
        command = f"python main.py {join(['--game', game.spec])}"
        print(tr("There is no network for {game} yet: {player} plays. `{command}` trains one.",
                 game=game.spec, player=SUBSTITUTE, command=command))  # fmt: skip
        return SUBSTITUTE
    return usual


def _opponent(record: Record, name: str, usual: str) -> str:
    """Return the opponent that a file names, else the usual one; a file, perhaps from others, starts no program."""
    from players.by_name import make_player

    try:
        if re.search("gtp:|gomocup:|book:", name, re.IGNORECASE):
            raise UserError("expected programs and files to be named with --against")
        make_player(name, record.game)
    except UserError:
        print(f"the opponent of the file, {name!r}, is no player here: {usual} plays; --against names another")
        return usual
    return name
