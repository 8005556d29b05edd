"""Show what the search thinks of a position."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from arguments import parse, whole
from config import UserError


@dataclass(frozen=True)
class Explain:
    """Show what the search thinks of a position."""

    game: str = "connect4"
    moves: str = ""
    """Moves from the start, e.g. 4433."""
    load: str = ""
    """Take the moves from this file (.json, .txt, .sgf) instead."""
    player: str = "best"
    """A network: best, current, version0007, run0002:best."""
    sims: int = 400
    """Simulations."""
    trace: str = ""
    """Write every simulation to this file: each edge's N, P, nu, adjusted P, W, Q, U, Q + U, the chosen one, the
    leaf and the back-fill."""
    json: bool = False
    """Print the result as JSON."""


def run(argv: list[str]) -> int:
    args = parse(Explain, argv)
    whole(args.sims, "sims", 1, 1_000_000)
    from agent import Agent
    from commands.begun import begun
    from explain import after_moves, as_text, explain
    from lineup import make_player
    from loggers import open_log

    record = begun(args.game, args.moves, args.load, argv)
    game, state = record.game, after_moves(record.game, record.moves)
    if state.isEndGame:
        raise UserError(f"expected a position to play in, the game is over\n{state.render()}")
    log = open_log(Path(args.trace), megabytes=64) if args.trace else None
    agent = make_player(args.player, game, sims=args.sims, logger_mcts=log)
    if not isinstance(agent, Agent):
        raise UserError(f"expected a network to explain, got the player {agent.name}")
    if args.trace:
        Path(args.trace).touch()
    found = explain(agent, state)
    print(json.dumps(found) if args.json else as_text(found, state))
    if args.trace and not args.json:
        print(f"\nevery simulation is in {args.trace}")
    return 0
