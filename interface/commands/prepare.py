"""Compile ahead what playing and learning need."""

from __future__ import annotations

from dataclasses import dataclass

from interface.arguments import parse
from interface.commands import show_compiling

EXAMPLES = {
    "python main.py prepare": "every game that comes with the program",
    "python main.py prepare --game gomoku": "one game",
    "python main.py prepare --game file.py:Nim": "a game of your own",
}


@dataclass(frozen=True)
class Prepare:
    """Compile ahead what playing, learning and the page need, so that none of them has to wait for it.

    The compiled code is kept; a second time nothing is compiled."""

    game: str = ""
    """Game to prepare; by default every game that comes with the program."""


def run(argv: list[str]) -> int:
    args = parse(Prepare, argv)
    import games
    from training.compile_ahead import compile_ahead

    compiled = show_compiling("training" if args.game else "everything")
    for name in [args.game] if args.game else games.names():
        compile_ahead(games.make(name))
        print(f"{name}: ready", flush=True)
    print(f"{compiled.done} functions compiled in {compiled.seconds:.0f} s" if compiled.done else "nothing to compile")
    return 0
