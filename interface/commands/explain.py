"""Show the result of a search on a position."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from config import UserError
from interface.arguments import early, parse, whole
from interface.commands import show_compiling
from languages.translate import tr
from system.terminal import columns_for

EXAMPLES = {
    "python main.py explain": "the start of Connect 4, by your best network",
    "python main.py explain --moves 4453 --sims 800": "another position, more simulations",
    "python main.py explain --load game.json --ply 12": "a position of a saved game",
}


@dataclass(frozen=True)
class Explain:
    """Show the result of a search on a position."""

    game: str = "connect4"
    moves: str = ""
    """Moves from the start: 4453, in Othello f5d6c3; in other games blanks or commas between them, "b2 a3"."""
    load: str = ""
    """Take the moves from this file (.json, .jsonl, .sgf, .psq, .ggf, .wtb, .obf; .txt with --game) instead."""
    game_number: int = 1
    """Which game of a file of several, from 1."""
    ply: int | None = None
    """Number of the file's moves after which the position is explained; by default all."""
    player: str = "best"
    """A network with its search: NETWORKS."""
    sims: int = 400
    """Simulations."""
    trace: str = ""
    """Write every simulation to this file: each edge's N, P, nu, adjusted P, W, Q, U, Q + U, the chosen one, the
    leaf and the back-fill."""
    overwrite: bool = False
    """Replace that file if it exists."""
    json: bool = False
    """Print the result as JSON."""


def run(argv: list[str]) -> int:
    args = parse(Explain, argv)
    whole(args.sims, "sims", 1, 1_000_000)
    show_compiling("search")
    from agent import Agent
    from games.line_of_moves import after_moves
    from interface.commands.given_position import begun
    from interface.explain import as_text, explain
    from loggers import trace
    from players.by_name import make_player
    from search.trace import SearchLog
    from storage.game_files import check_free

    record = begun(args.game, args.moves, args.load, argv, game_number=args.game_number, ply=args.ply)
    game, state = record.game, after_moves(record.game, record.moves)
    if args.trace:
        check_free(Path(args.trace), overwrite=args.overwrite)
    with trace(Path(args.trace)) if args.trace else nullcontext() as log:
        agent = make_player(args.player, game, sims=args.sims, observer=SearchLog(log) if log else None)
        if not isinstance(agent, Agent):
            raise UserError(f"expected a network to explain, got the player {agent.name}")
        if agent.name.startswith("level ") and early(argv, "sims") is not None:
            raise UserError(f"expected no --sims with a level, which has {agent.mcts_sims} simulations")
        found = explain(agent, state)
        if log:
            log.info("the search ends with %d simulations", found["simulations"])
    if args.json:
        print(json.dumps(found | ({"notes": record.notes} if record.notes else {})))
        return 0
    for note in record.notes:
        print(note)
    print(as_text(found, state, columns_for(sys.stdout)))
    if found["proven"]:
        print("\n" + tr("a proven position needs no more search"))
    if args.trace:
        print("\n" + tr("every simulation is in {file}", file=args.trace))
    return 0
