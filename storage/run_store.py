"""The contents of a run: `Store` (run.db) holds games, versions, matches, finished stages and the best version.

A stage ends in one transaction.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from config import UserError
from game import Game
from storage.atomic_files import DamagedData
from storage.database import Database, row_digest
from storage.game_record import IMPORTED, GameBytes, GameRecord
from storage.sizes_played import SIZES, board_of

TIMES = ("seconds", "per_s", "share", "hit_rate", "batch_fill", "evaluations")
"""Endings of the facts that differ between two runs of the same moves."""


STAGES = ("self-play", "retrain", "tournament", "score")
"""The stages of an iteration in their order; `iteration` closes it."""


def evaluations_made(stages: dict[str, dict[str, Any]]) -> float:
    """Return the evaluations that the limit of that name counts, of {stage: facts} of an iteration."""
    return float(sum(stages.get(stage, {}).get("evaluations", 0) for stage in ("self-play", "reanalyse")))


def evaluations_of(line: dict[str, Any]) -> float:
    """Return the same of an iteration's line of metrics.jsonl."""
    return float(sum(line.get(f"{stage}_evaluations", 0) for stage in ("self_play", "reanalyse")))


class Version(NamedTuple):
    """A network of the run."""

    version: int
    iteration: int
    file: str
    sha256: str
    losses: str
    """As JSON."""
    optimizer: str | None = None
    """The sha256 of the optimizer's state after it; None or "" if there is none."""


def row_of(iteration: int, version: int, game: GameRecord) -> tuple[Any, ...]:
    """Return the row of a game; raise `DamagedData` if a value or the result is not finite."""
    if not (np.isfinite(game.values).all() and np.isfinite(game.result)):
        raise DamagedData(f"game {game.index} of iteration {iteration}: expected finite values, got others")
    trained = int(game.visits.any(axis=1).sum())
    result = float(game.result) + 0.0  # SQLite has no -0.0
    return (iteration, int(game.index), version, result, *game.to_bytes(), trained)


def game_of_row(row: tuple[Any, ...], sizes: str | None = None) -> GameRecord:
    """Return the game of a row; raise `DamagedData` if its number or result has another type.

    SQLite stores values of any type in any column. sizes: the facts of the iteration's stage of that name.
    """
    _, index, _, result, moves, visits, values, _ = row
    if type(index) is not int or not isinstance(result, float | int):
        raise DamagedData("expected the number of a game and its result, got others")
    record = GameRecord.from_bytes(index, result, GameBytes(moves, visits, values))
    return record if sizes is None else record._replace(board=board_of(sizes, index))


class Store(Database):
    """The database of a run."""

    # ---- games

    def add_games(self, iteration: int, version: int, games: Iterable[GameRecord]) -> None:
        """Add games; those that are there already stay unchanged."""
        self.insert("games", [row_of(iteration, version, game) for game in games], "INSERT OR IGNORE")

    def game_indices(self, iteration: int) -> set[int]:
        """Return the numbers of an iteration's games that are stored."""
        return {r[0] for r in self._db.execute("SELECT idx FROM games WHERE iteration = ?", (iteration,))}

    def games(
        self, positions: int, before: int = 2**31, sizes: Iterable[Game] = ()
    ) -> Iterator[tuple[int, GameRecord]]:
        """Yield (iteration, game) in order: the newest games that together hold `positions` positions.

        Only games of iterations below `before`. sizes: in a run of several, those whose positions count.
        """
        facts = {row[0]: row[2] for row in self.rows("stages", "WHERE stage = ?", (SIZES,))}
        boards, first, total = {game.spec for game in sizes}, None, 0
        columns, group = ("idx, trained", "") if boards else ("0, SUM(trained)", "GROUP BY iteration")
        query = f"SELECT iteration, {columns} FROM games WHERE iteration < ? {group} ORDER BY iteration DESC"
        for iteration, index, trained in self._db.execute(query, (before,)):
            if boards and not (iteration in facts and board_of(facts[iteration], index) in boards):
                continue
            first, total = iteration, total + trained
            if total >= positions:
                break
        if first is None:
            return
        rest = "WHERE iteration >= ? AND iteration < ? ORDER BY iteration, idx"
        for row in self.rows("games", rest, (first, before)):
            yield row[0], game_of_row(row, facts.get(row[0]))

    def games_of(self, iteration: int) -> Iterator[GameRecord]:
        """Yield the games of one iteration in order."""
        sizes = self.sizes_in(iteration)
        for row in self.rows("games", "WHERE iteration = ? ORDER BY idx", (iteration,)):
            yield game_of_row(row, sizes)

    def game(self, iteration: int, index: int) -> GameRecord:
        """Return one game; raise `DamagedData` if there is none."""
        for row in self.rows("games", "WHERE iteration = ? AND idx = ?", (iteration, index)):
            return game_of_row(row, self.sizes_in(iteration))
        raise DamagedData(f"{self.path}: expected game {index} of iteration {iteration}, there is none")

    def newest_game(self) -> tuple[int, GameRecord] | None:
        """Return (iteration, game) of the newest self-play game; None if there is none."""
        for row in self.rows("games", "WHERE iteration > 0 AND idx < ? ORDER BY rowid DESC LIMIT 1", (IMPORTED,)):
            return row[0], game_of_row(row, self.sizes_in(row[0]))
        return None

    def sizes_in(self, iteration: int) -> str | None:
        """Return the facts of an iteration's stage SIZES; None in a run of one size."""
        rows = self.rows("stages", "WHERE iteration = ? AND stage = ?", (iteration, SIZES))
        return next((str(facts) for _, _, facts in rows), None)

    def game_counts(self) -> dict[int, int]:
        """Return {iteration: number of its self-play games}."""
        return self.counts("games")

    def counts(self, table: str, rest: str = "") -> dict[Any, int]:
        """Return {iteration: number of rows} of a table."""
        return dict(self._db.execute(f"SELECT iteration, COUNT(*) FROM {table} {rest} GROUP BY iteration").fetchall())

    def count_games(self) -> int:
        return int(self._db.execute("SELECT COUNT(*) FROM games").fetchone()[0])

    def trained_positions(self, iteration: int) -> int:
        """Return the number of an iteration's positions that can be trained on."""
        query = "SELECT COALESCE(SUM(trained), 0) FROM games WHERE iteration = ?"
        return int(self._db.execute(query, (iteration,)).fetchone()[0])

    def positions_until(self, iteration: int) -> int:
        """Return the number of positions of all iterations up to this one that can be trained on."""
        query = "SELECT COALESCE(SUM(trained), 0) FROM games WHERE iteration <= ?"
        return int(self._db.execute(query, (iteration,)).fetchone()[0])

    # ---- versions

    def add_version(
        self, version: int, iteration: int, file: str, digest: str, losses: dict[str, float], optimizer: str
    ) -> None:
        """Register a version: its file, the file's sha256, and that of its optimizer's state."""
        self.insert("versions", [(version, iteration, file, digest, json.dumps(losses), optimizer)])

    def versions(self) -> list[Version]:
        """Return all versions, oldest first."""
        return [Version(*row) for row in self.rows("versions", "ORDER BY version")]

    def version(self, number: int) -> Version:
        """Return a version; raise `UserError` if there is none of that number."""
        for row in self.rows("versions", "WHERE version = ?", (number,)):
            return Version(*row)
        known = [v.version for v in self.versions()]
        allowed = f"from {known[0]} to {known[-1]}" if known else "of the run, there is none"
        raise UserError(f"{self.path.parent.name}: expected a version {allowed}, got {number}")

    def newest(self) -> Version:
        """Return the version that was trained last; raise `DamagedData` if there is none."""
        for row in self.rows("versions", "ORDER BY version DESC LIMIT 1"):
            return Version(*row)
        raise DamagedData(f"{self.path}: expected a network, there is none")

    def best(self) -> int:
        """Return the number of the best version."""
        return int(self.get("best", "0") or 0)

    # ---- matches and stages

    def add_match(self, iteration: int, index: int, row: tuple[Any, ...]) -> None:
        """Add a tournament game: (current, best, opening, current began, score of current, moves)."""
        current, best, opening, began, score, moves = row
        values = (iteration, index, current, best, opening, int(began), float(score), moves)
        self.insert("matches", [values], "INSERT OR IGNORE")

    def match_scores(self, iteration: int) -> dict[int, float]:
        """Return {index: score of the current network} of a tournament's finished games."""
        return {row[1]: row[6] for row in self.rows("matches", "WHERE iteration = ?", (iteration,))}

    def matches_of(self, iteration: int) -> list[tuple[Any, ...]]:
        """Return (index, current, best, current began, score of current, moves by name) of a tournament's games."""
        query = "SELECT idx, current, best, current_began, score, moves FROM matches WHERE iteration = ? ORDER BY idx"
        return self._db.execute(query, (iteration,)).fetchall()

    def finish(self, iteration: int, stage: str, facts: dict[str, Any]) -> None:
        """Mark a stage as finished."""
        self.insert("stages", [(iteration, stage, json.dumps(facts))])

    def set_sizes(self, iteration: int, facts: dict[str, Any]) -> None:
        """Replace the facts of an iteration's stage SIZES, as games on other boards were imported."""
        row = (iteration, SIZES, json.dumps(facts))
        change = "UPDATE stages SET facts = ?, digest = ? WHERE iteration = ? AND stage = ?"
        self.recount()
        if not self._db.execute(change, (row[2], row_digest("stages", row), *row[:2])).rowcount:
            self.insert("stages", [row])  # a row that is there keeps its number, so that none is missing

    def finished(self, iteration: int) -> dict[str, dict[str, Any]]:
        """Return {stage: facts} of an iteration."""
        found = self.rows("stages", "WHERE iteration = ? ORDER BY rowid", (iteration,))
        return {stage: json.loads(facts) for _, stage, facts in found}

    def stage_facts(self, stage: str, iterations: range) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield (iteration, facts) of a stage in those of the iterations in which it has finished, in order."""
        rest = "WHERE stage = ? AND iteration >= ? AND iteration < ? ORDER BY iteration"
        for iteration, _, facts in self.rows("stages", rest, (stage, iterations.start, iterations.stop)):
            yield iteration, json.loads(facts)

    def lines(self, after: int = 0) -> list[dict[str, Any]]:
        """Return the lines of metrics.jsonl of the iterations after `after`."""
        found = self.rows("stages", "WHERE stage = 'iteration' AND iteration > ? ORDER BY iteration", (after,))
        return [json.loads(facts) for _, _, facts in found]

    def loss(self) -> str:
        """Return the sentence for a database whose newest part, by run.mark, was lost."""
        lost = ", ".join(f"{n} {table}" for table, n in self.lost.items())
        what = "it is made again, the same by its numbers"
        what += "; not the games that were imported: import them again" if "imports" in self.lost else ""
        return f"the newest part of run.db was lost ({lost}): {what}"

    def step_back(self, iteration: int) -> None:
        """Return to the moment before an iteration's training; in a transaction. Imported games stay."""
        self.recount()
        rest, values = "WHERE iteration > ? AND idx >= ? ORDER BY rowid", (iteration, IMPORTED)
        imported = list(self.rows("games", rest, values))
        self._db.execute("DELETE FROM games WHERE iteration > ?", (iteration,))
        self.insert("games", imported)  # with new row numbers, so that none is skipped
        self._db.execute("DELETE FROM versions WHERE iteration >= ?", (iteration,))
        self._db.execute("DELETE FROM matches WHERE iteration >= ?", (iteration,))
        of_imported = "SELECT iteration FROM games WHERE idx >= ?"
        self._db.execute(
            "DELETE FROM stages WHERE iteration >= ? AND NOT (iteration = ? AND stage IN (?, ?)) "
            f"AND NOT (stage = ? AND iteration IN ({of_imported}))",
            (iteration, iteration, "self-play", SIZES, SIZES, IMPORTED),
        )
        lines = self.lines()
        last = (lines or [{"best_version": 0, "total_seconds": 0.0}])[-1]
        evaluations = sum(map(evaluations_of, lines))
        steps = sum(json.loads(row[2])["steps"] for row in self.rows("stages", "WHERE stage = 'retrain'"))
        kept = {"best": last["best_version"], "seconds": last["total_seconds"], "steps": steps}
        for key, value in {**kept, "evaluations": evaluations}.items():
            self.put(key, str(value))
        played = self.finished(iteration).get("self-play", {})
        self.put("spent", f"{iteration} {played.get('seconds', 0.0)}")
        if int((self.get("evaluated") or "0").split()[0]) > iteration:  # of games that are deleted
            self.put("evaluated", "")

    def iterations_done(self) -> int:
        """Return how many iterations are complete."""
        query = "SELECT COALESCE(MAX(iteration), 0) FROM stages WHERE stage = 'iteration'"
        return int(self._db.execute(query).fetchone()[0])

    def has_begun(self, iteration: int, *, planned: bool = True) -> bool:
        """Return whether anything of an iteration is stored but imported games.

        planned: whether the plan of its boards is enough, which an import writes as well.
        """
        both = (
            "SELECT 1 FROM games WHERE iteration = ? AND idx < ? "
            f"UNION ALL SELECT 1 FROM stages WHERE iteration = ? AND (? OR stage != '{SIZES}') LIMIT 1"
        )
        return self._db.execute(both, (iteration, IMPORTED, iteration, planned)).fetchone() is not None

    def state_digest(self) -> str:
        """Return a sha256 of all that the run holds but times, so that it is the same after a crash."""
        total = hashlib.sha256()
        for table in ("games", "matches"):
            for row in self.rows(table, "ORDER BY iteration, idx"):
                total.update(row_digest(table, row))
        versions = list(self.rows("versions", "ORDER BY version"))
        for row in versions:
            total.update(row_digest("versions", row[:5]))
        total.update(str(versions[-1][5] if versions else None).encode())  # those of older optimizers do not matter
        for iteration, stage, facts in self.rows("stages", "ORDER BY iteration, stage"):
            same = {k: v for k, v in json.loads(facts).items() if not k.endswith(TIMES)}
            total.update(json.dumps([iteration, stage, sorted(same.items())]).encode())
        total.update(json.dumps([self.get(key) for key in ("run", "game", "model", "best", "steps")]).encode())
        return total.hexdigest()
