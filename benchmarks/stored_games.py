"""What a run's stored games say of two techniques: merging positions that came more than once, and resignation.

    python benchmarks/stored_games.py run/connect4/run0001 [--positions 600000]

Of the newest positions: how many are distinct up to symmetry, and how much of the results' variance is within
positions. Of their games: what would not have been played had a player resigned at the first search that saw less than
a threshold, how much of that was searched at all (not proven), and how often who would have resigned did not lose.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np

import games
from config import from_json
from game import Game
from memory import Memory, SymmetricHash
from storage.game_record import GameRecord
from storage.run_store import Store


def searched(record: GameRecord) -> np.ndarray:
    """Return [plies] bool: where there was a search (random openings have none and the value 0)."""
    found: np.ndarray = np.logical_or.accumulate(np.asarray(record.visits).any(axis=1) | (record.values != 0))
    return found


def told_of_duplicates(memory: Memory) -> None:
    n = len(memory)
    keys = SymmetricHash(memory.game).keys(memory.ltmemory.planes[:n])
    _, which, counts = np.unique(keys, return_inverse=True, return_counts=True)
    times, results = counts[which], memory.ltmemory.result[:n].astype(np.float64)
    sums, squares = np.bincount(which, results), np.bincount(which, results**2)
    within = float((squares - sums**2 / counts).sum()) / n
    print(f"{n:,} positions, {len(counts):,} distinct; {np.mean(times > 1):.1%} came more than once, ", end="")
    print(f"{np.mean(times > 10):.1%} more than ten times")
    print(f"variance of their results {results.var():.3f}, of it within positions {within:.3f}")


def told_of_resigning(records: list[GameRecord], player_of: list[np.ndarray]) -> None:
    plies = sum(int(searched(r).sum()) for r in records)
    open_ = sum(int((searched(r) & (np.abs(r.values) < 1)).sum()) for r in records)
    print(f"{len(records):,} games, {plies:,} plies searched, {open_ / plies:.1%} of them not proven")
    for threshold in (0.8, 0.9, 0.95, 0.99):
        gone = unproven = resigned = wrong = 0
        for record, players in zip(records, player_of, strict=True):
            low = searched(record) & (record.values < -threshold)
            if low.any():
                first = int(np.argmax(low))
                gone += len(record.moves) - first
                unproven += int((np.abs(record.values[first:]) < 1).sum())
                resigned += 1
                wrong += record.result * players[first] > -1
        share = resigned / len(records)
        print(
            f"resigning below -{threshold}: {gone / plies:.1%} of the plies not played, {unproven / plies:.1%} of all "
            f"plies not proven; {share:.1%} of the games, {wrong / max(resigned, 1):.2%} of these not lost"
        )


def players_of(game: Game, record: GameRecord) -> np.ndarray:
    """Return [plies]: who moves at each."""
    state, found = game.start(), []
    for move in record.moves:
        found.append(state.playerTurn)
        state = state.takeAction(int(move))[0]
    return np.array(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--positions", type=int, default=600_000)
    options = parser.parse_args()
    config = from_json((options.run / "config.json").read_text())
    game = games.make(config.game)
    store = Store(options.run / "run.db", read_only=True)
    records = [record for _, record in store.games(options.positions)]
    memory = Memory(game, options.positions)
    memory.extend(records)
    print(f"{config.game}, the newest {options.positions:,} positions of {options.run}")
    told_of_duplicates(memory)
    told_of_resigning(records, [players_of(game, r) for r in records])


if __name__ == "__main__":
    main()
