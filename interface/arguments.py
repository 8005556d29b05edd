"""Parsing of a command line into a command's dataclass, by tyro; a fault becomes one line of our own."""

from __future__ import annotations

import dataclasses
import io
import itertools
import os
import re
import types
import typing
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from typing import Any, Literal, TypeVar

from config import FIELDS, TYPES, Config, UserError, find_faults, unknown_setting
from interface.help import help_text
from system.plugins import load, plugins
from system.shell import join
from training.presets import preset

T = TypeVar("T")
Choice = Literal["laptop", "tiny", "classic", "gpu"]
HELP = {"-h", "--help", "--help-all"}


def parse(command: type[T], argv: list[str], default: Any = None) -> T:
    """Parse arguments into a dataclass; raise `UserError` with one line if they are wrong.

    With -h, --help or --help-all it prints the help and raises `SystemExit`.
    """
    if HELP.intersection(argv):
        print(help_text(command, default, whole="--help-all" in argv))
        raise SystemExit(0)
    import tyro

    said, registry = io.StringIO(), tyro.constructors.ConstructorRegistry()
    registry.struct_rule(_fields)
    try:
        with redirect_stderr(said), _in_one_line():
            parsed, unknown = tyro.cli(
                _with_markers(command), args=argv, default=default, return_unknown_args=True, registry=registry,
                prog=f"python main.py {_name(command)}",
            )  # fmt: skip
    except SystemExit:
        raise UserError(_one_line(said.getvalue(), argv, command)) from None
    if unknown:
        known = _options(command)
        flag = unknown[0].split("=")[0]
        name = flag.lstrip("-").replace("-", "_")
        bare = _needed(command)
        if not flag.startswith("-"):
            hint = game_meant(flag) if "game" in known and "game" not in bare else ""
            raise UserError(f"expected options of {_name(command)}, got {flag[:60]!r}{hint}")
        if name in _without_name(command):
            raise UserError(f"expected {name} without --{name.replace('_', '-')}, got {flag[:60]!r}")
        if not flag.startswith("--") and name in known:
            raise UserError(f"expected two dashes, --{flag[1:61]}, got {flag[:60]!r}")
        message = unknown_setting(name[:60], known)
        if not _has_settings(command):
            message = message.replace("unknown setting", f"{_name(command)} has no option", 1)
        raise UserError(message)
    return parsed


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


@contextmanager
def _in_one_line() -> Iterator[None]:
    """Let tyro lay out what is parsed here in lines that no word is too long for."""
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "1000"
    try:
        yield
    finally:
        os.environ.pop("COLUMNS")
        if before is not None:
            os.environ["COLUMNS"] = before


def _name(command: type) -> str:
    """Return the name that is typed for a command."""
    return command.__module__.rsplit(".", 1)[-1].replace("_", "-")


def _with_markers(command: type) -> Any:
    """Return the dataclass as tyro must read it: settings without a prefix, and None cannot be typed."""
    import tyro

    return tyro.conf.configure(tyro.conf.OmitArgPrefixes, tyro.conf.DisallowNone)(command)


def _fields(info: Any) -> Any:
    """Return the fields of a dataclass as tyro must read them, None for any other type: a rule of its registry."""
    import tyro
    from tyro.constructors import StructConstructorSpec, StructFieldSpec

    if not dataclasses.is_dataclass(info.type):
        return None
    kind: Any = info.type
    hints, fields = typing.get_type_hints(kind, include_extras=True), []
    for f in dataclasses.fields(kind):
        default = getattr(info.default, f.name) if isinstance(info.default, kind) else f.default
        hint: Any = hints[f.name]
        if isinstance(hint, types.UnionType):  # or tyro loads typeguard to check the default, which takes long
            hint = typing.Union[typing.get_args(hint)]  # noqa: UP007
        if default is False and kind is not Config:
            hint = tyro.conf.FlagCreatePairsOff[hint]  # type: ignore[misc]
        fields.append(StructFieldSpec(f.name, hint, tyro.MISSING if default is dataclasses.MISSING else default))
    return StructConstructorSpec(instantiate=kind, fields=tuple(fields))


def _options(command: type) -> list[str]:
    names = [f.name for f in dataclasses.fields(command) if f.name != "config"]
    return names + (list(FIELDS) if _has_settings(command) else [])


def _has_settings(command: type) -> bool:
    """Return whether a command has all settings of a run as options."""
    return "config" in {f.name for f in dataclasses.fields(command)}


def _without_name(command: type) -> list[str]:
    """Return the arguments that a command takes without a name before them, whether needed or not."""
    import tyro

    kinds = typing.get_type_hints(command, include_extras=True)
    marks = {name: getattr(kind, "__metadata__", ()) for name, kind in kinds.items()}
    return [f.name for f in dataclasses.fields(command) if tyro.conf.Positional in marks[f.name]]


def _needed(command: type) -> list[str]:
    """Return the arguments that a command cannot do without."""
    return [f.name for f in dataclasses.fields(command) if f.default is dataclasses.MISSING and f.name != "config"]


def _one_line(text: str, argv: list[str], command: type) -> str:
    """Return tyro's boxed message as one line, in our own words if an option has a wrong value or none."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    words = " ".join(line.strip("│╭╮╰╯─ |+-\t") for line in plain.splitlines())
    lacking = f"expected {' and '.join(_needed(command))}; `python main.py {_name(command)} --help` explains them"
    if "Missing from" in words:
        return lacking
    kinds = typing.get_type_hints(command)
    kinds |= TYPES if "config" in kinds else {}
    named = re.search(r"--([a-z][a-z0-9-]*)", words)
    name = named[1].replace("-", "_") if named else ""
    if named and name in kinds:
        got, wanted = _given(argv, name), _wanted(kinds[name])
        if not got:
            return f"expected {wanted} after {named[0]}"
        faults = find_faults({name: got[0]}) if "config" in kinds and name in FIELDS else []
        return faults[0] if faults else f"{name}: expected {wanted}, got {' '.join(got)[:60]!r}"
    if "Missing value for argument" in words:
        return lacking
    words = re.split(r"Argument helptext|For full helptext|To suppress", words)[0]
    return re.sub(r"^\s*(Parsing error|Value error|Invalid choice|Required options)\s*", "", words).strip()[:300]


def _wanted(kind: Any) -> str:
    """Return in words what an option of a type takes."""
    inside = [each for each in typing.get_args(kind) if each is not type(None)]
    if typing.get_origin(kind) is Literal:
        return "one of " + ", ".join(inside)
    if typing.get_origin(kind) is tuple:
        many = {int: "whole numbers", float: "numbers"}.get(inside[0], "values")
        return many if inside[-1] is Ellipsis else f"{('two', 'three')[len(inside) - 2]} {many}"
    return _wanted(inside[0]) if inside else {int: "a whole number", float: "a number"}.get(kind, "a value")


def _given(argv: list[str], name: str) -> list[str]:
    """Return the values of an option as typed, where it came last; [] if it is missing or has none."""
    for i in reversed(range(len(argv))):
        word, equals, value = argv[i].partition("=")
        if word.startswith("--") and word.replace("_", "-") == "--" + name.replace("_", "-"):
            return [value] if equals else list(itertools.takewhile(lambda w: not w.startswith("--"), argv[i + 1 :]))
    return []


def early(argv: list[str], name: str) -> str | None:
    """Return the value of an option before the others are parsed: their defaults depend on it."""
    return next(iter(_given(argv, name)), None)


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
    base = preset(chosen)
    lag = {"lag": 1} if early(argv, "lag") == "1" else {}
    return preset(chosen, game=early(argv, "game") or base.game, **lag)


def preset_checked(config: Config) -> Config:
    """Return the config with the names of the game and of a network of your own in full."""
    import games
    from network.own_network import full_name

    network = None if config.network is None else full_name(config.network)
    return dataclasses.replace(config, game=games.make(config.game).spec, network=network)
