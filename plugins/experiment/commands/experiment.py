"""Compare ideas by whole runs."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from config import UserError
from interface.arguments import Output, Positional, Repeated, parse
from system.shell import as_word, join

if TYPE_CHECKING:
    from plugins.experiment.plan import Plan

EXAMPLES = {
    "python main.py experiment --vary cpuct=1.0,1.25 --seeds 3 --minutes 10": "is another cpuct better in Connect 4?",
    "python main.py experiment ideas.toml": "variants of a file: settings, checkouts, networks, games",
    "python main.py experiment ideas.toml --power": "what it would see, and what it costs; nothing is run",
}


@dataclass(frozen=True)
class Experiment:
    """Train each variant from several seeds with equal compute, let all play each other, and say what that proves.

    Stop or kill it at any time: the same command resumes it, and makes each run once."""

    file: Positional[str] = ""
    """A plan, FILE.toml; docs/compare_ideas.md describes it."""
    game: str = ""
    """Game to learn, without a file."""
    vary: str = ""
    """The variants, without a file: a setting and its values, the first is the base that the others are compared
    with."""
    set: Repeated[tuple[str, ...]] = ()
    """Settings of all variants, NAME=VALUE, without a file."""
    seeds: int | None = None
    """Runs of each variant; the difference is measured over them (3)."""
    first_seed: int | None = None
    """Seed of the first of them (0)."""
    minutes: float | None = None
    """Minutes of each run: processor time of a core."""
    evaluations: float | None = None
    """Positions that the network evaluates in self-play and reanalysis of each run, in the place of
    minutes."""
    self_play_games: int | None = None
    """Games of self-play of each run, in the place of minutes."""
    cores: int | None = None
    """Processors of a run (1); as many runs go on side by side as there is room for."""
    match_games: int | None = None
    """Games between two variants in each seed (200)."""
    sims: int | None = None
    """Simulations a move in these games (400)."""
    opening_plies: int | None = None
    """Random moves that open each pair of them (4)."""
    positions: int | None = None
    """Solved positions, in games with a solver (1000); 0 = none."""
    spread: float | None = None
    """Standard deviation over seeds, in Elo, with which its power is computed (20)."""
    output: Output[Path | None] = None
    """Folder of the experiment, by default in run/experiments/."""
    power: bool = False
    """Only say what it would see, and what it costs."""
    json: bool = False
    """Print the result as JSON."""


def run(argv: list[str]) -> int:
    args = parse(Experiment, argv)
    from plugins.experiment.answer import power, rows, sentences, table

    plan, name = _plan(args)
    plan = plan.with_whole_names()
    say = _say(args.json)
    runs = len(plan.variants) * plan.seeds
    say(f"{len(plan.variants)} variants, {plan.seeds} seeds: {runs} runs of {plan.budget}")
    for line in power(plan):
        say(line)
    if args.power:
        return 0
    from loggers import Console
    from plugins.experiment.folder import begin, default_folder, locked
    from plugins.experiment.measure import measure_all, solver_of
    from plugins.experiment.runs import jobs, run_all

    folder = args.output or default_folder(name)
    with locked(folder):
        if changed := begin(folder, plan, "python main.py experiment " + join(argv)):
            say(f"what is made from here on is not made like the rest: {'; '.join(changed)}")
        solver_of(plan, say)
        todo = jobs(plan, folder)
        say(f"the experiment is in {folder}; the same command resumes it")
        run_all(plan, todo, say)
        results = measure_all(plan, todo, folder, Console(quiet=args.json))
    found = rows(plan, todo, results)
    if args.json:
        print(json.dumps(_values(found, sentences(plan, found))))
    else:
        print("\n" + table(plan, found) + "\n\n" + "\n".join(sentences(plan, found)))
        print(f"\n`python main.py report {join([as_word(folder)])} -o report.html` writes it all into one file")
    return 0


def _say(as_json: bool) -> Any:
    return lambda text: print(text, file=sys.stderr if as_json else sys.stdout, flush=True)


def _plan(args: Experiment) -> tuple[Plan, str]:
    """Return (the plan, a name for its folder)."""
    from plugins.experiment.plan import BUDGETS, NUMBERS, from_file, from_values, pair, varied

    given = {name: value for name in NUMBERS if (value := getattr(args, name)) is not None}
    if args.file:
        if args.vary or args.game or args.set or given:
            raise UserError("expected a file, which holds the whole plan, or --game, --vary and numbers")
        return from_file(Path(args.file)), Path(args.file).stem
    if not args.vary:
        raise UserError("expected a plan, FILE.toml, or --vary NAME=VALUE,VALUE; docs/compare_ideas.md describes both")
    settings = {}
    for word in args.set:
        name, values = pair(word, "set")
        if len(values) != 1:
            raise UserError(f"set: expected one value, got {word[:60]!r}")
        settings[name] = values[0]
    if not any(name in given for name in BUDGETS):
        given["minutes"] = 10.0
    game = args.game or "connect4"
    whole = {"game": game, "variants": varied(args.vary), "settings": settings, **given}
    return from_values(whole, "experiment"), f"{game} {args.vary}"


def _values(found: list[Any], said: list[str]) -> dict[str, Any]:
    """Return the answer for programs; an end that is not finite is null."""

    def plain(value: Any) -> Any:
        if hasattr(value, "_asdict"):
            return {key: plain(inner) for key, inner in value._asdict().items()}
        if isinstance(value, list | tuple):
            return [plain(inner) for inner in value]
        return None if isinstance(value, float) and abs(value) == float("inf") else value

    return {"rows": [plain(row) for row in found], "words": said}
