"""Measure how well a player plays."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from config import UserError
from interface.arguments import Positional, early, parse, whole, with_plugin_options
from interface.commands import show_compiling
from system.terminal import LiveLine, redraws

if TYPE_CHECKING:
    from agent import Player
    from evaluation.match import MatchMachines
    from game import Game

EXAMPLES = {
    "python main.py evaluate": "your best network: exact positions and the ladder",
    "python main.py evaluate rollout:1000": "a baseline to compare with",
    "python main.py evaluate --positions 300 --ladder-games 0": "quickly, exact positions only",
}


@with_plugin_options
@dataclass(frozen=True)
class Evaluate:
    """Measure a player: the share of its moves that keep the game's exact value, and its place on a ladder of rollout
    players. docs/evaluation.md says how."""

    player: Positional[str] = "best"
    """Player to measure: PLAYERS (people, and networks with a clock or a book, are not possible); see docs/play.md,
    and `levels` for the levels."""
    game: str = "connect4"
    positions: int = 3000
    """Solved positions on which to choose a move; 0 leaves the exact part out."""
    sims: tuple[int, ...] = (25, 100, 400, 800)
    """Simulations per move of a network, one line each; the network alone is always measured."""
    ladder_games: int = 160
    """Most games of the ladder; 0 leaves it out."""
    ladder_seconds: float = 300.0
    """Seconds after which the ladder ends, when the games in play are over; 0 = no limit. Only then the result depends
    on speed."""
    ladder_sims: int = 400
    """Simulations per move of a network on the ladder."""
    opening_plies: int = 4
    """Random moves that open each pair of the ladder's games."""
    seed: int = 0
    """Random seed of positions, openings and players."""
    json: bool = False
    """Print the scoreboard as JSON."""

    def machines(self, game: Game, say: Callable[[str], None]) -> AbstractContextManager[MatchMachines | None]:
        """Return the other machines that play the games, connected while the block lasts; None = there are none.

        A plugin may replace it, with options of its own. say: shows a line to the user.
        """
        return nullcontext()


def run(argv: list[str]) -> int:
    args = parse(Evaluate, argv)
    _check(args)
    show_compiling("training")
    import games
    from evaluation.game_contract import checked
    from evaluation.report import as_text, evaluate
    from loggers import Console

    game = checked(games.make(args.game))
    player, args = _player(game, args, argv)
    line = LiveLine(sys.stderr) if not args.json and redraws(sys.stderr) else None

    def report(what: str, done: int, total: int) -> None:
        if line is not None:
            line.show(f"{what} {done:,}/{total:,}")

    with args.machines(game, Console(quiet=args.json).warn) as machines:
        if machines is not None:
            machines.know(player, args.player, args.ladder_sims)
        found = evaluate(
            game, player, count=args.positions, sims=args.sims, ladder_games=args.ladder_games,
            ladder_seconds=args.ladder_seconds, ladder_sims=args.ladder_sims, opening_plies=args.opening_plies,
            seed=args.seed, report=report, play_games=machines.play if machines else None,
        )  # fmt: skip
    if line is not None:
        line.show("")
    print(json.dumps(found) if args.json else as_text(found))
    return 0


def _check(args: Evaluate) -> None:
    """Raise `UserError` where a number is impossible."""
    whole(args.positions, "positions", 0, 100_000)
    for n in args.sims:
        whole(n, "sims", 1, 60_000)
    whole(args.ladder_games, "ladder_games", 0, 100_000)
    if args.ladder_games == 1:
        raise UserError("ladder_games: expected 0 or pairs of games, got 1")
    whole(args.ladder_sims, "ladder_sims", 1, 60_000)
    whole(args.opening_plies, "opening_plies", 0, 100)
    whole(args.seed, "seed", 0, 2**31 - 1)
    if not args.sims:
        raise UserError("sims: expected at least one number, got none")
    if not 0 <= args.ladder_seconds <= 1e6:
        raise UserError(f"ladder_seconds: expected a number from 0 to 1,000,000, got {args.ladder_seconds}")
    if args.positions == 0 and args.ladder_games == 0:
        raise UserError("expected positions or ladder_games above 0, got 0 for both")


def _player(game: Game, args: Evaluate, argv: list[str]) -> tuple[Player, Evaluate]:
    """Return the player to measure and the arguments, a level's with its own simulations."""
    from agent import Agent
    from network.predictor import STEADY
    from players.book import BookPlayer
    from players.by_name import make_player

    player = make_player(args.player, game, sims=max(*args.sims, args.ladder_sims), smallest=STEADY)
    if player.is_person:
        raise UserError(f"expected a player that can play thousands of positions, got {args.player!r}")
    if isinstance(player, BookPlayer) and isinstance(player.player, Agent):
        raise UserError(f"expected a network without a book, whose moves need no simulations, got {args.player!r}")
    if isinstance(player, Agent) and player.at_once == 1:
        raise UserError(f"expected a network whose moves take --sims and no clock, got {args.player!r}")
    if isinstance(player, Agent) and player.name.startswith("level "):  # a level has its own simulations
        if typed := [f"--{n.replace('_', '-')}" for n in ("sims", "ladder_sims") if early(argv, n) is not None]:
            own = f"a level, which has {player.mcts_sims} simulations"
            raise UserError(f"expected no {' and no '.join(typed)} with {own}")
        args = replace(args, sims=(player.mcts_sims,), ladder_sims=player.mcts_sims)
    return player, args
