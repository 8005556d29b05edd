"""Check a run for corruption: every file, every stored game."""

from __future__ import annotations

import json
from dataclasses import dataclass

from interface.arguments import parse, whole

SHOWN = 20
RULES_CHANGED = "the rules have changed since this run began; it was checked by the new ones"

EXAMPLES = {
    "python main.py verify": "check the newest run of Connect 4",
    "python main.py verify --game gomoku --run 2": "check another run",
    "python main.py recover --run 2": "save the undamaged part of a damaged run",
}


@dataclass(frozen=True)
class Verify:
    """Check a run for corruption: read every row and file, replay every stored game; nothing is changed."""

    game: str = "connect4"
    run: int | None = None
    """Number of the run; by default the newest, 0 = the player that ships."""
    json: bool = False
    """Print the result as JSON."""


def run(argv: list[str]) -> int:
    args = parse(Verify, argv)
    if args.run is not None:
        whole(args.run, "run", 0, 999_999)
    import games
    from storage.run_folders import find_run, remedy
    from storage.verify import verify

    spec = games.make(args.game).spec
    folder = find_run(spec, args.run)
    found = verify(folder)
    if args.json:
        print(json.dumps({"run": folder.name if args.run != 0 else "shipped", **found._asdict()}))
    elif found.damage:
        if found.rules_changed:
            print(f"{RULES_CHANGED}: put its files back as they were, and verify again")
        print("\n".join(found.damage[:SHOWN]))
        more = len(found.damage) - SHOWN
        last = [f"and {more} more"] if more > 0 else []
        if args.run != 0 and not found.rules_changed:  # the project has another copy of a player that ships
            helps = remedy(folder, spec)
            last += [helps] if helps not in found.damage else []
        if last:
            print("; ".join(last))
    else:
        played = f"{found.games} games and {found.matches} match games, all by the rules"
        name = f"{folder.parent.name}/{folder.name}" if args.run != 0 else f"the player of {spec} that ships"
        print(f"{name} is undamaged: {found.iterations} iterations, {played}, "
              f"{found.versions} versions\nstate {found.state}")  # fmt: skip
        if found.rules_changed:
            print(f"{RULES_CHANGED}, which allow all its games")
        if "," in found.backend:
            print(f"trained on {found.backend}: a run on one back end alone has another state")
        if found.mixed:
            classes = f"{len(found.mixed)} classes of processors ({'; '.join(found.mixed)})"
            print(f"mixed: played by {classes}; one class alone may play other games")
    return 4 if found.damage else 0
