"""Measure the levels of play of players that ship again, and write them with their games and the model card.

    python benchmarks/measure_levels.py connect4 go --games-each 400

The levels are those that ship already, on another board of a range at first those of its largest; with `--afresh`, or
where these have no names, they are chosen among the candidates of a new player. All games are played again; with
`--resume`, after a stop, those stored with the player count. `--niced` leaves the processor to everything else.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import games
from evaluation.level_games import GAMES_FILE, LADDER, measure_levels
from evaluation.model_card import write_card
from evaluation.release import write_levels
from games.sizes import largest_of
from players.levels import file_on, levels_run, read_levels
from storage.run_folders import read_config


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("games", nargs="+", help="games with a player that ships")
    parser.add_argument("--games-each", type=int, default=400, help="games of each pair of neighbours, even")
    parser.add_argument("--afresh", action="store_true")
    parser.add_argument("--resume", action="store_true", help="games that are stored count: of this player and program")
    parser.add_argument("--niced", action="store_true")
    args = parser.parse_args()
    if args.niced:
        os.nice(19)
    for spec in args.games:
        folder = levels_run(spec)
        if folder is None:
            raise SystemExit(f"no player of {spec} ships")
        game = largest_of(games.make(spec))
        known = read_levels(game.spec) or read_levels(read_config(folder).game)  # of the run's largest board
        ladder = known if known and all(level.name for level in known) and not args.afresh else LADDER
        print(f"{game.spec}: {len(ladder)} players", flush=True)
        stored = file_on(folder, game, GAMES_FILE)
        if not args.resume:
            stored.unlink(missing_ok=True)
        found = measure_levels(
            game, count=args.games_each, ladder=ladder, file=stored,
            report=lambda text: print(time.strftime("%H:%M:%S"), text, flush=True),
        )  # fmt: skip
        write_levels(file_on(folder, game), found, args.games_each)
        print(write_card(folder), *found, sep="\n", flush=True)


if __name__ == "__main__":
    main()
