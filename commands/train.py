"""Learn a game: start or go on with a run."""

from __future__ import annotations

import json
import signal
import sys
from dataclasses import dataclass
from typing import Any

from arguments import Choice, base_of, early, number, parse, preset_checked
from config import Config


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


def run(argv: list[str]) -> int:
    if "-h" in argv or "--help" in argv:
        parse(Train, argv, Train(base_of([])))
    base = base_of(argv)
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
