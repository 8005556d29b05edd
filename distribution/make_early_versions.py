"""Writes the early versions that ship, of a run of yours, into early_versions/.

    python distribution/make_early_versions.py connect4 --run 3 --versions 0 1 2 4 8 16 32 --games 6

The run keeps one version more than the newest that is named: a version's games are those of the iteration after it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from evaluation.release import write_early_versions
from storage.run_folders import EARLY, find_run, game_folder, make_private


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the early versions that ship.")
    parser.add_argument("game")
    parser.add_argument("--run", type=int, required=True)
    parser.add_argument("--versions", type=int, nargs="+", required=True)
    parser.add_argument("--games", type=int, default=6, help="games of each version")
    given = parser.parse_args()
    target = EARLY / game_folder(given.game) / "run0001"
    make_private(target.parent)
    write_early_versions(find_run(given.game, given.run), sorted(given.versions), given.games, target)
    size = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
    print(f"{target.relative_to(EARLY)}: {len(given.versions)} versions, {size:,} bytes")


if __name__ == "__main__":
    main()
