"""The command line: reads arguments, calls the work, shows the result. Nothing heavy is imported early."""

from __future__ import annotations

import dataclasses
import difflib
import io
import json
import re
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from tyro.conf import Positional

from config import FIELDS, Config, UserError, find_faults, preset, unknown_setting

SUMMARY = """usage: python main.py [COMMAND] [OPTIONS]      python main.py COMMAND --help

  train     learn a game by playing against itself (the command when none is named)
  play      play against a trained network at the console
  match     let two players play a match
  explain   show what the search thinks of a position
  bench     measure speeds
  check     test a game's rules

examples:
  python main.py                          go on with the newest Connect 4 run, or start one
  python main.py --preset tiny --new      learn tic-tac-toe in about two minutes
  python main.py play                     play Connect 4 against the best network
  python main.py match best uct:1000 --games 100
  python main.py explain --moves 4433
"""

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
    """Game, with parameters in brackets if need be."""
    against: str = "best"
    """Opponent: best, current, version0007, run0002:best, random, uct:1000, human."""
    sims: int = 400
    """Simulations a move of a network."""
    first: Literal["human", "machine"] = "human"
    """Who begins."""
    moves: str = ""
    """Moves already played, e.g. 4433."""


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


COMMANDS: dict[str, type] = {
    "train": Train, "play": Play, "match": Match, "explain": Explain, "bench": Bench, "check": Check,
}  # fmt: skip


def run(argv: Sequence[str]) -> int:
    """Run a command line; return the exit code."""
    try:
        return _run(list(argv))
    except UserError as error:
        print("\n".join(f"error: {line}" if i == 0 else line for i, line in enumerate(str(error).splitlines())),
              file=sys.stderr)  # fmt: skip
        return error.exit_code
    except KeyboardInterrupt:
        print("\nstopped; the same command goes on", file=sys.stderr)
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 141


def _run(argv: list[str]) -> int:
    if argv and argv[0] in ("-h", "--help"):
        print(SUMMARY, end="")
        return 0
    name = "train"
    if argv and not argv[0].startswith("-"):
        name = argv.pop(0)
        if name not in COMMANDS:
            near = difflib.get_close_matches(name, COMMANDS, n=1, cutoff=0.4)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise UserError(f"expected a command out of {', '.join(COMMANDS)}, got {name[:60]!r}{hint}")
    action: Callable[[list[str]], int] = {
        "train": _train, "play": _play, "match": _match, "explain": _explain, "bench": _bench, "check": _check,
    }[name]  # fmt: skip
    return action(argv)


def parse(command: type[T], argv: list[str], default: Any = None) -> T:
    """Read arguments into a dataclass; raise `UserError` with one line when something is off."""
    import tyro

    said = io.StringIO()
    try:
        with redirect_stderr(said):
            parsed, unknown = tyro.cli(
                _with_markers(command), args=argv, default=default, return_unknown_args=True,
                prog=f"python main.py {command.__name__.lower()}", description=command.__doc__,
            )  # fmt: skip
    except SystemExit as end:
        if end.code == 0:
            raise
        raise UserError(_one_line(said.getvalue(), argv)) from None
    if unknown:
        known = _options(command)
        flag = unknown[0].split("=")[0]
        name = flag.lstrip("-").replace("-", "_")
        if not flag.startswith("-"):
            raise UserError(f"expected options of {command.__name__.lower()}, got {flag[:60]!r}")
        raise UserError(unknown_setting(name[:60], known))
    return parsed  # type: ignore[no-any-return]


def _with_markers(command: type) -> Any:
    """Return the dataclass as tyro shall read it: settings without a prefix, positional where marked."""
    import tyro

    return tyro.conf.configure(tyro.conf.OmitArgPrefixes)(command)


def _options(command: type) -> list[str]:
    names = [f.name for f in dataclasses.fields(command) if f.name != "config"]
    return names + (list(FIELDS) if "config" in {f.name for f in dataclasses.fields(command)} else [])


def _one_line(text: str, argv: list[str]) -> str:
    """Return tyro's boxed message as one line, in our own words where a setting has a wrong value."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    words = " ".join(line.strip("│╭╮╰╯─ |+-\t") for line in plain.splitlines())
    named = re.search(r"--([a-z][a-z0-9-]+)", words)
    name = named[1].replace("-", "_") if named else ""
    value = _early(argv, name) if named else None
    faults = find_faults({name: value}) if name in FIELDS and value is not None else []
    if faults:
        return faults[0]
    words = re.split(r"Argument helptext|For full helptext|To suppress", words)[0]
    return re.sub(r"^\s*(Parsing error|Value error|Invalid choice|Required options)\s*", "", words).strip()[:300]


def _early(argv: list[str], name: str) -> str | None:
    """Return the value of an option before the others are read: it decides what their defaults are."""
    flag = "--" + name.replace("_", "-")
    for i, word in enumerate(argv):
        word = word.replace("_", "-") if word.startswith("--") else word
        if word == flag and i + 1 < len(argv):
            return argv[i + 1]
        if word.startswith(flag + "="):
            return argv[i].split("=", 1)[1]
    return None


def _number(argv: list[str], name: str) -> int | None:
    text = _early(argv, name)
    if text is not None and not text.isdigit():
        raise UserError(f"{name}: expected a whole number, got {text[:40]!r}")
    return int(text) if text is not None else None


def _base(argv: list[str]) -> Config:
    chosen = _early(argv, "preset") or "laptop"
    base = preset(chosen)
    return preset(chosen, game=_early(argv, "game") or base.game)


# ---- commands


def _train(argv: list[str]) -> int:
    if "-h" in argv or "--help" in argv:
        parse(Train, argv, Train(_base([])))
    base = _base(argv)
    import games
    from initialise import Session, find_run, read_config, unfinished_run
    from loggers import Console

    spec = games.make(base.game).spec
    fresh = "--new" in argv or _early(argv, "initial_run_number") is not None
    folder = None
    if not fresh:
        number = _number(argv, "run")
        folder = find_run(spec, number) if number is not None else unfinished_run(spec)
    if folder is not None and _early(argv, "preset") is None:
        base = read_config(folder)
    args = parse(Train, argv, Train(base))
    config = preset_checked(args.config)
    console = Console(quiet=args.json)
    if folder is None:
        session = Session.start(
            config, console=console, log_mcts=args.log_mcts, INITIAL_RUN_NUMBER=args.initial_run_number,
            INITIAL_MODEL_VERSION=args.initial_model_version, INITIAL_MEMORY_VERSION=args.initial_memory_version,
        )  # fmt: skip
    else:
        session = Session.open(folder, config, console=console, log_mcts=args.log_mcts)
    with session:
        return _work(session, resumed=folder is not None, as_json=args.json)


def preset_checked(config: Config) -> Config:
    """Return the config with the game's name in its own form."""
    import games

    return dataclasses.replace(config, game=games.make(config.game).spec)


def _work(session: Any, *, resumed: bool, as_json: bool) -> int:
    """Train with clean stops: Ctrl-C once ends the work at the next commit, twice at once."""
    from budget import budget_text
    from main import train

    asked: list[int] = []

    def on_signal(number: int, frame: Any) -> None:
        asked.append(number)
        if len(asked) > 1:
            raise KeyboardInterrupt
        print("\nstopping; once more stops at once", file=sys.stderr, flush=True)

    say, folder = session.console.say, session.folder
    name = f"{folder.parent.name}/{folder.name}"
    say(f"{'going on with' if resumed else 'new run'} {name}, iteration {session.iteration}")
    if not session.goes_on():
        say("this run is finished; --iterations N or --minutes M lets it go on, --new starts another")
        return 0
    say(budget_text(session))
    handlers = {n: signal.signal(n, on_signal) for n in (signal.SIGINT, signal.SIGTERM)}
    try:
        report = (lambda line: print(json.dumps(line), flush=True)) if as_json else None
        train(session, stop=lambda: bool(asked), on_iteration=report)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    if asked:
        say(f"stopped; `python main.py --game '{session.game.spec}' --run {int(folder.name[3:])}` goes on")
        return 130
    say(f"finished: best is version {session.best_version}; play it: `python main.py play --game '{session.game.spec}'`")
    return 0


def _play(argv: list[str]) -> int:
    args = parse(Play, argv)
    import games
    from console import play_console

    return play_console(games.make(args.game), args.against, args.sims, args.first == "human", args.moves)


def _match(argv: list[str]) -> int:
    args = parse(Match, argv)
    _whole(args.games, "games", 1, 100_000)
    _whole(args.sims, "sims", 1, 1_000_000)
    import games
    from console import match_console

    return match_console(
        games.make(args.game), args.player1, args.player2, count=args.games, sims=args.sims,
        plies=_whole(args.opening_plies, "opening_plies", 0, 100), seed=_whole(args.seed, "seed", 0, 2**31 - 1),
        as_json=args.json,
    )  # fmt: skip


def _explain(argv: list[str]) -> int:
    args = parse(Explain, argv)
    _whole(args.sims, "sims", 1, 1_000_000)
    import games
    from agent import Agent
    from explain import after_moves, as_text, explain
    from lineup import make_player
    from loggers import open_log

    game = games.make(args.game)
    state = after_moves(game, game.parse_moves(args.moves))
    if state.isEndGame:
        raise UserError(f"expected a position to play in, the game is over\n{state.render()}")
    log = open_log(Path(args.trace), megabytes=64) if args.trace else None
    agent = make_player(args.player, game, sims=args.sims, logger_mcts=log)
    if not isinstance(agent, Agent):
        raise UserError(f"expected a network to explain, got the player {agent.name}")
    found = explain(agent, state)
    print(json.dumps(found) if args.json else as_text(found, state))
    if args.trace and not args.json:
        print(f"\nevery simulation is in {args.trace}")
    return 0


def _bench(argv: list[str]) -> int:
    base = _base(argv)
    args = parse(Bench, argv, Bench(base))
    if not 0.2 <= args.seconds <= 600:
        raise UserError(f"seconds: expected a number from 0.2 to 600, got {args.seconds}")
    from bench import bench

    found = bench(preset_checked(args.config), seconds=args.seconds)
    if args.json:
        print(json.dumps(found))
        return 0
    for key, value in found.items():
        for part in value if isinstance(value, list) else [value]:
            shown = f"{part:,.3f}".rstrip("0").rstrip(".") if isinstance(part, float) else part
            print(f"{key:<32}{shown}")
    return 0


def _check(argv: list[str]) -> int:
    args = parse(Check, argv)
    import games
    from conformance import check

    game = games.make(args.game)
    faults = check(game, games=_whole(args.games, "games", 1, 100_000))
    if args.json:
        print(json.dumps({"game": game.spec, "games": args.games, "faults": faults}))
    else:
        print("\n".join(faults) if faults else f"{game.spec}: all right in {args.games} random games")
    return 4 if faults else 0


def _whole(value: int, name: str, low: int, high: int) -> int:
    if not low <= value <= high:
        raise UserError(f"{name}: expected a whole number from {low:,} to {high:,}, got {value}")
    return value

