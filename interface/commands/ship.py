"""Make the player of a run ready to ship."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from config import UserError
from interface.arguments import parse, whole
from system.shell import join

EXAMPLES = {
    "python main.py ship --game my_game --run 3": "make the player of run 3 ready to ship",
    "python main.py ship --run 3 --overwrite": "replace the one that ships",
    "python main.py ship --cards": "write all model cards again",
}


@dataclass(frozen=True)
class Ship:
    """Copy one network of a run, its settings and its metrics into run_archive/, and measure it there: its scoreboard
    and levels of play with their Elo. With --overwrite it replaces the game's player that ships, at the end."""

    game: str = "connect4"
    run: int | None = None
    """Number of the run; by default the newest."""
    version: int | None = None
    """Number of its network's version; by default the best."""
    positions: int = 3000
    """Solved positions of the scoreboard, where there are any."""
    ladder_games: int = 160
    """Most games of the scoreboard's ladder."""
    level_games: int = 100
    """Games of each pair of neighbouring levels; 0 leaves the levels out."""
    seed: int = 0
    overwrite: bool = False
    """Replace the game's player that ships."""
    cards: bool = False
    """Only write the model cards of all players that ship again, from their files."""


def run(argv: list[str]) -> int:
    args = parse(Ship, argv)
    if args.cards:
        if len(argv) > 1:
            raise UserError(f"expected --cards alone, got {join(argv)[:60]}")
        return _write_cards()
    whole(args.positions, "positions", 0, 100_000)
    whole(args.ladder_games, "ladder_games", 2, 100_000)
    whole(args.level_games, "level_games", 0, 100_000)
    for name in ("ladder_games", "level_games"):
        if getattr(args, name) % 2:
            raise UserError(f"{name}: expected pairs of games, an even number, got {getattr(args, name)}")
    whole(args.seed, "seed", 0, 2**31 - 1)
    import games
    from evaluation.level_games import GAMES_FILE, measure_levels
    from evaluation.model_card import write_card
    from evaluation.release import packed, require_learned, write_levels
    from evaluation.report import as_text, evaluate
    from evaluation.scoreboard_file import write_scoreboard
    from network.predictor import STEADY
    from players.by_name import make_player
    from players.levels import FILE
    from storage.run_folders import run_to_change, shipped_run

    game = games.make(args.game)
    folder, ships = run_to_change(game.spec, args.run), shipped_run(game.spec)
    if ships is not None and not args.overwrite:
        raise UserError(f"{game.spec}: a player ships already; --overwrite replaces it by {folder.name}")
    if args.version is None:
        require_learned(folder)
    with packed(folder, args.version) as target:
        print(f"{target}: {sum(p.stat().st_size for p in target.rglob('*')) / 1e6:.1f} MB")
        player = make_player("shipped", game, sims=800, smallest=STEADY)
        scoreboard = evaluate(
            game, player, count=args.positions, sims=(25, 100, 400, 800), ladder_games=args.ladder_games,
            ladder_seconds=0.0, ladder_sims=400, opening_plies=4, seed=args.seed,
        )  # fmt: skip
        write_scoreboard(target, scoreboard)
        print(as_text(scoreboard))
        if args.level_games:
            found = measure_levels(
                game, count=args.level_games, seed=args.seed, file=target / GAMES_FILE,
                report=lambda text: print(text, file=sys.stderr),
            )  # fmt: skip
            write_levels(target / FILE, found, args.level_games)
            for number, level in enumerate(found, 1):
                print(f"level:{number}  {level}")
        write_card(target)
    return 0


def _write_cards() -> int:
    from evaluation.model_card import write_card
    from storage.run_folders import SHIPPED

    for folder in sorted(SHIPPED.glob("*/run0001")):
        print(write_card(folder))
    return 0
