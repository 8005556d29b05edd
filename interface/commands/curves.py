"""Draw how runs went."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from config import UserError
from interface.arguments import Output, parse

KINDS = (".png", ".svg", ".pdf")

EXAMPLES = {
    "python main.py curves": "the newest run, into curves.png",
    "python main.py curves --run 1 2 -o runs.svg": "two runs in one picture",
    "python main.py curves --x time": "over minutes instead of iterations",
}


@dataclass(frozen=True)
class Curves:
    """Draw runs of a game from their metrics: loss, share of value-keeping moves, Elo, games, memory, speeds."""

    game: str = "connect4"
    run: tuple[int, ...] = ()
    """Numbers of the runs to draw next to each other; by default the newest."""
    x: Literal["iteration", "time"] = "iteration"
    """The x axis."""
    output: Output[Path] = Path("curves.png")
    """File to write: .png, .svg or .pdf; curves that were drawn before are replaced."""
    overwrite: bool = False
    """Replace that file also if it holds something else."""


def run(argv: list[str]) -> int:
    args = parse(Curves, argv)
    if args.output.suffix.lower() not in KINDS:
        raise UserError(f"output: expected a file that ends in {', '.join(KINDS)}, got {str(args.output)[:80]!r}")
    import games
    from interface.curves import MARK, curves
    from interface.metric_lines import lines_of
    from storage.atomic_files import check_free
    from storage.run_folders import SHIPPED, find_run

    check_free(args.output, overwrite=args.overwrite, ours=MARK.encode())
    spec = games.make(args.game).spec
    folders = [find_run(spec, number) for number in args.run or (None,)]
    ships = {folder: "shipped/" if SHIPPED in folder.parents else "" for folder in folders}
    runs = {f"{ships[f]}{f.parent.name}/{f.name}": lines_of(f) for f in folders}
    curves(runs, by_time=args.x == "time").save(args.output)
    print(f"{', '.join(runs)}: {args.output}")
    return 0
