"""Write a report."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from config import UserError
from interface.arguments import Output, Positional, parse

EXAMPLES = {
    "python main.py report": "the newest run of Connect 4, into report.html",
    "python main.py report 3 --game othello -o othello.html": "run 3 of Othello",
    "python main.py report connect4-cpuct=1.0-1.25": "an experiment",
}


@dataclass(frozen=True)
class Report:
    """Write a run or an experiment as one HTML file: curves, Elo, scoreboard, games to step through, openings,
    settings, the command to do it again. It needs no other file and no network."""

    what: Positional[str] = ""
    """Number of a run, or the name or folder of an experiment; by default the newest run."""
    game: str = "connect4"
    """Game of the run; of an experiment only if it is a file of your own."""
    output: Output[Path] = Path("report.html")
    """File to write; a report that was written before is replaced."""
    overwrite: bool = False
    """Replace that file also if it holds something else."""


def run(argv: list[str]) -> int:
    args = parse(Report, argv)
    if args.output.suffix.lower() not in (".html", ".htm"):
        raise UserError(f"output: expected a file that ends in .html, got {str(args.output)[:80]!r}")
    import games
    from plugins.experiment.folder import PLAN, experiments
    from plugins.experiment.report import MARK, experiment_report, run_report
    from storage.atomic_files import check_free, replacing
    from storage.run_folders import find_run

    check_free(args.output, overwrite=args.overwrite, ours=MARK.encode())
    number = re.fullmatch(r"(?:run)?([0-9]{1,6})", args.what)
    places = [Path(args.what), experiments() / args.what] if args.what and not number else []
    if any((place / PLAN).exists() for place in places):
        folder = next(place for place in places if (place / PLAN).exists())
        text = experiment_report(folder, args.game)
    elif places:
        raise UserError(f"expected the number of a run, or an experiment's folder with {PLAN}, got {args.what[:80]!r}")
    else:
        folder = find_run(games.make(args.game).spec, int(number[1]) if number else None)
        text = run_report(folder)
    with replacing(args.output) as trial:
        trial.write_text(text, encoding="utf-8")
    print(f"{folder.name}: {args.output}, {len(text.encode()) / 1e6:.1f} MB")
    return 0
