"""The arguments of each command as dataclasses, read by tyro; what is off becomes one line of ours."""

from __future__ import annotations

import dataclasses
import io
import re
from contextlib import redirect_stderr
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from tyro.conf import Positional

from config import FIELDS, Config, UserError, find_faults, unknown_setting

T = TypeVar("T")
Choice = Literal["laptop", "tiny", "classic", "gpu"]


@dataclass(frozen=True)
class Train:
    """Learn a game. Goes on with the newest unfinished run of that game unless told otherwise."""

    config: Config
    preset: Choice | None = None
    """Settings to start from: laptop (default), tiny (tic-tac-toe), classic (the article's), gpu."""
    new: bool = False
    """Start a new run even when one is unfinished."""
    run: int | None = None
    """Go on with this run."""
    initial_run_number: int | None = None
    """Start a new run from this run's model or memory."""
    initial_model_version: int | None = None
    """Version of its network to begin with."""
    initial_memory_version: int | None = None
    """Iteration up to which its games are taken over."""
    log_mcts: bool = False
    """Write every simulation of tournaments to logs/logger_mcts.log, its newest 16 MB: very slow."""
    json: bool = False
    """Print each iteration's line of metrics.jsonl instead of words and bars."""


@dataclass(frozen=True)
class Play:
    """Play against a player at the console."""

    game: str = "connect4"
    """Game, with parameters in brackets if need be; also open_spiel:NAME and FILE.py:CLASS."""
    against: str = "best"
    """Opponent: best, current, version0007, run0002:best, random, uct:1000, human."""
    sims: int = 400
    """Simulations a move of a network."""
    first: Literal["human", "machine"] = "human"
    """Who begins."""
    moves: str = ""
    """Moves already played, e.g. 4433."""
    load: str = ""
    """Go on with the game in this file (.json, .txt, .sgf)."""
    save: str = ""
    """Write the game to this file at the end, finished or not: .json for any game, .txt holds the moves only, .sgf."""
    overwrite: bool = False
    """Replace the file to save to when it is there already."""


@dataclass(frozen=True)
class Match:
    """Let two players play, both colours of each seeded opening."""

    player1: Positional[str]
    """best, current, version0007, run0002:best, random, uct:1000, human."""
    player2: Positional[str]
    """The same."""
    game: str = "connect4"
    games: int = 100
    """Number of games."""
    sims: int = 400
    """Simulations a move of a network."""
    opening_plies: int = 0
    """Random moves that open each pair of games; with 0 the players' own chance makes games differ."""
    seed: int = 0
    json: bool = False
    """Print the result as JSON."""


@dataclass(frozen=True)
class Explain:
    """Show what the search thinks of a position."""

    game: str = "connect4"
    moves: str = ""
    """Moves from the start, e.g. 4433."""
    load: str = ""
    """Take the moves from this file (.json, .txt, .sgf) instead."""
    player: str = "best"
    """A network: best, current, version0007, run0002:best."""
    sims: int = 400
    """Simulations."""
    trace: str = ""
    """Write every simulation to this file: each edge's N, P, nu, adjusted P, W, Q, U, Q + U, the chosen one, the
    leaf and the back-fill."""
    json: bool = False
    """Print the result as JSON."""


@dataclass(frozen=True)
class Bench:
    """Measure speeds: raw network, self-play and their ratio, the search alone, the naive way."""

    config: Config
    preset: Choice | None = None
    seconds: float = 5.0
    """Length of each measuring window."""
    json: bool = False
    """Print the result as JSON."""


@dataclass(frozen=True)
class Check:
    """Test a game's rules against the contract of game.py."""

    game: Positional[str]
    games: int = 50
    """Random games to play."""
    json: bool = False
    """Print the result as JSON."""


@dataclass(frozen=True)
class LittleGo:
    """Play one move of Little-Go, the 5x5 Go of a university course, from a file to a file."""

    input: str = "input.txt"
    """The position: 1 (Black) or 2 (White), the board before the other's last move, the board now."""
    output: str = "output.txt"
    """Where the move goes: i,j or PASS."""
    step_file: str = "littlego.step"
    """Where the number of moves played is kept from move to move."""
    player: str = ""
    """Who plays: best, current, version0007, random, ...; by default the best network, where there is one."""
    sims: int = 400
    """Simulations a move of a network."""
    seconds: float = 8.0
    """Time to think, with what it takes to load the player; the start of Python comes on top."""
    seed: int | None = None
    """Of the player's chance; by default another one each time."""


@dataclass(frozen=True)
class NewGame:
    """Write NAME.py into this folder: a small game in plain Python, whole and commented, to change into one's own."""

    name: Positional[str]
    """Name of the game and the file, e.g. my_game."""
    json: bool = False
    """Print the result as JSON."""


COMMANDS: dict[str, type] = {
    "train": Train, "play": Play, "match": Match, "explain": Explain, "bench": Bench, "check": Check,
    "littlego": LittleGo,
    "new-game": NewGame,
}  # fmt: skip


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
    return next(name for name, kind in COMMANDS.items() if kind is command)


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
