"""Write a file with a small game."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from interface.arguments import parse


@dataclass(frozen=True)
class NewGame:
    """Write NAME.py into this folder: a small game in plain Python, whole and commented, to change into one's own."""

    name: Positional[str]
    """Name of the game and the file, e.g. my_game."""
    json: bool = False
    """Print the result as JSON."""


def run(argv: list[str]) -> int:
    args = parse(NewGame, argv)
    from games.own import write_template

    path, kind = write_template(args.name, Path.cwd())
    there = Path(__file__).resolve().parents[2] / "main.py"
    main = "main.py" if there.parent == Path.cwd() else shlex.quote(str(there))
    commands = [f"python {main} {rest}" for rest in (
        f"check {path.name}:{kind}", f"--preset tiny --new --game {path.name}:{kind}",
        f"play --game {path.name}:{kind}",
    )]  # fmt: skip
    if args.json:
        print(json.dumps({"file": str(path), "class": kind, "commands": commands}))
        return 0
    notes = ("test the rules, after each change", "learn it, in minutes", "play against what has learned")
    print(f"wrote {path.name}, a small game to change into yours. What to do with it:")
    print("\n".join(f"\n# {note}\n{command}" for command, note in zip(commands, notes, strict=True)))
    return 0
