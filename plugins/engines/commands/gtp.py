"""Serve GTP: play in GoGui, Sabaki, Lizzie and other programs that know this protocol."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from interface.arguments import Positional, parse, whole
from interface.commands import show_compiling

if TYPE_CHECKING:
    from plugins.engines.gtp import Server
    from plugins.engines.gtp_session import Session

EXAMPLES = {
    "python main.py gtp": "the shipped Go network, on 5x5, or your newest run's best",
    "python main.py gtp --game gomoku": "for GoGui, which learns this game's rules from us",
    "python main.py gtp shipped --ponder": "the network that ships, which also thinks on your time",
}


@dataclass(frozen=True)
class Gtp:
    """Serve the Go Text Protocol on the standard input and output, for Go and every other game on points.
    docs/engines.md says what to enter in which program."""

    player: Positional[str] = "best"
    """Player: PLAYERS; boardsize and komi choose the network for them."""
    game: str = "go"
    sims: int = 400
    """Simulations per move of a network while the other program sets no clock; a level has its own."""
    ponder: bool = False
    """Think on the other player's time too: a network that searches, but no level."""
    seed: int = 0
    """Random seed of all that the player draws."""
    override_version: str = ""
    """What to answer to `version`; Lizzie asks for one from 0.16 on."""


def run(argv: list[str]) -> int:
    args = parse(Gtp, argv)
    whole(args.sims, "sims", 1, 1_000_000)
    whole(args.seed, "seed", 0, 2**31 - 1)
    from plugins.engines.gtp import Server

    def load(server: Server) -> Session:
        show_compiling("search")
        import games
        from evaluation.game_contract import checked
        from games.sizes import largest_of
        from plugins.engines.gtp_session import Session
        from plugins.engines.serving import PlayerSource

        source = PlayerSource(args.player, sims=args.sims, seed=args.seed)
        return Session(source, checked(largest_of(games.make(args.game))), server, ponder=args.ponder)

    Server(sys.stdin.buffer, sys.stdout.buffer, args.game, load, args.override_version).serve()
    return 0
