"""Makes the puzzles of a game that ship: evaluation/puzzle_sets/GAME.json.

    python benchmarks/make_puzzles.py connect4 [PUZZLES OF EACH LEVEL] [SEED] [MINUTES]

Games and grades are by rollouts, by the game's shipped network where there is one, and by looking one move ahead; on a
wide board the games are by the network, as rollouts scatter their stones there. Hex and Go have solvers of the
laboratory. It ends when all levels are full, or when the minutes are over; the file is written with each puzzle, as on
a wide board one may take longer than all before it. The easiest come first.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import games
from config import UserError
from evaluation.puzzle_maker import PANEL, SEATS, Maker, Solver
from evaluation.puzzles import FAST, LEVELS, WIN, Puzzle, set_file, write_set
from game import Game
from games.go import Go
from games.hex import Hex
from players.by_name import make_player
from plugins.laboratory import go_proofs, hex_proofs
from storage.atomic_files import write_file

WIDE = 100
"""Moves at the start of a game from which on a board is wide."""


def networks_of(game: Game) -> tuple[str, ...]:
    """Return the players with the network that ships for a game, also that of a range of sizes."""
    try:
        make_player("shipped", game)
    except UserError:
        return ()
    return "net:shipped", "shipped"


def main(spec: str, count: int = 8, seed: int = 1, minutes: int = 6) -> None:
    """Make the file of one game."""
    game = games.make(spec)
    networks = networks_of(game)
    solver: Solver | None = None
    if isinstance(game, Hex):
        solver = hex_proofs.ProvenScores(game)
    elif isinstance(game, Go) and game.name == "go":
        solver = go_proofs.ProvenScores(game)
    seats = (*SEATS, *networks) if game.won_by_a_move or solver else SEATS  # whose games are still open near their end
    if networks and game.action_size > WIDE:
        seats = ("greedy", *networks)
    maker = Maker(game, seats=seats, panel=(*PANEL, *networks), solver=solver)
    found: dict[str, list[Puzzle]] = {level: [] for level in LEVELS}
    path = set_file(game.spec)
    path.parent.mkdir(exist_ok=True)
    end = time.monotonic() + 60 * minutes
    for puzzle in maker.puzzles(seed, stop=lambda: time.monotonic() > end):
        if puzzle is None:
            break
        if game.move_name(puzzle.line[0]) == "pass":
            continue  # whoever counts sees it
        here = found[puzzle.level]
        slow = sum(p.kind not in (WIN, FAST) for p in here)
        if game.won_by_a_move and not solver and puzzle.kind not in (WIN, FAST) and slow >= count // 2:
            continue  # tactics come first where the game has any
        here += [puzzle] * (len(here) < count)
        print({level: len(puzzles) for level, puzzles in found.items()}, flush=True)
        ordered = [p for level in LEVELS for p in sorted(found[level], key=lambda p: (p.missed, p.plies))]
        write_file(path, write_set(game, ordered).encode())
        if all(len(puzzles) == count for puzzles in found.values()):
            break
    print(path, f"{sum(map(len, found.values()))} puzzles")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
