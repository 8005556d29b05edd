"""Save the undamaged part of a damaged run."""

from __future__ import annotations

import json
from dataclasses import dataclass

from interface.arguments import parse
from system.shell import quoted

SHOWN = 20

EXAMPLES = {
    "python main.py recover": "save the undamaged part of the newest run of Connect 4",
    "python main.py recover --game gomoku --run 2": "of another run",
    "python main.py verify": "check a run first",
}


@dataclass(frozen=True)
class Recover:
    """Save the undamaged part of a damaged run as a new run next to it; the damaged run stays unchanged."""

    game: str = "connect4"
    run: int | None = None
    """Number of the damaged run; by default the newest."""
    json: bool = False
    """Print the result as JSON."""


def run(argv: list[str]) -> int:
    args = parse(Recover, argv)
    import games
    from storage.recover import recover
    from storage.run_folders import run_to_change, unfinished_run
    from storage.verify import verify

    spec = games.make(args.game).spec
    folder = run_to_change(spec, args.run)
    if not verify(folder).damage:  # a copy would become the game's newest run, for no reason
        whole = f"nothing of {folder.name} is damaged or missing, so nothing is made of it"
        print(json.dumps({"from": folder.name, "run": None, "lost": []}) if args.json else whole)
        return 0
    found = recover(folder)
    if args.json:
        print(json.dumps({"from": folder.name, **found._asdict()}))
        return 0
    for line in found.lost[:SHOWN]:
        print(line)
    if len(found.lost) > SHOWN:
        print(f"and {len(found.lost) - SHOWN} more")
    print(f"saved {found.games} games, {found.matches} match games, {found.versions} versions and {found.iterations} "
          f"finished iterations of {folder.name} into {found.run}; {folder.name} stays as it is")  # fmt: skip
    if unfinished_run(spec) == folder.with_name(found.run):
        print(f"`python main.py --game {quoted(spec)} --run {int(found.run[3:])}` resumes it")
    return 0
