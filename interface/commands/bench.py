"""Measure speeds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from config import Config, UserError
from interface.arguments import Choice, base_of, fitted_to, parse, preset_checked, with_plugin_options
from interface.commands import show_compiling

if TYPE_CHECKING:
    from game import Game

EXAMPLES = {
    "python main.py bench": "Connect 4 with the settings that training would have",
    "python main.py bench --game gomoku": "another game",
    "python main.py bench --preset tiny --json": "a small game, its figures as JSON",
}
BUSY = 0.1
"""Share of the cores' time for other programs from which on a machine is busy."""
USED = "game", "preset", "seconds", "games_in_flight", "hidden_cnn_layers", "precision", "backend", "json"


@with_plugin_options
@dataclass(frozen=True)
class Bench:
    """Measure speeds: raw network, self-play and their ratio, the search alone, the naive way.

    Settings of training, tournaments and scoreboards change nothing here."""

    config: Config
    preset: Choice | None = None
    """Settings to start from; by default laptop."""
    seconds: float = 20.0
    """Seconds for which self-play and the network alone are measured, each, in turns of a second."""
    json: bool = False
    """Print the result as JSON."""

    def measured(self, game: Game, config: Config) -> dict[str, Any]:
        """Return the speeds by their names. A plugin may replace it, with options of its own."""
        from training.bench import bench

        return bench(config, seconds=self.seconds)


def _number(value: Any) -> str:
    return f"{value:,.3f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def _warnings(found: dict[str, Any], in_flight: int) -> Iterator[str]:
    """Yield lines on what the figures are worth."""
    others = found.get("others_share")
    if others is not None:
        took = f"other programs took {100 * others:.0f} % of the cores' time"
        ratios = ", so that only ratios can be compared with another time's"
        yield f"busy machine: {took}{ratios}" if others > BUSY else f"quiet machine: {took}"
    if found.get("games_per_s", 0.0) is None:
        yield f"no games_per_s: it is measured once the first {in_flight:,} games have ended; take more --seconds"


def run(argv: list[str]) -> int:
    base = base_of(argv)
    args = parse(Bench, argv, Bench(base))
    if not 0.2 <= args.seconds <= 600:
        raise UserError(f"seconds: expected a number from 0.2 to 600, got {args.seconds}")
    show_compiling("training")
    import games
    from evaluation.game_contract import checked

    game = checked(games.make(args.config.game))
    found = args.measured(game, fitted_to(argv, preset_checked(args.config)))
    if args.json:
        print(json.dumps(found))
        return 0
    for line in _warnings(found, args.config.games_in_flight):
        print(line)
    for key, value in found.items():
        for part in value if isinstance(value, list) else [value]:
            parts = [f"{name} {_number(n)}" for name, n in part.items()] if isinstance(part, dict) else [_number(part)]
            print(f"{key:<32}{', '.join(parts)}")
    return 0
