"""The help of a command: `--help` is one screen with the options that people use, `--help-all` has every option.

A command's module says EXAMPLES = {command line: what it does}, and USED = (options, ...) if it has many. The text
below a field is its help; PLAYERS and NETWORKS in it stand for the lists of players.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import itertools
import shutil
import sys
import textwrap
import typing
from typing import Any, Literal

from config import Config
from players.names import NETWORKS, PLAYERS
from system.syntax import syntax_of

INDENT = 24
"""Column at which the text of an option or example begins."""
LISTS = {"PLAYERS": PLAYERS, "NETWORKS": NETWORKS}
SHORT = {
    "PLAYERS": "best, shipped, level:3, rollout:1000, alphabeta:6, solver, ...",
    "NETWORKS": "best, current, version0007, shipped, ...",
}
"""What stands for these lists in `--help`."""
USUAL = {
    "game": 'Game, with parameters in brackets if need be: "gomoku(size=8)"; also open_spiel:NAME and FILE.py:CLASS.',
    "seed": "All chance follows from it: the same command does the same.",
}
"""Help of options with these names that have no text of their own."""


def help_text(command: type, default: Any, *, whole: bool) -> str:
    """Return the help of a command's dataclass; default: an instance with the defaults, or None.

    whole: every option with its whole text, settings in their groups; else one screen.
    """
    module, page = sys.modules[command.__module__], _Page()
    name = command.__module__.rsplit(".", 1)[-1].replace("_", "-")
    places = [f.name for f in dataclasses.fields(command) if str(f.type).startswith("Positional")]
    own = [f.name for f in dataclasses.fields(command) if f.name not in (*places, "config")]
    values = {f.name: getattr(default, f.name, f.default) for f in dataclasses.fields(command)}
    groups = _groups(values.pop("config", None))
    usage = [f"usage: python main.py {name}", *(_place(place, values[place]) for place in places), "[OPTIONS]"]
    page.lines += [" ".join(usage), "", *textwrap.wrap(" ".join((command.__doc__ or "").split()), page.width)]
    page.heading("examples")
    for line, what in module.EXAMPLES.items():
        page.entry(line, what)
    page.heading("options")
    texts, kinds = _texts(command), typing.get_type_hints(command)
    for place in places:
        text = texts.get(place) or USUAL[place]
        page.entry(_place(place, values[place]), _text(text, values[place], whole))
    known = {n: (texts.get(n) or USUAL[n], kinds[n], values[n]) for n in own}
    settings = {n: entry for _, entries in groups for n, entry in entries.items()}
    used = _used(command, own)
    for n, entry in known.items() if whole else [(n, {**known, **settings}[n]) for n in used]:
        page.option(n, *entry, whole=whole)
    if whole:
        for title, entries in groups:
            page.heading(title)
            for n, entry in entries.items():
                page.option(n, *entry, whole=True)
    else:
        left = len(known) + len(settings) - len(used)
        page.lines += ["", f"{left} more options: --help-all" if left else "every detail: --help-all"]
    return "\n".join(page.lines)


def _used(command: type, own: list[str]) -> list[str]:
    """Return the options that `--help` shows: those that USED of the command's and its plugins' modules name."""
    named = [getattr(sys.modules[kind.__module__], "USED", ()) for kind in (command, *command.__bases__)]
    return list(dict.fromkeys(n for names in named for n in names)) or own


Entry = tuple[str, Any, Any]
"""(help, type, default) of an option."""


def _groups(config: Any) -> list[tuple[str, dict[str, Entry]]]:
    """Return (title, its settings) of each group of settings."""
    found: list[tuple[str, dict[str, Entry]]] = []
    for group in reversed(Config.__mro__) if isinstance(config, Config) else ():
        if group.__name__.endswith("Settings"):
            texts, kinds = _texts(group), typing.get_type_hints(group)
            title = (group.__doc__ or "").strip().rstrip(".")
            found.append((title, {n: (texts[n], kinds[n], getattr(config, n)) for n in group.__annotations__}))
    return found


def setting_texts() -> dict[str, str]:
    """Return {setting: what it means, in one sentence}."""
    groups = (group for group in Config.__mro__ if group.__name__.endswith("Settings"))
    return {name: _first_sentence(text) for group in groups for name, text in _texts(group).items()}


class _Page:
    """The lines of a help, as wide as the terminal."""

    def __init__(self) -> None:
        self.width = min(max(60, shutil.get_terminal_size().columns), 110)
        self.lines: list[str] = []

    def heading(self, title: str) -> None:
        self.lines += ["", f"{title}:"]

    def option(self, name: str, text: str, kind: Any, default: Any, *, whole: bool) -> None:
        flag = name.replace("_", "-")
        if isinstance(default, bool):
            flag = f"--no-{flag}" if default else f"--{flag}"
            text = _text(text, default, whole)
            self.entry(flag, f"Do not {text[0].lower()}{text[1:]}" if default else text)
        else:
            self.entry(f"--{flag} {_value(name, kind)}", _text(text, default, whole))

    def entry(self, name: str, text: str) -> None:
        """Add an option or example: its name, and its text in a column of its own."""
        lines = textwrap.wrap(text, self.width - INDENT) or [""]
        head = f"  {name}"
        if len(head) < INDENT - 1:
            head, lines = f"{head:<{INDENT}}{lines[0]}", lines[1:]
        self.lines += [head, *(f"{'':<{INDENT}}{line}" for line in lines)]


def _place(name: str, default: Any) -> str:
    """Return how an argument without an option's name is shown."""
    return name.upper() if default is dataclasses.MISSING else f"[{name.upper()}]"


def _value(name: str, kind: Any) -> str:
    """Return what is typed after an option."""
    inside = [each for each in typing.get_args(kind) if each is not type(None)]
    if name == "game":
        return "GAME"
    if typing.get_origin(kind) is Literal:
        return "|".join(inside)
    if typing.get_origin(kind) is tuple:
        return f"{_value(name, inside[0])} ..."
    return _value(name, inside[0]) if inside else "N" if kind in (int, float) else "TEXT"


def _text(text: str, default: Any, whole: bool) -> str:
    """Return an option's help with its default: all of it, or its first sentence."""
    for name, names in (LISTS if whole else SHORT).items():
        text = text.replace(f"{name}.", names if names.endswith("...") else f"{names}.").replace(name, names)
    if not whole:
        text = _first_sentence(text)
    if default is dataclasses.MISSING or isinstance(default, bool) or default in (None, "", ()):
        return text
    shown = " ".join(map(str, default)) if isinstance(default, tuple) else f"{default}"
    return f"{text} (default: {shown})"


def _first_sentence(text: str) -> str:
    """Return a text up to its first full stop or semicolon outside of brackets."""
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        ends = c in ".;" and text[i + 1 : i + 2] in ("", " ") and text[max(i - 3, 0) : i].lower() != "e.g"
        if depth == 0 and ends and text[i - 1] != ".":
            return text[:i]
    return text


def _texts(kind: type) -> dict[str, str]:
    """Return {field: the text below it}, in one line; fields that plugins add are in classes of their own."""
    texts: dict[str, str] = {}
    for each in reversed(kind.__mro__):
        if dataclasses.is_dataclass(each):
            texts |= _own_texts(each)
    return texts


def _own_texts(kind: type) -> dict[str, str]:
    tree: Any = syntax_of(textwrap.dedent(inspect.getsource(kind))).body[0]
    return {
        field.target.id: " ".join(ast.literal_eval(text.value).split())
        for field, text in itertools.pairwise(tree.body)
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(field.target, ast.Name)
    }
