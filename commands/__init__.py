"""The commands, a module each: `Args`, what is typed as a dataclass, and `run(argv)`, which returns the exit code."""

from __future__ import annotations

import importlib
from types import ModuleType

COMMANDS = {
    "train": "learn a game by playing against itself (the command when none is named)",
    "play": "play against a trained network at the console",
    "match": "let two players play a match",
    "replay": "show a saved game, board by board",
    "explain": "show what the search thinks of a position",
    "bench": "measure speeds",
    "doctor": "say what is wrong with an installation or a run",
    "check": "test a game's rules",
    "littlego": "play one move of a course's 5x5 Go, from input.txt to output.txt",
    "new-game": "write a file with a small game to change into one's own",
}


def module(name: str) -> ModuleType:
    """Return a command's module; it is loaded when first needed."""
    return importlib.import_module("commands." + name.replace("-", "_"))
