"""The records, and a check of one."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from config import UserError
from interface.arguments import parse

if TYPE_CHECKING:
    from plugins.records.goals import Goal, Record

EXAMPLES = {
    "python main.py record": "all goals and their records",
    "python main.py record --check connect4": "train what the record claims, and say whether it holds",
    "python main.py record --file mine.toml --check connect4": "a claim of your own, before you send it",
}


@dataclass(frozen=True)
class Records:
    """Show how fast games are learned, or check a claim: train with its settings and seeds, and measure its goal.

    Stop or kill a check at any time: the same command resumes it, by the same program on the same machine."""

    check: str = ""
    """The goal whose best record is to be run."""
    file: Path | None = None
    """Another file of goals and records, in the place of the repository's plugins/records/records.toml."""
    json: bool = False
    """Print the result as JSON."""


def run(argv: list[str]) -> int:
    args = parse(Records, argv)
    from plugins.records.goals import SHIPPED, read_goals

    goals = read_goals(args.file or SHIPPED)
    if args.check:
        if args.check not in goals:
            raise UserError(f"check: expected a goal out of {', '.join(goals)}, got {args.check[:60]!r}")
        return _check(goals[args.check], args.json)
    if args.json:
        print(json.dumps({name: _values(goal) for name, goal in goals.items()}))
    else:
        print(table(goals))
        print("\n`python main.py record --check GOAL` runs a claim; docs/compare_ideas.md says how to beat one")
    return 0


def table(goals: dict[str, Goal]) -> str:
    """Return the goals and their best records in Markdown."""
    lines = ["| goal | reached after | figure | seeds | machine | commit | command |", "|---|---|---|---|---|---|---|"]
    for name, goal in goals.items():
        best = goal.best
        cores = "1 core" if goal.cores == 1 else f"{goal.cores} cores"
        if best is None:
            lines.append(f"| {name}: {goal.about} | no record yet, on {cores} | | | | | |")
            continue
        seeds = ", ".join(map(str, best.seeds))
        lines.append(
            f"| {name}: {goal.about} | {best.minutes:g} minutes of {cores} | {best.figure:g} % | {seeds} | "
            f"{best.machine} | {best.commit} | `{best.command}` |"
        )
    return "\n".join(lines)


def _values(goal: Goal) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(goal)


def _check(goal: Goal, as_json: bool) -> int:
    from plugins.experiment.folder import machine
    from plugins.records.check import check

    record = goal.best
    if record is None:
        raise UserError(f"{goal.name}: expected a record to check, nobody has one; docs/compare_ideas.md says how")

    def say(text: str) -> None:
        print(text, file=sys.stderr if as_json else sys.stdout, flush=True)

    say(f"{goal.name}: {goal.about}, in {record.minutes:g} minutes of {goal.cores} cores")
    found = check(goal, record, say)
    holds = all(run.percent >= goal.goal for run in found)
    if as_json:
        print(json.dumps({"goal": goal.name, "holds": holds, "runs": [r._asdict() for r in found], "by": machine()}))
        return 0 if holds else 1
    for each in found:
        print(f"  seed {each.seed}: {each.percent:.1f} % after {each.minutes:.1f} minutes, goal {goal.goal:g} %")
    print(f"the claim {'holds' if holds else 'does not hold'}")
    if holds:
        print("\n" + _as_toml(goal, record, found))
    return 0 if holds else 1


def _as_toml(goal: Goal, record: Record, found: list[Any]) -> str:
    """Return this check as a record, to be put into the file."""
    from plugins.experiment.folder import machine

    by = machine()
    last = max(run.minutes for run in found)
    settings = "".join(f"{name} = {json.dumps(value)}\n" for name, value in record.settings.items())
    lines = [
        f"[[{goal.name}.records]]",
        f"minutes = {json.dumps(last)}",
        f"of = {json.dumps(record.planned)}",
        f"seeds = {json.dumps([run.seed for run in found])}",
        f"figure = {min(run.percent for run in found):g}",
        f"commit = {json.dumps(by['commit'])}",
        f"date = {by['date']}",
        f"machine = {json.dumps(by['processor'])}",
        f'command = "python main.py record --check {goal.name}"',
        f"curve = {json.dumps(found[0].curve)}",
    ]
    return "\n".join(lines) + (f"\n[{goal.name}.records.settings]\n{settings}" if settings else "\n")
