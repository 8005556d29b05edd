"""Search a space of settings."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interface.arguments import Output, Positional, parse

if TYPE_CHECKING:
    from plugins.sweep.search import Trial
    from plugins.sweep.space import Sweep

EXAMPLES = {
    "python main.py sweep space.toml": "try settings of a space, each trial with equal compute",
    "python main.py sweep space.toml --cost": "what it would cost; nothing is run",
    "python main.py sweep space.toml -o tried": "in a folder of its own",
}


@dataclass(frozen=True)
class Sweeping:
    """Search a space of settings with Optuna: each trial trains from several seeds with equal compute, and plays the
    base.

    Stop or kill it at any time: the same command resumes it; with more trials in the file it continues."""

    file: Positional[str]
    """A sweep, FILE.toml; docs/compare_ideas.md describes it."""
    output: Output[Path | None] = None
    """Folder of the sweep, by default in run/experiments/."""
    cost: bool = False
    """Only say what it costs."""
    json: bool = False
    """Print the result as JSON."""


def run(argv: list[str]) -> int:
    args = parse(Sweeping, argv)
    from plugins.sweep.space import from_file

    sweep = from_file(Path(args.file))
    plan = sweep.plan.with_whole_names()

    def say(text: str) -> None:
        print(text, file=sys.stderr if args.json else sys.stdout, flush=True)

    runs = (sweep.trials + 1) * plan.seeds
    say(f"{sweep.trials} trials and the base, {plan.seeds} seeds: {runs} runs of {plan.budget}, {plan.compute(runs)}")
    if args.cost:
        return 0
    from loggers import Console
    from plugins.experiment.folder import default_folder, locked
    from plugins.sweep.search import begin, importance, require_optuna, run_trials

    require_optuna()
    folder = args.output or default_folder(f"sweep-{Path(args.file).stem}")
    with locked(folder):
        if changed := begin(folder, sweep):
            say(f"what is made from here on is not made like the rest: {'; '.join(changed)}")
        say(f"the sweep is in {folder}; the same command resumes it")
        found = run_trials(sweep, folder, say, Console(quiet=args.json))
        shares = importance(folder)
    if args.json:
        trials = [{"trial": t.number, "settings": t.settings, "elo": t.elo.mean, "seeds": t.elo.seeds} for t in found]
        print(json.dumps({"trials": trials, "importance": shares}))
    else:
        print(f"\n{table(found)}\n\n{_importance(shares)}\n\n{_next(sweep, found)}")
    return 0


def table(found: list[Trial]) -> str:
    """Return the trials in Markdown, the best first."""
    names = list(found[0].settings)
    lines = [f"| trial | {' | '.join(names)} | Elo over the base | by seed |", "|---" * (len(names) + 3) + "|"]
    for trial in sorted(found, key=lambda trial: -trial.elo.mean):
        values = " | ".join(f"{v:.4g}" if isinstance(v, float) else str(v) for v in trial.settings.values())
        seeds = ", ".join(f"{elo:+.0f}" for elo in trial.elo.seeds)
        lines.append(f"| {trial.number} | {values} | {trial.elo.mean:+.0f} | {seeds} |")
    return "\n".join(lines)


def _importance(shares: dict[str, float]) -> str:
    """Return how much each setting explains, as bars."""
    if not shares:
        return "too few trials to say which setting matters"
    wide = max(map(len, shares))
    bars = [f"  {name:{wide}} {100 * share:3.0f} % {'#' * round(40 * share)}" for name, share in shares.items()]
    return "\n".join(["how much of the difference each setting explains:", *bars])


def _next(sweep: Sweep, found: list[Trial]) -> str:
    """Return how to find out whether the best trial is better, as a plan: the best of many looks better by chance."""
    best = max(found, key=lambda trial: trial.elo.mean)
    plan = sweep.plan
    numbers = "match_games", "sims", "opening_plies", "spread"
    named = [name for name in numbers if getattr(plan, name) != getattr(type(plan), name)]
    budget = next(name for name in ("minutes", "evaluations", "self_play_games") if getattr(plan, name))
    lines = [
        f"the best of {len(found)} trials looks better than it is: chance chose it too. Whether it is better says an",
        "experiment with other seeds, as a file for `python main.py experiment`:",
        "",
        f"game = {json.dumps(plan.game)}",
        f"first_seed = {plan.first_seed + plan.seeds}",
        f"seeds = {max(plan.seeds, 3)}",
        f"{budget} = {_toml(getattr(plan, budget))}",
        f"cores = {plan.cores}",
        *(f"{name} = {_toml(getattr(plan, name))}" for name in named),
    ]
    for heading, settings in (("settings", plan.settings), ("variants.base", {}), ("variants.best", best.settings)):
        lines += ["", f"[{heading}]", *(f"{name} = {_toml(value)}" for name, value in settings.items())]
    return "\n".join(lines)


def _toml(value: Any) -> str:
    return json.dumps(list(value) if isinstance(value, tuple) else value)
