"""The commands, a module each: `Args`, what is typed as a dataclass, and `run(argv)`, which returns the exit code."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING

from interface.silence import Silence
from languages.translate import tr
from system.plugins import module as plugin_module
from system.plugins import plugins
from system.terminal import LiveLine, redraws

if TYPE_CHECKING:
    from compiling.progress import Watch

OWN = {
    "learn": {
        "train": "learn a game by self-play (the command when none is named)",
        "curves": "draw runs: loss, value kept, Elo, games, speeds",
        "milestones": "show what a run's versions learned, and when",
        "export-network": "write a network for others: Keras, ONNX, OpenVINO, TFLite",
        "export-games": "write a run's games into a file for others",
        "import-games": "add games from such a file to a run",
    },
    "play": {
        "play": "play at the console",
        "puzzle": "solve puzzles at the console: positions with one right move",
        "levels": "list the levels of play of a game",
        "replay": "show a saved game, board by board",
        "review": "review a saved game: mistakes, better moves, accuracy",
        "book": "make an opening book",
    },
    "serve other programs": {},
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
        "verify": "check a run for corruption: every file, every stored game",
        "recover": "save the undamaged part of a run into a new one",
    },
}
"""{purpose: {command: what it does}} of the core's commands."""
ADDED = {command: plugin for plugin, found in plugins().items() for command in found.commands}
"""{command that a plugin adds: the plugin}"""


def _groups() -> dict[str, dict[str, str]]:
    """Return all commands by their purpose, the core's first; purposes without a command are left out."""
    groups = {group: dict(commands) for group, commands in OWN.items()}
    for command, plugin in ADDED.items():
        new = plugins()[plugin].commands[command]
        groups.setdefault(new.group, {})[command] = new.about
    return {group: commands for group, commands in groups.items() if commands}


GROUPS = _groups()
"""{purpose: {command: what it does}}"""
COMMANDS = {name: what for group in GROUPS.values() for name, what in group.items()}


def module(name: str) -> ModuleType:
    """Import a command's module, when it is first needed; return it."""
    file = name.replace("-", "_")
    if name in ADDED:
        return plugin_module(ADDED[name], f"commands.{file}")
    return importlib.import_module(f"{__name__}.{file}")


_watching: list[Watch] = []


def show_compiling(what: str) -> Watch:
    """Show in a terminal, from now on, how far compiling is, in one line that disappears; return the count.

    what: a key of `compiling.progress.EXPECTED`.
    """
    from compiling.progress import EXPECTED, Progress, Watch

    line = LiveLine(sys.stderr) if redraws(sys.stderr) else None

    def show(progress: Progress | None) -> None:
        if line is not None:
            line.show("" if progress is None else str(progress))

    while _watching:  # of another command of this process
        _watching.pop().end()
    _watching.append(Watch(show, expected=EXPECTED[what]))
    return _watching[0]


@contextmanager
def waiting() -> Iterator[None]:
    """Show in a terminal for how long a block has been loading libraries; it may print nothing itself."""
    if not redraws(sys.stderr):
        yield
        return
    text = tr("loading the network's libraries: {seconds} s")
    with open(os.dup(sys.stderr.fileno()), "w", encoding="utf-8") as screen:  # of stderr nothing is seen meanwhile:
        line = LiveLine(screen)  # loggers.quiet_stderr
        silence = Silence(lambda seconds: line.show(text.format(seconds=int(seconds))))
        try:
            yield
        finally:
            silence.end()
            line.show("")


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
