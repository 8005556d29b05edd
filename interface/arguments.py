"""A command line read into a command's dataclass: argparse splits it, and each fault is one line in our own words."""

from __future__ import annotations

import argparse
import dataclasses
import re
import types
import typing
from collections.abc import Collection
from typing import Annotated, Any, Literal, TypeVar

from config import FIELDS, TYPES, Config, UserError, find_faults, unknown_setting
from interface.help import help_text
from system.plugins import load, plugins
from system.shell import join
from training.presets import fitted, unfitted

T = TypeVar("T")
Choice = Literal["laptop", "tiny", "classic", "gpu"]
HELP = {"-h", "--help", "--help-all"}
PLACE = "a place"
Positional = Annotated[T, PLACE]
"""Marks a field of a command's dataclass that is typed without its name."""
Output = Annotated[T, "-o"]
"""Marks a field that `-o` names as well."""
ADDED = "added up"
Repeated = Annotated[T, ADDED]
"""Marks a field of several values: those of an option that is given again are added; of others the last one counts."""


def parse(command: type[T], argv: list[str], default: Any = None) -> T:
    """Read arguments into a dataclass; raise `UserError` with one line if they are wrong.

    default: an instance whose `config` has the defaults of the settings, for a command that takes them as options. With
    -h, --help or --help-all it prints the help and raises `SystemExit`.
    """
    if HELP.intersection(argv):
        print(help_text(command, default, whole="--help-all" in argv))
        raise SystemExit(0)
    options = _Options(command)
    words, rest = options.split(argv)
    for word in rest:
        if word.startswith("-") and word != "-":
            raise UserError(options.unknown(word))
    if len(rest) > len(options.places):
        word = rest[len(options.places)]
        hint = game_meant(word) if "game" in options.kinds and "game" not in options.needed else ""
        raise UserError(f"expected options of {options.command}, got {word[:60]!r}{hint}")
    words |= {place: [word] for place, word in zip(options.places, rest, strict=False)}
    if any(name not in words for name in options.needed):
        needed = " and ".join(options.needed)
        raise UserError(f"expected {needed}; `python main.py {options.command} --help` explains them")
    values = {name: options.value(name, typed) for name, typed in words.items()}
    if options.settings:
        changed = {name: values.pop(name) for name in options.settings if name in values}
        values["config"] = dataclasses.replace(default.config, **changed)
    return command(**values)


class _Options:
    """What can be typed after a command, from its dataclass."""

    def __init__(self, command: Any) -> None:
        fields = dataclasses.fields(command)
        kinds = typing.get_type_hints(command, include_extras=True)
        self.command = _name(command)
        self.settings = FIELDS if kinds.pop("config", None) else {}
        """The settings of a run, if the command takes them as options."""
        self.marks = {name: getattr(kind, "__metadata__", ("",))[0] for name, kind in kinds.items()}
        self.places = [f.name for f in fields if self.marks.get(f.name) == PLACE]
        self.needed = [f.name for f in fields if f.default is dataclasses.MISSING and f.name != "config"]
        self.kinds: dict[str, Any] = {**typing.get_type_hints(command), **(TYPES if self.settings else {})}
        self.kinds.pop("config", None)

    def split(self, argv: list[str]) -> tuple[dict[str, Any], list[str]]:
        """Return ({option: its words; of a flag, whether it is set}, the words that belong to none)."""
        parser = argparse.ArgumentParser(
            add_help=False, allow_abbrev=False, exit_on_error=False, argument_default=argparse.SUPPRESS
        )
        for name, kind in self.kinds.items():
            if name in self.places:
                continue
            flags, inside = dict.fromkeys(("--" + name.replace("_", "-"), "--" + name)), _inside(kind)
            mark = self.marks.get(name, "")
            if mark.startswith("-"):
                flags[mark] = None
            if kind is bool:
                parser.add_argument(*flags, dest=name, action=argparse.BooleanOptionalAction)
            elif Ellipsis in inside:
                parser.add_argument(*flags, dest=name, nargs="+", action="extend" if mark == ADDED else "store")
            else:
                parser.add_argument(*flags, dest=name, nargs=len(inside) or 1)
        try:
            found, rest = parser.parse_known_args(argv)
        except argparse.ArgumentError as fault:
            flag = (fault.argument_name or "").split("/")[0]
            name = flag.lstrip("-").replace("-", "_")
            what = "no value" if self.kinds[name] is bool else _wanted(self.kinds[name])
            raise UserError(f"expected {what} after {flag}") from None
        return vars(found), [word for word in rest if word != "--"]

    def value(self, name: str, typed: Any) -> Any:
        """Return the value of an option from its words."""
        kind = self.kinds[name]
        if kind is bool:
            return typed
        if typed == [""] and name != "moves":  # as from a variable that is not set: else it would mean no option
            raise UserError(f"{name}: expected {_wanted(kind)}, got ''")
        try:
            return _converted(kind, typed)
        except ValueError:
            faults = find_faults({name: typed[0]}) if name in self.settings else []
            raise UserError(
                faults[0] if faults else f"{name}: expected {_wanted(kind)}, got {' '.join(typed)[:60]!r}"
            ) from None

    def unknown(self, word: str) -> str:
        """Say that a word with dashes is no option, and what was probably meant."""
        flag = word.split("=")[0]
        name = flag.lstrip("-").replace("-", "_")
        if name in self.places:
            return f"expected {name} without --{name.replace('_', '-')}, got {flag[:60]!r}"
        if not flag.startswith("--") and name in self.kinds:
            return f"expected two dashes, --{flag[1:61]}, got {flag[:60]!r}"
        message = unknown_setting(name[:60], self.kinds)
        if self.settings:
            return message
        return message.replace("unknown setting", f"{self.command} has no option", 1)


def _inside(kind: Any) -> tuple[Any, ...]:
    """Return the types in a tuple, () for another type; `X | None` counts as X, as None cannot be typed."""
    kind = _present(kind)
    return typing.get_args(kind) if typing.get_origin(kind) is tuple else ()


def _present(kind: Any) -> Any:
    """Return X of `X | None`, any other type as it is."""
    if typing.get_origin(kind) not in (typing.Union, types.UnionType):
        return kind
    return next(each for each in typing.get_args(kind) if each is not type(None))


def _converted(kind: Any, words: list[str]) -> Any:
    """Return the value that words mean for a type; `ValueError` if none."""
    kind, inside = _present(kind), _inside(kind)
    if inside:
        each = inside[:1] * len(words) if Ellipsis in inside else inside
        return tuple(_converted(one, [word]) for one, word in zip(each, words, strict=True))
    word = words[-1]
    if typing.get_origin(kind) is not Literal:
        return kind(word)
    if word not in typing.get_args(kind):
        raise ValueError(word)
    return word


def _wanted(kind: Any) -> str:
    """Return in words what an option of a type takes."""
    kind, inside = _present(kind), _inside(kind)
    if typing.get_origin(kind) is Literal:
        return "one of " + ", ".join(typing.get_args(kind))
    if inside:
        many = {int: "whole numbers", float: "numbers"}.get(inside[0], "values")
        return many if inside[-1] is Ellipsis else f"{('two', 'three')[len(inside) - 2]} {many}"
    return {int: "a whole number", float: "a number"}.get(kind, "a value")


def game_meant(word: str) -> str:
    """Return a hint if a word is the name of a game, else ""."""
    import games

    return f", did you mean --game {join([word])}?" if word.split("(")[0].lower() in games.names() else ""


def with_plugin_options(command: type[T]) -> type[T]:
    """Return a command's dataclass with the options that plugins add to it; a decorator.

    Their dataclasses come first among its bases, so that their methods replace the command's own.
    """
    name = _name(command)
    added = [load(plugin, found.options[name]) for plugin, found in plugins().items() if name in found.options]
    if not added:
        return command
    about = {"__module__": command.__module__, "__qualname__": command.__qualname__, "__doc__": command.__doc__}
    extended: type[T] = dataclasses.dataclass(frozen=True)(type(command.__name__, (*added, command), about))
    return extended


def _name(command: type) -> str:
    """Return the name that is typed for a command."""
    return command.__module__.rsplit(".", 1)[-1].replace("_", "-")


def early(argv: list[str], name: str) -> str | None:
    """Return the value of an option before the others are parsed: their defaults depend on it."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--" + name.replace("_", "-"), "--" + name, dest=name, nargs="?")
    value: str | None = getattr(parser.parse_known_args(argv)[0], name)
    return value


def number(argv: list[str], name: str) -> int | None:
    text = early(argv, name)
    if text is not None and not re.match(r"[0-9]{1,9}\Z", text):
        raise UserError(f"{name}: expected a whole number from 0 to 999,999,999, got {text[:40]!r}")
    return int(text) if text is not None else None


def whole(value: int, name: str, low: int, high: int) -> int:
    """Return an integer after checking its range."""
    if not low <= value <= high:
        raise UserError(f"{name}: expected a whole number from {low:,} to {high:,}, got {value}")
    return value


def base_of(argv: list[str]) -> Config:
    """Return the settings of the preset, the game and the lag that were named: the defaults of all others."""
    chosen = early(argv, "preset") or "laptop"
    base = unfitted(chosen)
    lag = {"lag": 1} if early(argv, "lag") == "1" else {}
    return unfitted(chosen, game=early(argv, "game") or base.game, **lag)


def fitted_to(argv: list[str], config: Config, given: Collection[str] = ()) -> Config:
    """Return the settings of a command line, fitted to game and minutes where its preset is `laptop`.

    given: names of further settings that stay as they are.
    """
    if early(argv, "preset") not in (None, "laptop"):
        return config
    return fitted(config, [name for name in FIELDS if name in given or _is_given(argv, name)])


def _is_given(argv: list[str], name: str) -> bool:
    """Return whether an option is among the arguments."""
    flags = {f"--{sign}{written}" for sign in ("", "no-") for written in (name, name.replace("_", "-"))}
    return any(word.split("=", 1)[0] in flags for word in argv)


def preset_checked(config: Config) -> Config:
    """Return the config with the names of the game and of a network of your own in full."""
    import games
    from network.own_network import full_name

    network = None if config.network is None else full_name(config.network)
    return dataclasses.replace(config, game=games.make(config.game).spec, network=network)
