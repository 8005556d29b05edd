"""Show the levels of play of a game."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from config import Config
from interface.arguments import parse
from system.shell import continued, join, quoted
from system.terminal import columns_for, folded
from training.presets import as_options

EXAMPLES = {
    "python main.py levels": "the levels of Connect 4",
    "python main.py levels --game gomoku": "of gomoku 9x9",
    "python main.py play --against level:club": "play against one, by name or number",
}


@dataclass(frozen=True)
class Levels:
    """Show the levels of play of a game's player that ships, the weakest first, and the command that trains such a
    player; `play --against level:3` plays one."""

    game: str = "connect4"
    json: bool = False
    """Print them as JSON."""


def run(argv: list[str]) -> int:
    args = parse(Levels, argv)
    import games
    from games.sizes import largest_of
    from players.levels import levels_run, other_boards, read_levels
    from storage.run_folders import read_config

    spec = largest_of(games.make(args.game)).spec
    found, folder = read_levels(spec), levels_run(spec)
    command = command_of(read_config(folder)) if folder is not None else None
    began = _began_with(folder) if folder is not None else ""
    if args.json:
        levels = [level._asdict() for level in found]
        print(json.dumps({"game": spec, "levels": levels, "command": command, "began_with": began or None}))
        return 0
    for number, level in enumerate(found, 1):
        print(folded(f"level:{number}  {level}", sys.stdout, indent=" " * 9))
    if not found:
        others = other_boards(spec)
        more = f": those of its player are for {', '.join(others)} (--game {quoted(others[0])})" if others else ""
        print(folded(f"no player of {spec} ships with levels of play{more}", sys.stdout))
    if command is not None:
        print(continued(f"trained with these settings: {command}", columns_for(sys.stdout)))
    if began:
        words = f"it began with the network of {began}, not from zero as that command does; with one of yours, add "
        print(folded(f"{words}--initial-run-number and --initial-model-version", sys.stdout))
    return 0


def _began_with(folder: Path) -> str:
    """Return whose network a run began with, "" for its own."""
    from network.stored_network import began_with
    from storage.run_store import Store

    store = Store(folder / "run.db", read_only=True)
    try:
        return began_with(store)
    finally:
        store.close()


def command_of(config: Config) -> str:
    """Return the command that starts a run with these settings, with the defaults of today."""
    return f"python main.py {join(['--new', '--game', config.game, *as_options(config)])}"
