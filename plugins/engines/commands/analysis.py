"""Serve KataGo's analysis protocol: analyse in KaTrain and in scripts."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from interface.arguments import Positional, parse, whole
from interface.commands import show_compiling

if TYPE_CHECKING:
    from plugins.engines.analysis import Server
    from plugins.engines.analysis_results import Analysis

EXAMPLES = {
    "python main.py analysis": "the Go network for the board of each query",
    "python main.py analysis --positions 16": "more positions side by side, for scripts",
    "python main.py analysis run0002:best --visits 1000": "another network, with more simulations",
}


@dataclass(frozen=True)
class Analyse:
    """Serve KataGo's analysis protocol, a JSON object a line, on the standard input and output.
    docs/engines.md says what to enter in KaTrain."""

    player: Positional[str] = "best"
    """A network with its search: NETWORKS; the size of the board and the komi choose it."""
    game: str = "go"
    """Go, or littlego for its own rules."""
    visits: int = 400
    """Simulations of a query that names none."""
    positions: int = 8
    """Positions that are searched side by side."""
    seed: int = 0


def run(argv: list[str]) -> int:
    args = parse(Analyse, argv)
    whole(args.visits, "visits", 1, 10**9)
    whole(args.positions, "positions", 1, 64)
    whole(args.seed, "seed", 0, 2**31 - 1)
    from plugins.engines.analysis import Server

    def load(server: Server) -> Analysis:
        show_compiling("search")
        import games
        from evaluation.game_contract import checked
        from plugins.engines.analysis_results import Analysis
        from plugins.engines.serving import PlayerSource

        source = PlayerSource(args.player, sims=args.visits, seed=args.seed)
        game = checked(games.make(args.game)).longer()
        return Analysis(source, game, server, visits=args.visits, count=args.positions)

    Server(sys.stdin.buffer, sys.stdout.buffer, load).serve()
    return 0
