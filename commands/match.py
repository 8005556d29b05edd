"""Let two players play."""

from __future__ import annotations

from dataclasses import dataclass

from tyro.conf import Positional

from arguments import parse, whole


@dataclass(frozen=True)
class Match:
    """Let two players play, both colours of each seeded opening."""

    player1: Positional[str]
    """best, current, version0007, run0002:best, net:best (no search), rollout:5000, rollout:2s, rollout:2s+book,
    alphabeta:6, alphabeta:2s, greedy, solver, random, uct:1000, gtp:"gnugo --mode gtp", human."""
    player2: Positional[str]
    """The same."""
    game: str = "connect4"
    games: int = 100
    """Number of games."""
    sims: int = 400
    """Simulations a move of a network."""
    opening_plies: int = 0
    """Random moves that open each pair of games; with 0 the players' own chance makes games differ."""
    seed: int = 0
    json: bool = False
    """Print the result as JSON."""


def run(argv: list[str]) -> int:
    args = parse(Match, argv)
    whole(args.games, "games", 1, 100_000)
    whole(args.sims, "sims", 1, 1_000_000)
    import games
    from console import match_console

    return match_console(
        games.make(args.game), args.player1, args.player2, count=args.games, sims=args.sims,
        plies=whole(args.opening_plies, "opening_plies", 0, 100), seed=whole(args.seed, "seed", 0, 2**31 - 1),
        as_json=args.json,
    )  # fmt: skip
