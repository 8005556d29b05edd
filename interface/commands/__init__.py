"""The commands, a module each: `Args`, what is typed as a dataclass, and `run(argv)`, which returns the exit code."""

from __future__ import annotations

import importlib
import signal
from types import ModuleType

COMMANDS = {
    "train": "learn a game by playing against itself (the command when none is named)",
    "play": "play against a trained network at the console",
    "serve": "open the browser page: play, look inside the search, watch it learn",
    "match": "let two players play a match",
    "evaluate": "measure a player: exact values, and a ladder of rollout players",
    "levels": "show the levels of play of a game's player that ships",
    "ship": "make the player of a run ready to ship, with its scoreboard and levels of play",
    "curves": "draw how runs went: loss, exact values, Elo, games, speeds",
    "replay": "show a saved game, board by board",
    "explain": "show what the search thinks of a position",
    "bench": "measure speeds",
    "doctor": "say what is wrong with an installation or a run",
    "check": "test a game's rules",
    "book": "make an opening book for players such as rollout:2s+book",
    "export-network": "write a network as a Keras file for programs of one's own",
    "export-games": "write a run's games of self-play into a file for others",
    "import-games": "take games from such a file into a run, each replayed by the rules",
    "verify": "look whether a run is whole, file by file and game by game",
    "recover": "save what is right of a damaged run into a new one",
    "soak": "train for some time among kills, freezes, a full disk and damaged files; count what is lost",
    "littlego": "play one move of a course's 5x5 Go, from input.txt to output.txt",
    "new-game": "write a file with a small game to change into one's own",
}


def module(name: str) -> ModuleType:
    """Import a command's module, when it is first needed; return it."""
    return importlib.import_module("interface.commands." + name.replace("-", "_"))


def take_as_ctrl_c(*names: str) -> None:
    """Let signals ("SIGHUP": the terminal is closed) end the program as Ctrl-C does, unless they are ignored."""
    for name in names:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _ctrl_c)


def _ctrl_c(*_: object) -> None:
    """Do what Ctrl-C does, even where it is ignored, as in the background of a shell."""
    if not callable(signal.getsignal(signal.SIGINT)):
        raise KeyboardInterrupt
    signal.raise_signal(signal.SIGINT)
