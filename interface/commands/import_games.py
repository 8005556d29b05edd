"""Take games from others into a run."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from interface.arguments import Positional, parse
from system.shell import quoted

SHOWN = 10

EXAMPLES = {
    "python main.py import-games games.npz": "into the newest run",
    "python main.py import-games games.npz --run 3": "into run 3",
    "python main.py export-games games.npz": "write such a file",
}


@dataclass(frozen=True)
class ImportGames:
    """Import games from a file of `export-games` into a run. Each is replayed by the rules first; wrong ones are named
    and left out (exit code 4), known ones are skipped. The run must not be at work."""

    file: Positional[str]
    """A file written by export-games."""
    game: str = "connect4"
    run: int | None = None
    """Number of the run to put them into; by default the newest."""
    json: bool = False
    """Print what was imported as JSON."""


def run(argv: list[str]) -> int:
    args = parse(ImportGames, argv)
    import games
    from initialise import Session
    from loggers import Console
    from storage.game_exchange import read_games
    from storage.run_folders import run_to_change
    from training.import_games import import_games

    data = read_games(Path(args.file))
    folder = run_to_change(games.make(args.game).spec, args.run)
    with Session.open(folder, console=Console(quiet=True)) as session:
        found, ended = import_games(session, data, args.file), not session.is_unfinished()
    if args.json:
        print(json.dumps({"run": folder.name, **found._asdict()}))
    else:
        print(f"{found.taken:,} games taken into {folder.name}, to be learned from in iteration {found.iteration}; "
              f"{found.known:,} were there, {len(found.refused):,} refused")  # fmt: skip
        if found.left_out:
            print(f"{found.left_out:,} games are on boards that {folder.name} does not learn: they are left out")
        if ended:
            command = f"python main.py --game {quoted(args.game)} --run {int(folder.name[3:])}"
            print(f"{folder.name} is finished: `{command}` with "
                  "more --iterations or --minutes learns from them")  # fmt: skip
        for line in found.refused[:SHOWN]:
            print(f"  refused: {line}")
        if len(found.refused) > SHOWN:
            print(f"  and {len(found.refused) - SHOWN:,} more")
    return 4 if found.refused else 0
