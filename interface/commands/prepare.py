"""Compile ahead what playing and learning need."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from interface.arguments import parse
from interface.commands import show_compiling

if TYPE_CHECKING:
    from compiling.progress import Watch

EXAMPLES = {
    "python main.py prepare": "every game that comes with the program",
    "python main.py prepare --game gomoku": "one game",
    "python main.py prepare --game file.py:Nim": "a game of your own",
}


@dataclass(frozen=True)
class Prepare:
    """Compile ahead what playing, learning and the page need, so that none of them has to wait for it.

    The compiled code is kept; a second time nothing is compiled."""

    game: str | None = None
    """Game to prepare; by default every game that comes with the program."""
    json: bool = False
    """Print how far it is each second, and the result, as lines of JSON."""


def run(argv: list[str]) -> int:
    args = parse(Prepare, argv)
    import games
    from interface.compile_ahead import compile_ahead

    kind = "everything" if args.game is None else "training"
    compiled = _tell_as_json(kind) if args.json else show_compiling(kind)
    for name in games.names() if args.game is None else [args.game]:
        compile_ahead(games.make(name))
        if not args.json:
            print(f"{name}: ready", flush=True)
    compiled.end()
    if args.json:
        told = {"compiled": compiled.done, "expected": compiled.done, "seconds": round(compiled.seconds, 1)}
        print(json.dumps({**told, "ready": True}))
    elif compiled.done:
        print(f"{compiled.done} functions compiled in {compiled.seconds:.0f} s")
    else:
        print("nothing to compile")
    return 0


def _tell_as_json(kind: str) -> Watch:
    """Print a line about each second while something is compiled; return the count."""
    from compiling.progress import EXPECTED, Progress, Watch

    def show(progress: Progress | None) -> None:
        if progress is not None:
            told = {"compiled": progress.done, "expected": progress.expected, "seconds": round(progress.seconds, 1)}
            print(json.dumps(told), flush=True)

    return Watch(show, expected=EXPECTED[kind], every=0.5)
