"""Write games of self-play into a file for others."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from config import UserError
from interface.arguments import Positional, parse, whole

EXAMPLES = {
    "python main.py export-games games.npz": "the games in the memory of the newest run",
    "python main.py export-games games.npz --run 3 --games 1000": "the newest 1,000 games of run 3",
    "python main.py import-games games.npz": "put them into another run",
}


@dataclass(frozen=True)
class ExportGames:
    """Write a run's games of self-play into a file: moves, visits, values, results; no network, no settings."""

    file: Positional[str]
    """File to write: a name ending in .npz."""
    game: str = "connect4"
    run: int | None = None
    """Number of the run to take them from; by default the newest."""
    games: int = 0
    """Number of games, the newest ones; 0 = as many as the memory holds."""
    overwrite: bool = False
    """Replace an existing file."""
    json: bool = False
    """Print what was written as JSON."""


def run(argv: list[str]) -> int:
    args = parse(ExportGames, argv)
    whole(args.games, "games", 0, 10**9)
    path = Path(args.file)
    if path.suffix != ".npz":
        raise UserError(f"expected a file name that ends in .npz, got {args.file[:100]!r}")
    if not path.parent.is_dir():
        raise UserError(f"expected a folder to write into, {str(path.parent)[:100]!r} is none")
    if path.exists() and not (args.overwrite and path.is_file()):
        raise UserError(f"{path} exists; --overwrite replaces it")
    import games
    from players.runs_of_many_sizes import family_run
    from storage.game_exchange import export_games
    from storage.run_folders import find_run, runs_of

    game = games.make(args.game)
    of_many_sizes = None if runs_of(game.spec) else family_run(game, args.run)
    folder = of_many_sizes or find_run(game.spec, args.run)
    count = export_games(folder, game, path, count=args.games)
    size = path.stat().st_size
    facts = {"run": folder.name, "games": count, "bytes": size, "file": str(path)}
    print(json.dumps(facts) if args.json else f"{count:,} games of {folder.name} in {path}, {size:,} bytes")
    return 0
