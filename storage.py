"""Truth on disk: `Store` (run.db), files of arrays, and writing a file so that a crash leaves the old or the new one.

run.db holds games, versions, matches, finished stages and which version is best; a stage ends in one transaction.
A file of arrays is an .npz without pickles, read only when its members are exactly those expected.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from arrays import BadArrays, read_arrays
from config import UserError

NUMBERS = "<f4", "<f8", "<i8", "<i4"
"""What weights and the states of optimizers are."""
APPLICATION = 0x415A4B31
FORMAT = 1
_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE games (
    iteration INTEGER, idx INTEGER, version INTEGER NOT NULL, result REAL NOT NULL, moves BLOB NOT NULL,
    visits BLOB NOT NULL, vals BLOB NOT NULL, trained INTEGER NOT NULL, PRIMARY KEY (iteration, idx));
CREATE TABLE versions (
    version INTEGER PRIMARY KEY, iteration INTEGER NOT NULL, file TEXT NOT NULL, sha256 TEXT NOT NULL,
    losses TEXT NOT NULL);
CREATE TABLE matches (
    iteration INTEGER, idx INTEGER, current INTEGER NOT NULL, best INTEGER NOT NULL, opening TEXT NOT NULL,
    current_began INTEGER NOT NULL, score REAL NOT NULL, moves TEXT NOT NULL, PRIMARY KEY (iteration, idx));
CREATE TABLE stages (iteration INTEGER, stage TEXT, facts TEXT NOT NULL, PRIMARY KEY (iteration, stage));
"""


class DamagedData(UserError):
    """A file of the run is not what the run wrote."""

    exit_code = 4


def write_file(path: Path, data: bytes) -> None:
    """Write a file under a temporary name, flush it to the disk, then put it in place."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def sweep(folder: Path) -> None:
    """Remove what an interrupted `write_file` left."""
    for leftover in folder.glob(".*.tmp"):
        leftover.unlink(missing_ok=True)


def arrays_to_bytes(arrays: Sequence[np.ndarray]) -> bytes:
    """Return arrays as an .npz with members a0000, a0001, ..."""
    buffer = io.BytesIO()
    np.savez(buffer, **{f"a{i:04d}": np.asarray(a, order="C") for i, a in enumerate(arrays)})  # type: ignore[arg-type]
    return buffer.getvalue()


def arrays_from_bytes(data: bytes, shapes: Sequence[tuple[int, ...]], source: str) -> list[np.ndarray]:
    """Read arrays of exactly these shapes; raise `DamagedData` naming what differs."""
    try:
        return [*read_arrays(data, {f"a{i:04d}": (NUMBERS, tuple(s)) for i, s in enumerate(shapes)}).values()]
    except BadArrays as error:
        raise DamagedData(f"{source}: {error}") from None


def sha256(data: bytes) -> str:
    """Return the digest that the store keeps of a file."""
    return hashlib.sha256(data).hexdigest()


class Store:
    """run.db: one writing connection, write-ahead log, every commit flushed to the disk."""

    def __init__(self, path: Path, *, create: bool = False, read_only: bool = False) -> None:
        if not create and not path.is_file():
            raise DamagedData(f"expected the run's database {path}, found none")
        try:
            uri = f"{path.resolve().as_uri()}?mode={'ro' if read_only else 'rwc' if create else 'rw'}"
            self._db = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
            if create:
                self._db.execute(f"PRAGMA application_id = {APPLICATION}")
                self._db.execute(f"PRAGMA user_version = {FORMAT}")
                self._db.executescript(_SCHEMA)
            found = self._db.execute("PRAGMA application_id").fetchone()[0]
            if found != APPLICATION:
                raise DamagedData(f"{path}: expected a run's database, got another file")
            if not read_only:
                self._db.execute("PRAGMA journal_mode = WAL")
                self._db.execute("PRAGMA synchronous = FULL")
        except sqlite3.Error as error:
            raise DamagedData(f"{path}: expected a run's database, got an unreadable file ({error})") from None

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def get(self, key: str, default: str | None = None) -> str | None:
        """Return a value of the run as a whole."""
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return row[0] if row else default

    def put(self, key: str, value: str) -> None:
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    # ---- games

    def add_games(self, iteration: int, version: int, games: Iterable[Any]) -> None:
        """Keep `GameRecord`s; one that is there already stays as it is."""
        rows = [
            (
                iteration, g.index, version, g.result, g.moves.astype("<i2").tobytes(),
                np.packbits(g.visits.any(axis=1)).tobytes() + g.visits[g.visits.any(axis=1)].astype("<u2").tobytes(),
                g.values.astype("<f4").tobytes(), int(g.visits.any(axis=1).sum()),
            )
            for g in games
        ]  # fmt: skip
        self._db.executemany("INSERT OR IGNORE INTO games VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)

    def game_indices(self, iteration: int) -> set[int]:
        """Return which games of an iteration are there."""
        return {r[0] for r in self._db.execute("SELECT idx FROM games WHERE iteration = ?", (iteration,))}

    def games(self, positions: int, before: int = 2**31) -> Iterator[tuple[Any, ...]]:
        """Yield (iteration, idx, result, moves, visits, values) in order: the newest that hold so many positions.

        Only games of iterations below `before`.
        """
        first, total = None, 0
        query = (
            "SELECT iteration, SUM(trained) FROM games WHERE iteration < ? GROUP BY iteration "
            "ORDER BY iteration DESC"
        )
        for iteration, trained in self._db.execute(query, (before,)):
            first, total = iteration, total + trained
            if total >= positions:
                break
        if first is None:
            return
        query = (
            "SELECT iteration, idx, result, moves, visits, vals FROM games WHERE iteration >= ? AND iteration < ? "
            "ORDER BY iteration, idx"
        )
        for iteration, idx, result, moves, visits, vals in self._db.execute(query, (first, before)):
            yield iteration, idx, result, *_unpack(moves, visits, vals)

    def games_of(self, iteration: int) -> Iterator[tuple[Any, ...]]:
        """Yield the games of one iteration as `games` does."""
        query = "SELECT iteration, idx, result, moves, visits, vals FROM games WHERE iteration = ? ORDER BY idx"
        for number, idx, result, moves, visits, vals in self._db.execute(query, (iteration,)):
            yield number, idx, result, *_unpack(moves, visits, vals)

    def count_games(self) -> int:
        return int(self._db.execute("SELECT COUNT(*) FROM games").fetchone()[0])

    def trained_positions(self, iteration: int) -> int:
        """Positions of an iteration that can be trained on."""
        query = "SELECT COALESCE(SUM(trained), 0) FROM games WHERE iteration = ?"
        return int(self._db.execute(query, (iteration,)).fetchone()[0])

    # ---- versions

    def add_version(self, version: int, iteration: int, file: str, digest: str, losses: dict[str, float]) -> None:
        self._db.execute(
            "INSERT INTO versions VALUES (?, ?, ?, ?, ?)", (version, iteration, file, digest, json.dumps(losses))
        )

    def versions(self) -> list[tuple[int, int, str, str]]:
        """Return (version, iteration, file, sha256), oldest first."""
        return self._db.execute("SELECT version, iteration, file, sha256 FROM versions ORDER BY version").fetchall()

    def best(self) -> int:
        """Return the version that plays for the run."""
        return int(self.get("best", "0") or 0)

    # ---- matches and stages

    def add_match(self, iteration: int, index: int, row: tuple[Any, ...]) -> None:
        """Keep a tournament game: (current, best, opening, current began, score of current, moves)."""
        self._db.execute("INSERT OR IGNORE INTO matches VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (iteration, index, *row))

    def match_scores(self, iteration: int) -> dict[int, float]:
        """Return {index: score of the current network} of a tournament's finished games."""
        query = "SELECT idx, score FROM matches WHERE iteration = ?"
        return dict(self._db.execute(query, (iteration,)).fetchall())

    def finish(self, iteration: int, stage: str, facts: dict[str, Any]) -> None:
        """Mark a stage as done."""
        self._db.execute("INSERT INTO stages VALUES (?, ?, ?)", (iteration, stage, json.dumps(facts)))

    def finished(self, iteration: int) -> dict[str, dict[str, Any]]:
        """Return {stage: facts} of an iteration."""
        query = "SELECT stage, facts FROM stages WHERE iteration = ?"
        return {stage: json.loads(facts) for stage, facts in self._db.execute(query, (iteration,))}

    def iterations_done(self) -> int:
        """Return how many iterations are complete."""
        query = "SELECT COALESCE(MAX(iteration), 0) FROM stages WHERE stage = 'iteration'"
        return int(self._db.execute(query).fetchone()[0])


def _unpack(moves: bytes, visits: bytes, vals: bytes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return moves [L], visits [L, action_size], values [L]."""
    played = np.frombuffer(moves, "<i2")
    length, head = len(played), -(-len(played) // 8)
    full = np.unpackbits(np.frombuffer(visits[:head], np.uint8), count=length).astype(bool)
    counts = np.frombuffer(visits[head:], "<u2")
    searched = int(full.sum())
    table = np.zeros((length, len(counts) // searched if searched else 0), np.uint16)
    if searched:
        table[full] = counts.reshape(searched, -1)
    return played, table, np.frombuffer(vals, "<f4")
