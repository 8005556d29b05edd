"""Serve the Gomocup protocol: play gomoku in Piskvork and its tournaments."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from interface.arguments import Positional, parse, whole
from interface.commands import show_compiling

if TYPE_CHECKING:
    from plugins.engines.gomocup import Server
    from plugins.engines.gomocup_session import Session

EXAMPLES = {
    "python main.py gomocup": "a shipped gomoku network, for any board",
    "python main.py gomocup run0002:best": "a network that you trained",
    "python main.py gomocup rollout:5s": "a player without a network, for a board of any size",
}


@dataclass(frozen=True)
class Gomocup:
    """Serve the Gomocup protocol on the standard input and output, for Piskvork and other managers.
    docs/engines.md says what to enter in them."""

    player: Positional[str] = "best"
    """Player: PLAYERS; the size of the board chooses the network."""
    game: str = "gomoku"
    """Gomoku, with the size and rule at the start: the manager may name others."""
    sims: int = 400
    """Simulations per move of a network while the manager sets no limit of time; a level has its own."""
    seed: int = 0
    """Random seed of all that the player draws."""


def run(argv: list[str]) -> int:
    args = parse(Gomocup, argv)
    whole(args.sims, "sims", 1, 1_000_000)
    whole(args.seed, "seed", 0, 2**31 - 1)
    from plugins.engines.gomocup import Server

    def load(server: Server) -> Session:
        show_compiling("search")
        import games
        from evaluation.game_contract import checked
        from games.sizes import largest_of
        from plugins.engines.gomocup_session import Session
        from plugins.engines.serving import PlayerSource

        game = checked(largest_of(games.make(args.game)))
        return Session(PlayerSource(args.player, sims=args.sims, seed=args.seed), game, server)

    Server(sys.stdin.buffer, sys.stdout.buffer, load).serve()
    return 0
