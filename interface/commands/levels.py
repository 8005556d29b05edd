"""Show the levels of play of a game."""

from __future__ import annotations

import json
from dataclasses import dataclass

from interface.arguments import parse


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
    from evaluation.release import command_of
    from players.levels import read_levels
    from storage.run_folders import read_config, shipped_run

    spec = games.make(args.game).spec
    found, folder = read_levels(spec), shipped_run(spec)
    command = command_of(read_config(folder)) if folder is not None else None
    if args.json:
        print(json.dumps({"game": spec, "levels": [level._asdict() for level in found], "command": command}))
        return 0
    for number, level in enumerate(found, 1):
        print(f"level:{number}  {level}")
    if not found:
        print(f"no player of {spec} ships with levels of play")
    if command is not None:
        print(f"trained with these settings: {command}")
    return 0
