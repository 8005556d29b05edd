"""Show what the versions of a run have learned, and when."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass

from config import UserError
from interface.arguments import parse
from system.terminal import LiveLine, redraws

EXAMPLES = {
    "python main.py milestones": "the newest run of Connect 4",
    "python main.py milestones --game tictactoe --run 2": "a run of another game",
    "python main.py milestones --json": "as JSON, for programs",
}


@dataclass(frozen=True)
class Milestones:
    """Show what the versions of a run have learned, by the network alone: the share of positions with a win in one,
    with a win to stop and so on in which the most probable move is right, and in words from which version on it is
    right in more than nine of ten. The positions are made from the rules; docs/training.md says how."""

    game: str = "connect4"
    run: int | None = None
    """Number of the run; by default the newest, or the one that ships."""
    versions: int = 40
    """Most versions to look at, the first and the newest among them."""
    json: bool = False
    """Print them as JSON."""


def run(argv: list[str]) -> int:
    args = parse(Milestones, argv)
    if args.versions < 1:
        raise UserError(f"versions: expected at least 1, got {args.versions}")
    import games
    from evaluation.game_contract import checked
    from evaluation.milestones import chosen_versions, in_words, milestones, network_of, probes, shares
    from players.by_name import run_folder
    from storage.run_store import Store

    game = checked(games.make(args.game))
    folder = run_folder(game, args.run)
    store = Store(folder / "run.db", read_only=True)
    try:
        numbers = chosen_versions([row.version for row in store.versions()], args.versions)
    finally:
        store.close()
    line = LiveLine(sys.stderr) if not args.json and redraws(sys.stderr) else None

    def report(text: str) -> None:
        if line is not None:
            line.show(text)

    asked = probes(game, report=lambda kind: report(f"positions to ask about: {kind}"))
    found = {}
    for number in numbers:
        report(f"version {number}")
        found[number] = shares(network_of(folder, number, game), asked)
    report("")
    held = milestones(found)
    name = f"{folder.parent.name}/{folder.name}"
    if args.json:
        lines = {str(number): {k: round(v, 4) for k, v in line.items()} for number, line in found.items()}
        print(json.dumps({"game": game.spec, "run": name, "versions": lines,
                          "milestones": [{"version": m.version, "kind": m.kind} for m in held]}))  # fmt: skip
        return 0
    print(as_text(name, {probe.kind: len(probe.positions) for probe in asked}, found))
    for milestone in held:
        print(in_words(milestone, numbers[0]))
    return 0


def as_text(name: str, asked: dict[str, int], found: dict[int, dict[str, float]]) -> str:
    """Return the shares as a table: a row for each version, a column for each probe."""
    lines = [f"{name}: % of the positions in which the most probable move is right"]
    lines.append("version" + "".join(f"{kind:>9}" for kind in asked))
    lines.append("     of" + "".join(f"{count:>9}" for count in asked.values()))
    for number, line in found.items():
        lines.append(f"{number:>7}" + "".join(f"{100 * line[kind]:>9.0f}" for kind in asked))
    return "\n".join(lines)
