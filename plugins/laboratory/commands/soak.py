"""Train among faults."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

from config import UserError
from interface.arguments import parse

EXAMPLES = {
    "python main.py soak": "ten minutes of faults",
    "python main.py soak --minutes 60 --seed 1": "an hour of others",
    "python main.py soak --json": "the result for programs",
}


@dataclass(frozen=True)
class Soak:
    """Run the program for some time among kills, freezes, a full disk and damaged files, and count what is lost."""

    minutes: float = 10.0
    """Minutes to run."""
    seed: int = 0
    """Random seed of the faults and their times."""
    json: bool = False
    """Print the result as JSON only."""


def run(argv: list[str]) -> int:
    args = parse(Soak, argv)
    if not 0 < args.minutes <= 100_000:
        raise UserError(f"minutes: expected a number above 0, up to 100,000, got {args.minutes:g}")
    from plugins.laboratory.soak_test import Soak as Work

    with tempfile.TemporaryDirectory(prefix="soak") as place:
        say = (lambda text: None) if args.json else (lambda text: print(text, flush=True))
        found = Work(Path(place), seed=args.seed, say=say).run(args.minutes)
    print(json.dumps(found._asdict()))
    whole = found.state_equal and not (found.missing or found.surprises)
    return 0 if whole else 4
