"""The command line: reads arguments, calls the work, shows the result. Nothing heavy is imported early."""

from __future__ import annotations

import dataclasses
import difflib
import json
import os
import secrets
import shlex
import signal
import sqlite3
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arguments import COMMANDS, Bench, Check, Explain, LittleGo, Match, NewGame, Play, Train, early, number, parse
from config import Config, UserError, preset

if TYPE_CHECKING:
    from records import Record

SUMMARY = """usage: python main.py [COMMAND] [OPTIONS]      python main.py COMMAND --help

  train     learn a game by playing against itself (the command when none is named)
  play      play against a trained network at the console
  match     let two players play a match
  explain   show what the search thinks of a position
  bench     measure speeds
  check     test a game's rules
  littlego  play one move of a course's 5x5 Go, from input.txt to output.txt
  new-game  write a file with a small game to change into one's own

A game is one of games/, one of OpenSpiel (open_spiel:hex) or one's own (file.py:Class).

examples:
  python main.py                          go on with the newest Connect 4 run, or start one
  python main.py --preset tiny --new      learn tic-tac-toe in about two minutes
  python main.py play                     play Connect 4 against the best network
  python main.py match best uct:1000 --games 100
  python main.py explain --moves 4433
"""


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
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except MemoryError as error:
        hint = "fewer --games-in-flight, fewer --mcts-sims or a smaller --memory-size need less"
        print(f"error: not enough memory ({error}); {hint}", file=sys.stderr)
        return 2
    except sqlite3.DatabaseError as error:
        print(f"error: the run's database cannot be used: {error}", file=sys.stderr)
        return 4


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
        "littlego": _littlego,
        "new-game": _new_game,
    }[name]  # fmt: skip
    return action(argv)


def _base(argv: list[str]) -> Config:
    chosen = early(argv, "preset") or "laptop"
    base = preset(chosen)
    return preset(chosen, game=early(argv, "game") or base.game)


# ---- commands


def _train(argv: list[str]) -> int:
    if "-h" in argv or "--help" in argv:
        parse(Train, argv, Train(_base([])))
    base = _base(argv)
    import games
    from initialise import Session
    from loggers import Console
    from runs import find_run, read_config, unfinished_run

    spec = games.make(base.game).spec
    fresh = "--new" in argv or early(argv, "initial_run_number") is not None
    folder = None
    if not fresh:
        wanted = number(argv, "run")
        folder = find_run(spec, wanted) if wanted is not None else unfinished_run(spec)
    if folder is not None and early(argv, "preset") is None:
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

    def on_signal(signum: int, frame: Any) -> None:
        asked.append(signum)
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
        for signum, handler in handlers.items():
            signal.signal(signum, handler)
    if asked:
        say(f"stopped; `python main.py --game '{session.game.spec}' --run {int(folder.name[3:])}` goes on")
        return 130
    say(f"finished: version {session.best_version} is best; play: `python main.py play --game '{session.game.spec}'`")
    return 0


def _play(argv: list[str]) -> int:
    args = parse(Play, argv)
    from console import PERSON, play_console
    from explain import after_moves

    record = _begun(args, argv)
    if record.result is not None and not after_moves(record.game, record.moves).isEndGame:
        raise UserError(f"{args.load}: expected a game to go on with, this one was given up")
    first = args.first == "human"
    if early(argv, "first") is None and record.players.count(PERSON) == 1:
        first = record.players[0] == PERSON
    return play_console(
        record.game, args.against, args.sims, first, record.moves,
        save_to=Path(args.save) if args.save else None, overwrite=args.overwrite,
    )  # fmt: skip


def _begun(args: Play | Explain, argv: list[str]) -> Record:
    """Return the moves of the command line or of a file; of its game unless one is named."""
    import games
    from records import Record, load

    if not args.load:
        game = games.make(args.game)
        return Record(game, game.parse_moves(args.moves))
    if args.moves:
        raise UserError("expected --moves or --load, got both")
    path = Path(args.load)
    named = early(argv, "game") is not None or path.suffix.lower() == ".txt"
    return load(path, games.make(args.game) if named else None)


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
    from agent import Agent
    from explain import after_moves, as_text, explain
    from lineup import make_player
    from loggers import open_log

    record = _begun(args, argv)
    game, state = record.game, after_moves(record.game, record.moves)
    if state.isEndGame:
        raise UserError(f"expected a position to play in, the game is over\n{state.render()}")
    log = open_log(Path(args.trace), megabytes=64) if args.trace else None
    agent = make_player(args.player, game, sims=args.sims, logger_mcts=log)
    if not isinstance(agent, Agent):
        raise UserError(f"expected a network to explain, got the player {agent.name}")
    if args.trace:
        Path(args.trace).touch()
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
    from conformance import examine

    game = games.make(args.game)
    found = examine(game, games=_whole(args.games, "games", 1, 100_000))
    won = {"first": found.results.get(1, 0), "drawn": found.results.get(0, 0), "second": found.results.get(-1, 0)}
    if args.json:
        print(json.dumps({"game": game.spec, "games": args.games, "faults": found.faults, **won, "plies": found.plies}))
    elif found.faults or found.end is None:
        print("\n".join(found.faults))
    else:
        print(f"{game.spec}: all right in {args.games} random games")
        print(f"won by who began {won['first']}, by the other {won['second']}, drawn {won['drawn']}; "
              f"{found.plies[0]} to {found.plies[1]} plies; the last one ended so:\n{found.end.render()}")  # fmt: skip
        print(f"{game.pieces[found.end.playerTurn]} to move has {_result(found.end.value)}: is that right?")
    return 4 if found.faults else 0


def _result(value: float) -> str:
    return "won" if value > 0 else "lost" if value < 0 else "drawn"


def _littlego(argv: list[str]) -> int:
    began = time.monotonic()
    args = parse(LittleGo, argv)
    if not 0.1 <= args.seconds <= 3600:
        raise UserError(f"seconds: expected a number from 0.1 to 3,600, got {args.seconds}")
    _whole(args.sims, "sims", 1, 1_000_000)
    seed = secrets.randbits(31) if args.seed is None else _whole(args.seed, "seed", 0, 2**31 - 1)
    from turnfile import take_turn, thinker

    think = thinker(args.player, sims=args.sims, seconds=args.seconds, seed=seed)
    left = args.seconds - (time.monotonic() - began)
    turn = take_turn(Path(args.input), Path(args.output), Path(args.step_file), think, left)
    where = "PASS" if turn.action == 25 else f"{turn.action // 5},{turn.action % 5}"
    print(f"move {turn.ply + 1}: {where} ({turn.by})", flush=True)
    if turn.late:  # its thread may be anywhere in compiled code: leaving the usual way would wait or crash
        os._exit(0)
    return 0


def _new_game(argv: list[str]) -> int:
    args = parse(NewGame, argv)
    from games.own import write_template

    path, kind = write_template(args.name, Path.cwd())
    main = "main.py" if Path("main.py").exists() else shlex.quote(str(Path(__file__).with_name("main.py")))
    commands = [f"python {main} {rest}" for rest in (
        f"check {path.name}:{kind}", f"--preset tiny --new --game {path.name}:{kind}",
        f"play --game {path.name}:{kind}",
    )]  # fmt: skip
    if args.json:
        print(json.dumps({"file": str(path), "class": kind, "commands": commands}))
        return 0
    notes = ("test the rules, after each change", "learn it, in minutes", "play against what has learned")
    print(f"wrote {path.name}, a small game to change into yours. What to do with it:")
    print("\n".join(f"\n# {note}\n{command}" for command, note in zip(commands, notes, strict=True)))
    return 0


def _whole(value: int, name: str, low: int, high: int) -> int:
    if not low <= value <= high:
        raise UserError(f"{name}: expected a whole number from {low:,} to {high:,}, got {value}")
    return value

