"""Write a file with a small game."""

from __future__ import annotations

import importlib.util
import json
import keyword
import re
from dataclasses import dataclass
from pathlib import Path

from config import UserError
from interface.arguments import Positional, parse
from storage.atomic_files import replacing
from system.place import HERE, PREFIX
from system.shell import join

TEMPLATE = Path(__file__).with_name("new_game.txt")
_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])\Z")

EXAMPLES = {
    "python main.py new-game my_game": "write my_game.py",
    "python main.py check my_game.py:MyGame": "test its rules",
    "python main.py --new --minutes 5 --game my_game.py:MyGame": "learn it",
}


@dataclass(frozen=True)
class NewGame:
    """Write NAME.py into this folder: a small, complete, commented game in plain Python, to change into your own."""

    name: Positional[str]
    """Name of the game and the file, e.g. my_game."""
    json: bool = False
    """Print the result as JSON."""


def run(argv: list[str]) -> int:
    args = parse(NewGame, argv)
    try:
        folder = Path.cwd()
    except FileNotFoundError:
        raise UserError("expected a folder to write into, the working folder is gone") from None
    path, kind = write_template(args.name, folder)
    here = PREFIX or folder == HERE  # installed it is a command, which works in every folder
    program = "python main.py" if here else join(["python", str(HERE / "main.py")])
    commands = [f"{program} {rest}" for rest in (
        f"check {path.name}:{kind}", f"--new --minutes 5 --game {path.name}:{kind}",
        f"play --game {path.name}:{kind}",
    )]  # fmt: skip
    if args.json:
        print(json.dumps({"file": str(path), "class": kind, "commands": commands}))
        return 0
    notes = ("test the rules, after each change", "learn it, in minutes", "play against what has learned")
    print(f"wrote {path.name}, a small game to change into yours. What to do with it:")
    print("\n".join(f"\n# {note}\n{command}" for command, note in zip(commands, notes, strict=True)))
    return 0


def write_template(name: str, folder: Path) -> tuple[Path, str]:
    """Write NAME.py with a small game to change; return (its path, the name of its class)."""
    kind = "".join(word.capitalize() for word in name.split("_"))
    path = folder / f"{name}.py"
    _check_name(name, kind, path)
    text = TEMPLATE.read_text(encoding="utf-8").replace("TemplateGame", kind).replace("template_game", name)
    with replacing(path) as trial:
        trial.write_text(text, encoding="utf-8")
    return path, kind


def _check_name(name: str, kind: str, path: Path) -> None:
    import games

    if not re.match(r"[a-z][a-z0-9_]{0,39}\Z", name):
        raise UserError(f"expected a name of small letters, digits and _ that begins with a letter, got {name[:60]!r}")
    if keyword.iskeyword(name) or keyword.iskeyword(kind) or kind in ("PlainGame", "GameState", "UserError"):
        raise UserError(f"expected a name that Python does not use, got {name!r}")
    if path.exists():
        raise UserError(f"expected a new name, there is {path} already")
    if _DEVICE.match(name):
        raise UserError(f"expected a name that is no device of Windows, got {name!r}")
    if name in games.names() or _is_module(name):
        raise UserError(f"expected a name that no game and no module of Python has, got {name!r}")


def _is_module(name: str) -> bool:
    """Return whether `import name` finds something that a file of that name could replace."""
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return True
