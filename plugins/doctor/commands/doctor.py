"""Say what is wrong with an installation or a run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from config import UserError
from interface.arguments import parse, whole

if TYPE_CHECKING:
    from plugins.doctor.examination import Finding

EXAMPLES = {
    "python main.py doctor": "examine the installation, Connect 4, and its newest run",
    "python main.py doctor --game gomoku --run 2": "examine a run",
    "python main.py doctor --json": "for a bug report",
}


@dataclass(frozen=True)
class Doctor:
    """Say what is wrong with this installation, with learning a game, and with a run; exit code 4 when something is."""

    game: str = "connect4"
    run: int | None = None
    """Number of the run to examine; by default the newest, if there is one."""
    json: bool = False
    """Print the findings as JSON."""


def run(argv: list[str]) -> int:
    args = parse(Doctor, argv)
    if args.run is not None:
        whole(args.run, "run", 0, 999_999)
    found = []
    for part, finding in _findings(args):
        found.append({"part": part, **finding._asdict()})
        if not args.json:
            if len(found) < 2 or found[-2]["part"] != part:
                print(part)
            print(finding, flush=True)
    wrong = [f["name"] for f in found if not f["good"]]
    unchecked = [f["name"] for f in found if not f["checked"]]
    if args.json:
        print(json.dumps({"healthy": not wrong, "wrong": wrong, "unchecked": unchecked, "findings": found}))
    else:
        last = f"{len(wrong)} of {len(found)} checks found something: {', '.join(wrong)}" if wrong else "all is well"
        print(f"{last}; not checked here: {', '.join(unchecked)}" if unchecked else last)
    return 4 if wrong else 0


def _findings(args: Doctor) -> Iterator[tuple[str, Finding]]:
    """Yield (part, finding), each as soon as it is made."""
    import games
    from plugins.doctor.examination import Finding, Patient, examine
    from storage import run_folders
    from training.presets import preset

    game = games.make(args.game)
    has_run = args.run is not None or run_folders.runs_of(game.spec)
    folder = run_folders.find_run(game.spec, args.run) if has_run else None
    config, unreadable = preset("laptop", game=game.spec), ""
    if folder is not None:
        try:
            config = run_folders.settings_of(folder)
        except UserError as error:  # the rest can be examined all the same
            unreadable = str(error).splitlines()[0]
    patient = Patient(game, config, run_folders.RUNS)
    from plugins.doctor import history, installation, learning

    for finding in examine(installation.CHECKS, patient):
        yield "installation", finding
    for finding in examine(learning.CHECKS, patient):
        yield f"learning {game.spec}", finding
    if folder is not None:
        part = f"{folder.parent.name}/{folder.name}"
        if unreadable:
            helps = run_folders.remedy(folder, game.spec)
            yield part, Finding("files", False, unreadable, history.UNDAMAGED, helps)
            return
        for finding in examine(history.CHECKS, history.read_history(folder)):
            yield part, finding
