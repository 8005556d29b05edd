"""Show the levels of play of a game."""

from __future__ import annotations

import json
from dataclasses import dataclass

from arguments import parse


@dataclass(frozen=True)
class Levels:
    """Show the levels of play of a game's player that ships, the weakest first; `play --against level:3` takes one."""

    game: str = "connect4"
    json: bool = False
    """Print them as JSON."""


def run(argv: list[str]) -> int:
    args = parse(Levels, argv)
    import games
    from levels import read_levels

    spec = games.make(args.game).spec
    found = read_levels(spec)
    if args.json:
        print(json.dumps([level._asdict() for level in found]))
        return 0
    for number, level in enumerate(found, 1):
        print(f"level:{number}  {level}")
    if not found:
        print(f"no player of {spec} ships with levels of play")
    return 0
