"""Make an opening book."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from config import UserError
from interface.arguments import Output, parse, whole
from interface.commands import show_compiling

EXAMPLES = {
    "python main.py book -o my.json": "a book for Little-Go",
    "python main.py book -o c4.json --game connect4 --player solver --plies 6": "perfect replies in Connect 4",
    "python main.py play --game littlego --against rollout:2s+book": "a player that uses the one that ships",
}


@dataclass(frozen=True)
class Book:
    """Make an opening book: search every position that can arise in the first plies against any reply."""

    output: Output[str]
    """File to write, a .json; an existing one is continued."""
    game: str = "littlego"
    player: str = "rollout:50000"
    """Player that finds the replies (human is not possible): PLAYERS; see docs/play.md."""
    plies: int = 4
    """Positions after fewer moves than this get a reply."""
    sims: int = 1600
    """Simulations per move of a network."""
    seed: int = 0


def run(argv: list[str]) -> int:
    args = parse(Book, argv)
    whole(args.plies, "plies", 1, 20)
    whole(args.sims, "sims", 1, 1_000_000)
    whole(args.seed, "seed", 0, 2**31 - 1)
    path = Path(args.output)
    if path.suffix.lower() != ".json":
        raise UserError(f"expected a file name that ends in .json, got {path.name[:60]!r}")
    if not path.parent.is_dir():
        raise UserError(f"{path}: expected a folder that is there, got {str(path.parent)[:60]!r}")
    show_compiling("search")
    import games
    from agent import Agent
    from evaluation.game_contract import checked
    from games.sizes import largest_of
    from players import book as books
    from players.by_name import make_player
    from storage.atomic_files import not_written

    game = checked(largest_of(games.make(args.game)))
    player = make_player(args.player, game, sims=args.sims)
    if player.is_person:
        raise UserError("expected a player that is no human")
    name = player.name
    if isinstance(player, Agent) and player.at_once > 1:  # it has no clock
        name = f"{name}, {player.mcts_sims} simulations"
    book = books.load_book(path, game) if path.exists() else books.Book(game, name)
    if book.player != name:
        raise UserError(f"{path}: holds replies of {book.player}, expected those of {name}; name another file")
    live = sys.stdout.isatty()
    try:
        books.extend(book, player, args.plies, path, seed=args.seed,
                     report=lambda n: print(f"\r{n} positions", end="", flush=True) if live else None)  # fmt: skip
    except OSError as error:
        raise not_written(path, error) from None
    print(f"{chr(13) if live else ''}{path}: {len(book)} positions of {game.spec} by {book.player}")
    return 0
