"""Look whether a run is whole."""

from __future__ import annotations

import json
from dataclasses import dataclass

from interface.arguments import parse, whole

SHOWN = 20


@dataclass(frozen=True)
class Verify:
    """Read every row and file of a run and play every stored game again by the rules; nothing is changed."""

    game: str = "connect4"
    run: int | None = None
    """Number of the run, else the newest; 0 is the player that ships."""
    json: bool = False
    """Print the result as JSON."""


def run(argv: list[str]) -> int:
    args = parse(Verify, argv)
    if args.run is not None:
        whole(args.run, "run", 0, 999_999)
    import games
    from storage.run_folders import find_run
    from storage.verify import verify

    spec = games.make(args.game).spec
    folder = find_run(spec, args.run)
    found = verify(folder)
    if args.json:
        print(json.dumps({"run": folder.name if args.run != 0 else "shipped", **found._asdict()}))
    elif found.damage:
        print("\n".join(found.damage[:SHOWN]))
        more = len(found.damage) - SHOWN
        told = [f"and {more} more"] if more > 0 else []
        if args.run != 0:  # of one that ships the project has another copy
            told.append(f"`python main.py recover --game '{spec}' --run {int(folder.name[3:])}` saves what is right")
        if told:
            print("; ".join(told))
    else:
        played = f"{found.games} games and {found.matches} match games, all by the rules"
        name = f"{folder.parent.name}/{folder.name}" if args.run != 0 else f"the player of {spec} that ships"
        print(f"{name} is whole: {found.iterations} iterations, {played}, "
              f"{found.versions} versions\nstate {found.state}")  # fmt: skip
    return 4 if found.damage else 0
