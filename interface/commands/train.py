"""Learn a game: start or resume a run."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from config import FIELDS, Config, UserError, is_fixed, with_overrides
from interface.arguments import (
    HELP,
    Choice,
    base_of,
    early,
    fitted_to,
    number,
    parse,
    preset_checked,
    with_plugin_options,
)
from interface.commands import show_compiling, waiting
from system.processes import heeded
from system.shell import quoted
from training.presets import following

if TYPE_CHECKING:
    from initialise import Session
    from training.game_source import Machines

EXAMPLES = {
    "python main.py": "resume the newest unfinished Connect 4 run, or start one",
    "python main.py --game gomoku --minutes 60 --new": "a new run of an hour",
    "python main.py --run 2 --iterations 800": "resume run 2, also if it was finished",
}
USED = (
    "game", "minutes", "iterations", "preset", "new", "run", "learning_rate", "mcts_sims", "hidden_cnn_layers",
    "workers", "json",
)  # fmt: skip


@with_plugin_options
@dataclass(frozen=True)
class Train:
    """Learn a game. By default resumes the newest unfinished run of that game."""

    config: Config
    preset: Choice | None = None
    """Settings to start from: laptop (default), tiny (tic-tac-toe), classic (the article's), gpu."""
    new: bool = False
    """Start a new run even if one is unfinished."""
    run: int | None = None
    """Number of the run to resume. Of a finished run nothing is done: so a command that is started again and again
    stays with its run."""
    initial_run_number: int | None = None
    """Number of a run whose model or memory a new run starts from."""
    initial_model_version: int | None = None
    """Version of its network to begin with. The new run's network is like it, unless --hidden-cnn-layers or a --preset
    other than laptop names another; one with more filters or blocks is an enlarged copy (normalisation fixed)."""
    initial_memory_version: int | None = None
    """Iteration up to which its games are taken over."""
    initial_game: str = ""
    """The game of that run where it is another one, whose network fits: other rules on the same boards."""
    log_mcts: bool = False
    """Write every simulation of tournaments to logs/logger_mcts.log, its newest 16 MB: very slow; the games are the
    same."""
    json: bool = False
    """Print each iteration's line of metrics.jsonl instead of words and bars."""

    def machines(self, config: Config, say: Callable[[str], None]) -> AbstractContextManager[Machines | None]:
        """Return the other machines that play the games, connected while the block lasts; None = there are none.

        A plugin may replace it, with options of its own. say: shows a line to the user.
        """
        return nullcontext()

    def tracker(self, session: Session) -> AbstractContextManager[Callable[[dict[str, Any]], None] | None]:
        """Return what gets each iteration's line of metrics.jsonl while the block lasts; None = nothing does.

        A plugin may replace it, with options of its own.
        """
        return nullcontext()


def run(argv: list[str]) -> int:
    if HELP.intersection(argv):
        parse(Train, argv, Train(base_of(argv)))
    with _Signals() as signals:
        try:
            return _run(argv, signals)
        except Exception:
            if signals.count > 1:  # for example, a library's import can turn our KeyboardInterrupt into another error
                raise KeyboardInterrupt from None
            raise


def _run(argv: list[str], signals: _Signals) -> int:
    base = base_of(argv)
    import games
    from evaluation.game_contract import checked
    from loggers import Console
    from network.own_network import remember
    from storage.atomic_files import DamagedData
    from storage.run_folders import (
        EXTRA_HEADS,
        NETWORK,
        find_run,
        game_of,
        read_config,
        run_to_change,
        unfinished_run,
        with_network_of,
        with_remedy,
    )

    spec = checked(games.make(base.game)).spec
    show_compiling("training")
    source, wanted, folder = number(argv, "initial_run_number"), number(argv, "run"), None
    fresh = "--new" in argv or source is not None
    if fresh and wanted is not None:
        raise UserError("expected --run, which resumes a run, or --new and --initial-run-number, which start one")
    taken = [early(argv, f"initial_{what}_version") is not None for what in ("model", "memory")]
    other = early(argv, "initial_game")
    if source is None and (any(taken) or other is not None):
        message = "expected --initial-run-number together with its game or a version of its model or memory"
        raise UserError(f"{message}: the run that it belongs to")
    theirs = games.make(other).spec if other else spec
    if not fresh:
        folder = unfinished_run(spec) if wanted is None else run_to_change(spec, wanted)
    try:
        if folder is not None:
            _require_free(folder)  # before anything slow is loaded
        chosen = early(argv, "preset")
        like_theirs: tuple[str, ...] = ()
        if folder is not None:
            kept = read_config(folder)
            game_of(folder, kept)
            if chosen is None:
                base = kept
            elif chosen == "laptop":
                stays = {*filter(is_fixed, FIELDS), *following(kept)}
                base = with_overrides(base, **{name: getattr(kept, name) for name in stays})
        if source is not None and taken[0] and chosen in (None, "laptop"):
            base, like_theirs = with_network_of(base, find_run(theirs, source)), (*NETWORK, *EXTRA_HEADS)
        args = parse(Train, argv, Train(base))
        config = preset_checked(args.config)
        if folder is None:
            config = fitted_to(argv, config, like_theirs)
        if folder is not None and config.network is not None and early(argv, "network") is not None:
            remember(config.network)
        with (
            args.machines(config, Console(quiet=args.json).warn) as machines,
            _session(folder, args, config) as session,
            args.tracker(session) as track,
        ):
            from training.work import work_of  # loads what trains, as the session has

            work_of(session).machines = machines
            say = session.console.say if wanted is None else lambda text: None  # --run stays with its run
            return _work(session, signals, say, resumed=folder is not None, fresh=fresh, as_json=args.json, track=track)
    except DamagedData as error:
        damaged = folder if folder is not None else find_run(theirs, source) if source else None
        if damaged is None:
            raise
        raise with_remedy(error, damaged, spec if folder else theirs) from None


def _require_free(folder: Path) -> None:
    from storage.run_folders import RunBusy, require_free

    try:
        require_free(folder)
    except RunBusy as error:
        raise RunBusy(f"{error}, or start another with --new") from None


def _session(folder: Path | None, args: Train, config: Config) -> Session:
    with waiting():
        import model  # noqa: F401
        from initialise import Session
        from loggers import Console

    console = Console(quiet=args.json)
    if folder is not None:
        return Session.open(folder, config, console=console, log_mcts=args.log_mcts)
    return Session.start(
        config, console=console, log_mcts=args.log_mcts, INITIAL_RUN_NUMBER=args.initial_run_number,
        INITIAL_MODEL_VERSION=args.initial_model_version, INITIAL_MEMORY_VERSION=args.initial_memory_version,
        INITIAL_GAME=args.initial_game,
    )  # fmt: skip


class _Signals:
    """Ctrl-C or a request to end, from the first moment on: one ends the work at the next commit, a second at once.

    What the parent ignores, such as Ctrl-C in the background of a script, stays ignored.
    """

    def __init__(self) -> None:
        self.count = 0

    def __enter__(self) -> _Signals:
        self._before = {n: signal.signal(n, self._come) for n in heeded()}
        return self

    def __exit__(self, *_: object) -> None:
        for which, handler in self._before.items():
            signal.signal(which, handler)

    def _come(self, number: int, frame: Any) -> None:
        self.count += 1
        if self.count > 1:
            raise KeyboardInterrupt
        with suppress(OSError):  # nobody reads it any more
            os.write(2, b"\nstopping; once more stops at once\n")


def _work(
    session: Session, signals: _Signals, warn: Callable[[str], None], *, resumed: bool, fresh: bool, as_json: bool,
    track: Callable[[dict[str, Any]], None] | None,
) -> int:  # fmt: skip
    """Train and say how it ended; return the exit code.

    warn: say what the same command does next time. track: gets each iteration's line.
    """
    from main import train
    from training.estimate import budget_text, cautions
    from training.stop_signals import last_words

    say, folder = session.console.say, session.folder
    name = f"{folder.parent.name}/{folder.name}"
    say(f"{'resuming' if resumed else 'new run'} {name}, iteration {session.iteration}")
    if not session.is_unfinished():
        done, c = session.iteration - 1, session.config
        more = [f"more than {done} --iterations"] if done >= c.iterations else []
        more += [f"more than {c.minutes:g} --minutes"] if 0 < 60 * c.minutes <= session.worked_seconds else []
        made = session.evaluations(done)
        more += [f"more than {c.evaluations:g} --evaluations"] if 0 < c.evaluations <= made else []
        how = " and ".join(more) or "more --minutes"
        session.console.warn(f"this run is finished; to continue it: {how}; --new starts another")
        return 0
    option = f"--run {int(folder.name[3:])}"
    stopped = f"stopped; `python main.py --game {quoted(session.game.spec)} {option}` resumes it"
    last_words(stopped)
    if fresh:
        warn(f"  the same command starts another run; with {option} it resumes this one")
    else:
        warn(f"  the same command resumes this run, and starts another when it is finished; with {option} it does not")

    def report(line: dict[str, Any]) -> None:
        if as_json:
            print(json.dumps(line), flush=True)
        if track is not None:
            track(line)

    try:
        for line in cautions(session.config):
            session.console.warn(line)
        say(budget_text(session))
        train(session, stop=lambda: signals.count > 0, on_iteration=report)
    except KeyboardInterrupt:
        signals.count += 1
    if signals.count:
        print(stopped, file=sys.stderr if as_json else sys.stdout, flush=True)
        return 130
    play = f"python main.py play --game {quoted(session.game.spec)} --against {folder.name}"
    if session.best_version or not session.current_version:
        say(f"finished: version {session.best_version} is best; play: `{play}:best`")
    else:
        newest = f"version {session.current_version} is the newest"
        say(f"finished: {newest}, none has proved better than the untrained version 0; play: `{play}:current`")
    warn(f"  the same command starts another run; with {option} it does nothing, as this one is finished")
    return 0
