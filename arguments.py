"""Reads what was typed into a command's dataclass, by tyro; what is off becomes one line of ours."""

from __future__ import annotations

import dataclasses
import io
import re
from contextlib import redirect_stderr
from typing import Any, Literal, TypeVar

from config import FIELDS, Config, UserError, find_faults, preset, unknown_setting

T = TypeVar("T")
Choice = Literal["laptop", "tiny", "classic", "gpu"]


def parse(command: type[T], argv: list[str], default: Any = None) -> T:
    """Read arguments into a dataclass; raise `UserError` with one line when something is off."""
    import tyro

    said = io.StringIO()
    try:
        with redirect_stderr(said):
            parsed, unknown = tyro.cli(
                _with_markers(command), args=argv, default=default, return_unknown_args=True,
                prog=f"python main.py {_name(command)}", description=command.__doc__,
            )  # fmt: skip
    except SystemExit as end:
        if end.code == 0:
            raise
        raise UserError(_one_line(said.getvalue(), argv, command)) from None
    if unknown:
        known = _options(command)
        flag = unknown[0].split("=")[0]
        name = flag.lstrip("-").replace("-", "_")
        if not flag.startswith("-"):
            raise UserError(f"expected options of {_name(command)}, got {flag[:60]!r}")
        raise UserError(unknown_setting(name[:60], known))
    return parsed  # type: ignore[no-any-return]


def _name(command: type) -> str:
    """Return what is typed for a command."""
    return command.__module__.rsplit(".", 1)[-1].replace("_", "-")


def _with_markers(command: type) -> Any:
    """Return the dataclass as tyro shall read it: settings without a prefix, positional where marked."""
    import tyro

    return tyro.conf.configure(tyro.conf.OmitArgPrefixes)(command)


def _options(command: type) -> list[str]:
    names = [f.name for f in dataclasses.fields(command) if f.name != "config"]
    return names + (list(FIELDS) if "config" in {f.name for f in dataclasses.fields(command)} else [])


def _one_line(text: str, argv: list[str], command: type) -> str:
    """Return tyro's boxed message as one line, in our own words where a setting has a wrong value."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    words = " ".join(line.strip("│╭╮╰╯─ |+-\t") for line in plain.splitlines())
    named = re.search(r"--([a-z][a-z0-9-]+)", words)
    name = named[1].replace("-", "_") if named else ""
    value = early(argv, name) if named else None
    faults = find_faults({name: value}) if name in FIELDS and value is not None else []
    if faults:
        return faults[0]
    if "Missing from" in words:
        needed = [f.name for f in dataclasses.fields(command) if f.default is dataclasses.MISSING]
        return f"expected {' and '.join(needed)}; `python main.py {_name(command)} --help` tells more"
    words = re.split(r"Argument helptext|For full helptext|To suppress", words)[0]
    return re.sub(r"^\s*(Parsing error|Value error|Invalid choice|Required options)\s*", "", words).strip()[:300]


def early(argv: list[str], name: str) -> str | None:
    """Return the value of an option before the others are read: it decides what their defaults are."""
    flag = "--" + name.replace("_", "-")
    for i, word in enumerate(argv):
        word = word.replace("_", "-") if word.startswith("--") else word
        if word == flag and i + 1 < len(argv):
            return argv[i + 1]
        if word.startswith(flag + "="):
            return argv[i].split("=", 1)[1]
    return None


def number(argv: list[str], name: str) -> int | None:
    text = early(argv, name)
    if text is not None and not re.match(r"[0-9]{1,9}\Z", text):
        raise UserError(f"{name}: expected a whole number, got {text[:40]!r}")
    return int(text) if text is not None else None


def whole(value: int, name: str, low: int, high: int) -> int:
    """Return a whole number that lies in a range."""
    if not low <= value <= high:
        raise UserError(f"{name}: expected a whole number from {low:,} to {high:,}, got {value}")
    return value


def base_of(argv: list[str]) -> Config:
    """Return the settings of the preset and the game that were named: the defaults of all others."""
    chosen = early(argv, "preset") or "laptop"
    base = preset(chosen)
    return preset(chosen, game=early(argv, "game") or base.game)


def preset_checked(config: Config) -> Config:
    """Return the config with the game's name in its own form."""
    import games

    return dataclasses.replace(config, game=games.make(config.game).spec)
