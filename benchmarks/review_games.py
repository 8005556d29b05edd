"""Reviews of stored games: right against the solver? How good by search alone? Which losses deserve a mark?

    python benchmarks/review_games.py check                   # Connect 4: marks against the solver's values
    python benchmarks/review_games.py search --sims 400 1600  # the same marks by search alone: precision, recall
    python benchmarks/review_games.py thresholds [--write]    # losses by level, game by game; the thresholds they give

The games are in benchmarks/games/: 100 of Connect 4, 18 of each other. They were played with `match` by rollout:16
against rollout:64, rollout:256 against rollout:1024, net:shipped against shipped --sims 64; those of Connect 4 also by
rollout:64 against rollout:256 and rollout:1024 against net:shipped.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np

from evaluation import review as core
from evaluation.review import review, thresholds
from games.line_of_moves import follow
from players.by_name import make_player
from players.solver import BitbullyScores
from storage.game_files import Record, load_game

GAMES = Path(__file__).with_name("games")
LEVELS = {"weak": ("rollout:16", "rollout:64"), "middle": ("rollout:256", "rollout:1024"), "strong": ("shipped",)}
QUANTILES = {"inaccuracy": ("strong", 0.95), "mistake": ("middle", 0.75), "blunder": ("weak", 0.9)}
"""{mark: (level, share of its moves that lose less)}"""
LEAST, MOST = 0.03, 0.5
"""Bounds of the thresholds: below is the search's noise, and half a point is always a blunder. A threshold is at most
half of the next one."""
SHOWN = 0.5, 0.75, 0.9, 0.95
"""Quantiles of each level's losses that are stored next to the thresholds."""
OPENING = 2
"""Random moves at the start of each game, which no player chose."""


def records(path: Path, step: int = 1) -> Iterator[tuple[int, Record]]:
    """Yield (number, game) of every `step`-th game of a file of lines."""
    for number in range(1, len(path.read_text().splitlines()) + 1, step):
        yield number, load_game(path, number)


def level_of(name: str) -> str | None:
    """Return the level of a player; None for the network without a search."""
    return next((level for level, heads in LEVELS.items() if name.split(":version")[0] in heads), None)


def lost(record: Record, exact: BitbullyScores) -> list[float]:
    """Return what each move lost in points of the game, by the solver's values of the positions before and after it."""
    values = []
    for state in follow(record.game, record.moves):
        value = state.value if state.isEndGame else max(exact.scores(state).values())
        values.append(float(np.sign(value)) * state.playerTurn)
    movers = [state.playerTurn for state in follow(record.game, record.moves)][:-1]
    return [mover * (a - b) / 2 for mover, a, b in zip(movers, values, values[1:], strict=False)]


def no_search(game: Any) -> Any:
    raise RuntimeError("expected the solver to know every position")


def check(options: argparse.Namespace) -> None:
    """Print how many moves lose value by the solver, and how many of these and of the others are marked."""
    exact, found, accuracy = BitbullyScores(), Counter[tuple[bool, bool]](), dict[str, list[float]]()
    count = 0
    for _, record in records(GAMES / "connect4.jsonl"):
        count += 1
        moves = list(review(record, no_search))
        for move, loss in zip(moves, lost(record, exact), strict=True):
            found[loss > 0, bool(move.mark)] += 1
        for player, share in core.summary(moves).accuracy.items():
            if share is not None:
                accuracy.setdefault(record.players[player == -1], []).append(share)
    bad, good = (sum(found[lost, marked] for marked in (True, False)) for lost in (True, False))
    print(f"{count} games, {bad + good} moves: {found[True, True]} of {bad} moves that lose value are marked, "
          f"{found[False, True]} of {good} others")
    for name, shares in accuracy.items():
        print(f"  accuracy of {name}: {np.mean(shares):.1f} ({len(shares)} games)")


def search(options: argparse.Namespace) -> None:
    """Print precision and recall of the marks by search alone, against the solver."""
    exact, player = BitbullyScores(), None

    def make(game: Any) -> Any:
        nonlocal player
        player = player or make_player("shipped", game)
        return player

    for sims in options.sims:
        found: Counter[tuple[str, bool]] = Counter()
        count = whole = 0
        for _, record in records(GAMES / "connect4.jsonl", options.step):
            count += 1
            losses = lost(record, exact)
            for move, loss in zip(review(record, make, sims=sims, solve=False), losses, strict=True):
                found[move.mark, loss > 0] += 1
        whole = sum(n for (_, bad), n in found.items() if bad)
        print(f"{sims} simulations, {count} games, {sum(found.values())} moves, {whole} of them lose value")
        marks: list[str] = []
        for mark in ("blunder", "mistake", "inaccuracy"):
            marks.append(mark)
            right, wrong = (sum(found[m, bad] for m in marks) for bad in (True, False))
            print(f"  {mark} or worse: {right + wrong} moves, precision {right / max(right + wrong, 1):.3f}, "
                  f"recall {right / whole:.3f}", flush=True)


def measure(path: Path, sims: int) -> tuple[str, dict[str, Any]]:
    """Return (game, its thresholds and the quantiles they come from)."""
    player: Any = None
    losses: dict[str, list[float]] = {level: [] for level in LEVELS}

    def make(game: Any) -> Any:
        nonlocal player
        player = player or make_player("shipped", game)
        return player

    spec = ""
    for _, record in records(path):
        spec = record.game.spec
        for move in review(record, make, sims=sims, solve=spec != "connect4"):
            level = level_of(record.players[move.player == -1])
            if level is not None and move.ply >= OPENING and not move.exact:
                losses[level].append(move.loss)
    row: dict[str, Any] = {}
    most = MOST
    for mark, (level, share) in reversed(QUANTILES.items()):
        value = float(np.quantile(losses[level], share)) if losses[level] else 0.0
        row[mark] = round(min(max(value, LEAST), most), 3)
        most = row[mark] / 2
    row["figures"] = {
        level: {"moves": len(found)} | {f"{q:g}": round(float(np.quantile(found, q)), 3) for q in SHOWN}
        for level, found in losses.items() if found
    }  # fmt: skip
    return spec, row


def fit(options: argparse.Namespace) -> None:
    """Print the thresholds of every game, and write them with --write."""
    path = Path(core.__file__).with_name("review_thresholds.json")
    found = json.loads(path.read_text())
    for file in sorted(GAMES.glob("*.jsonl")):
        if options.only and file.stem not in options.only:
            continue
        spec, row = measure(file, options.sims[0])
        print(spec, json.dumps(row), flush=True)
        found["games"][spec] = row
        if options.write:
            path.write_text(json.dumps(found, indent=1) + "\n")
    thresholds.cache_clear()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("check", "search", "thresholds"))
    parser.add_argument("--sims", type=int, nargs="+", default=[400])
    parser.add_argument("--step", type=int, default=1, help="every how many games are searched")
    parser.add_argument("--only", nargs="*", default=[], help="files of benchmarks/games/ without .jsonl")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    {"check": check, "search": search, "thresholds": fit}[options.what](options)


if __name__ == "__main__":
    main()
