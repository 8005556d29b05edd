"""The commands, a module each: `Args`, what is typed as a dataclass, and `run(argv)`, which returns the exit code."""

from __future__ import annotations

import importlib
import shutil
import signal
import sys
from types import ModuleType
from typing import TYPE_CHECKING

from system.terminal import CLEAR, redraws

if TYPE_CHECKING:
    from compiling.progress import Watch

GROUPS = {
    "learn": {
        "train": "learn a game by self-play (the command when none is named)",
        "curves": "draw runs: loss, value kept, Elo, games, speeds",
        "milestones": "show what a run's versions learned, and when",
        "export-network": "write a network for other programs: Keras, ONNX, OpenVINO, TFLite",
        "export-games": "write a run's games into a file for others",
        "import-games": "add games from such a file to a run",
    },
    "play": {
        "play": "play at the console",
        "serve": "open the browser page: play, analyse, watch it learn",
        "levels": "list the levels of play of a game",
        "replay": "show a saved game, board by board",
        "book": "make an opening book",
        "littlego": "play one move of a course's 5x5 Go, from file to file",
    },
    "measure": {
        "explain": "show what the search thinks of a position",
        "match": "let two players play a match",
        "evaluate": "measure a player: exact values, and a ladder of rollout players",
        "bench": "measure speeds",
    },
    "games and players of your own": {
        "new-game": "write a small game to change into your own",
        "check": "test a game's rules",
        "prepare": "compile a game's code ahead, so that nothing waits for it",
        "ship": "make the player of a run ready to ship",
    },
    "when something is wrong": {
        "doctor": "examine the installation and a run",
        "verify": "check a run for corruption: every file, every stored game",
        "recover": "save the undamaged part of a run into a new one",
        "soak": "train among kills, a full disk and damaged files; count losses",
    },
}
"""{purpose: {command: what it does}}"""
COMPILING = "compiling the search, once: %d of about %d functions, %.0f s"
COMMANDS = {name: what for group in GROUPS.values() for name, what in group.items()}


def module(name: str) -> ModuleType:
    """Import a command's module, when it is first needed; return it."""
    return importlib.import_module("interface.commands." + name.replace("-", "_"))


_watching: list[Watch] = []


def show_compiling(what: str) -> Watch:
    """Show in a terminal, from now on, how far compiling is, in one line that disappears; return the count.

    what: a key of `compiling.progress.EXPECTED`.
    """
    from compiling.progress import EXPECTED, Progress, Watch

    live = redraws(sys.stderr)

    def show(progress: Progress | None) -> None:
        if live:
            text = "" if progress is None else COMPILING % progress
            print(f"{CLEAR}{text[:shutil.get_terminal_size().columns - 1]}", end="", file=sys.stderr, flush=True)

    while _watching:  # of another command of this process
        _watching.pop().end()
    _watching.append(Watch(show, expected=EXPECTED[what]))
    return _watching[0]


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
