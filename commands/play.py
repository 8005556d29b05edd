"""Play against a player at the console."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from arguments import early, parse
from config import UserError


@dataclass(frozen=True)
class Play:
    """Play against a player at the console."""

    game: str = "connect4"
    """Game, with parameters in brackets if need be; also open_spiel:NAME and FILE.py:CLASS."""
    against: str = "best"
    """Opponent: best, shipped, level:3 (see `levels`), current, version0007, run0002:best, net:best (no search),
    sym:best, rollout:5000, rollout:2s, rollout:2s+book, alphabeta:6, alphabeta:2s, greedy, solver, random, uct:1000,
    gtp:"gnugo --mode gtp", human."""
    sims: int = 400
    """Simulations a move of a network."""
    first: Literal["human", "machine"] = "human"
    """Who begins."""
    moves: str = ""
    """Moves already played, e.g. 4433."""
    load: str = ""
    """Go on with the game in this file (.json, .txt, .sgf)."""
    save: str = ""
    """Write the game to this file at the end, finished or not: .json for any game, .txt holds the moves only, .sgf."""
    overwrite: bool = False
    """Replace the file to save to when it is there already."""


def run(argv: list[str]) -> int:
    args = parse(Play, argv)
    from commands.begun import begun
    from console import PERSON, play_console
    from explain import after_moves

    record = begun(args.game, args.moves, args.load, argv)
    if record.result is not None and not after_moves(record.game, record.moves).isEndGame:
        raise UserError(f"{args.load}: expected a game to go on with, this one was given up")
    first = args.first == "human"
    if early(argv, "first") is None and record.players.count(PERSON) == 1:
        first = record.players[0] == PERSON
    return play_console(
        record.game, args.against, args.sims, first, record.moves,
        save_to=Path(args.save) if args.save else None, overwrite=args.overwrite,
    )  # fmt: skip
