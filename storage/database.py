"""The tables of run.db: `Database`, rows with checksums, changed in transactions, each noted in run.mark.

Each transaction also writes the tally, a row of meta: the number of rows of each table, the sum of their checksums, and
a checksum of meta. Rows that are missing, or that are those of an earlier state, contradict it. Next to run.db lies
run.mark, written after every commit: the run's identity and the number of rows, so that a lost end of the database, an
earlier state that is whole, is noticed. The meaning of the rows is in storage/run_store.py.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from storage.atomic_files import DamagedData, unsuitable, unwritable, writing
from storage.fault_injection import reach
from storage.run_files import RunFiles
from storage.sqlite_errors import connect
from system.files import FULL
from system.reading import TEXT_BYTES, read_limited

APPLICATION = 0x415A4B31
FORMAT = 3
"""1: rows without checksums; 2: without a tally."""
TABLES = {
    "meta": "key TEXT PRIMARY KEY, value TEXT NOT NULL, digest BLOB",
    "games": "iteration INTEGER, idx INTEGER, version INTEGER NOT NULL, result REAL NOT NULL, moves BLOB NOT NULL, "
    "visits BLOB NOT NULL, vals BLOB NOT NULL, trained INTEGER NOT NULL, digest BLOB, PRIMARY KEY (iteration, idx)",
    "versions": "version INTEGER PRIMARY KEY, iteration INTEGER NOT NULL, file TEXT NOT NULL, sha256 TEXT NOT NULL, "
    "losses TEXT NOT NULL, optimizer TEXT, digest BLOB",
    "matches": "iteration INTEGER, idx INTEGER, current INTEGER NOT NULL, best INTEGER NOT NULL, "
    "opening TEXT NOT NULL, current_began INTEGER NOT NULL, score REAL NOT NULL, moves TEXT NOT NULL, digest BLOB, "
    "PRIMARY KEY (iteration, idx)",
    "stages": "iteration INTEGER, stage TEXT, facts TEXT NOT NULL, digest BLOB, PRIMARY KEY (iteration, stage)",
}
"""Columns of each table. digest: checksum of all columns before it."""
LARGEST = 1 << 27
"""Most bytes of a row: a file from others must not fill the memory."""
_SCHEMA_TEXT, _SCHEMA_STEPS = 4096, 1000
"""Bytes of a table's definition, and steps of SQLite, that reading the definitions takes at most."""
KEPT = ("games", "versions", "matches", "stages")
"""Tables whose rows are only ever added."""
TALLY = "tally"
"""Key of the row of meta that holds the tally."""


_LACKS = {
    sqlite3.SQLITE_IOERR_SHMMAP: "memory maps that programs share",
    sqlite3.SQLITE_IOERR_SHMLOCK: "locks of files",
    sqlite3.SQLITE_IOERR_LOCK: "locks of files",
    sqlite3.SQLITE_IOERR_RDLOCK: "locks of files",
}
"""{SQLite's error: what the disk lacks}"""


class Tally(NamedTuple):
    """The rows of a table."""

    last: int
    """The largest row number."""
    rows: int
    total: int
    """Sum of the checksums, as whole numbers, modulo 2^128: adding rows needs no second look at the others."""


NONE = Tally(-(1 << 63), 0, 0)


def row_digest(table: str, values: Iterable[Any]) -> bytes:
    """Return the checksum of a row, the first 16 bytes of a sha256."""
    total = hashlib.sha256(table.encode())
    for value in values:
        data = value if isinstance(value, bytes) else repr(value).encode()
        total.update(f"|{len(data)}|".encode() + data)
    return total.digest()[:16]


def _definition(table: str, form: int = FORMAT) -> str:
    """Return the statement that makes a table, in a format."""
    columns = TABLES[table]
    if form == 1:
        columns = columns.replace(", optimizer TEXT", "").replace(", digest BLOB", "")
    return f"CREATE TABLE {table} ({columns})" + (" WITHOUT ROWID" if table == "meta" else "")


def schema_fault(db: sqlite3.Connection, form: int) -> str:
    """Return what a database has that is not a run's, or lacks; "" if it has exactly a run's tables.

    It is the first query of a database. SQLite parses all definitions for it, of which a stranger's file may have
    millions: it is stopped where a run's would have ended, and raises.
    """
    wanted = {("table", table, table, _definition(table, form)) for table in TABLES}
    wanted |= {("index", f"sqlite_autoindex_{table}_1", table, "") for table in ("games", "matches", "stages")}
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _SCHEMA_TEXT)
    db.set_progress_handler(lambda: 1, _SCHEMA_STEPS)
    try:
        rows = db.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
    finally:
        db.set_progress_handler(None, 0)
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST)
    found = {(*row[:3], re.sub(r"\s+", " ", row[3] or "").replace("( ", "(")) for row in rows}
    if other := sorted(found - wanted, key=str):
        return "has a {} {!r:.60} that no run has".format(*other[0][:2])
    return f"lacks {min(wanted - found)[1]}" if wanted - found else ""


class Database:
    """run.db: one writing connection, write-ahead log, every commit flushed to the disk."""

    def __init__(
        self, path: Path, *, create: bool = False, read_only: bool = False, files: RunFiles | None = None
    ) -> None:
        """Open a database. `files`: its folder, if that is open and locked; a writer opens it otherwise."""
        if not create and not path.is_file():
            raise DamagedData(f"expected the run's database {path}, found none")
        self.path = path
        self._files = files or (None if read_only else RunFiles(path.parent))
        self._own_files = None if files else self._files
        self._connections: list[sqlite3.Connection] = []
        self._tallied: dict[str, Tally] = {}
        """The tally at the last commit, as far as it is known."""
        self.reserve = 64 << 20
        """Bytes that must be free for the run to continue; named in the error when fewer are."""
        self.format = FORMAT
        self.lost: dict[str, int] = {}
        """Rows of each table that were acknowledged and are no longer in the database."""
        try:
            self._open(create, read_only)
        except BaseException:
            self.close()
            raise

    def _open(self, create: bool, read_only: bool) -> None:
        if create:
            with writing(self.path, self.reserve):
                os.close(self.files.open(self.path.name, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        for ending in ("-wal", "-shm", "-journal"):
            log = self.path.with_name(self.path.name + ending)
            if log.exists() and not log.is_file():  # SQLite would wait for a pipe
                raise DamagedData(f"{log}: expected a file of the run's database, got something else")
        uri = f"{self.path.resolve().as_uri()}?mode="
        immutable = read_only and not os.access(self.path.parent, os.W_OK) and not self._log_size()
        # without write access SQLite cannot make its files for readers
        self._db = self._connect(uri + ("rw" if not read_only else "ro&immutable=1" if immutable else "ro"))
        if not read_only:
            self.files.hold(self.path.name)
        self._begin(create, read_only)
        if not read_only:
            self._connect(f"{uri}ro").execute("SELECT 1 FROM meta").fetchone()

    def _connect(self, uri: str) -> sqlite3.Connection:
        try:
            self._connections.append(connect(uri, self._meaning))
        except sqlite3.Error as error:
            raise self._meaning(error) from None
        return self._connections[-1]

    @property
    def files(self) -> RunFiles:
        """The files of the run, for its writer."""
        if self._files is None:
            raise TypeError(f"{self.path} is open for reading only")
        return self._files

    def _begin(self, create: bool, read_only: bool) -> None:
        if create:
            self._keep_a_log()
            with self.transaction("create"):
                self._db.execute(f"PRAGMA application_id = {APPLICATION}")
                self._db.execute(f"PRAGMA user_version = {FORMAT}")
                for table in TABLES:
                    self._db.execute(_definition(table))
                self.put("identity", secrets.token_hex(8))
        if self._db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
            raise DamagedData(f"{self.path}: expected a run's database, got another file")
        self.format = int(self._db.execute("PRAGMA user_version").fetchone()[0])
        if not 1 <= self.format <= FORMAT:
            raise DamagedData(f"{self.path}: expected format {FORMAT}, got {self.format}: written by another release")
        if fault := schema_fault(self._db, self.format):
            raise DamagedData(f"{self.path}: expected exactly the tables of a run, but it {fault}")
        if not read_only and not create:
            self._keep_a_log()
        if self.format == 1 and not read_only:
            self._upgrade()
        if not read_only:
            self._compare_mark()

    def _log_size(self) -> int:
        log = self.path.with_name(f"{self.path.name}-wal")
        return log.stat().st_size if log.exists() else 0

    def _keep_a_log(self) -> None:
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")

    def _upgrade(self) -> None:
        """Give the rows of format 1 their checksums."""
        with self.transaction("upgrade"):
            for table in TABLES:
                if table == "versions":
                    self._db.execute("ALTER TABLE versions ADD COLUMN optimizer TEXT")
                self._db.execute(f"ALTER TABLE {table} ADD COLUMN digest BLOB")
            self._db.execute("UPDATE versions SET optimizer = (SELECT value FROM meta WHERE key = 'optimizer_sha256') "
                             "WHERE version = (SELECT MAX(version) FROM versions)")  # fmt: skip
            for table, columns in TABLES.items():
                key = columns.split()[0]
                second = {"games": ", idx", "matches": ", idx", "stages": ", stage"}.get(table, "")
                for *values, _ in self._db.execute(f"SELECT * FROM {table}").fetchall():
                    keys = values[: 2 if second else 1]
                    where = f"{key} = ?" + (f" AND {second[2:]} = ?" if second else "")
                    self._db.execute(f"UPDATE {table} SET digest = ? WHERE {where}", (row_digest(table, values), *keys))
            self.put("identity", secrets.token_hex(8))
            self._db.execute("PRAGMA user_version = 2")
        self.format = 2

    def start_tally(self) -> None:
        """Give a database of format 2, whose rows have been checked, its tally."""
        if self.format == FORMAT:
            return
        before, self.format = self.format, FORMAT
        try:
            with self.transaction("upgrade"):
                self._db.execute(f"PRAGMA user_version = {FORMAT}")
        except BaseException:
            self.format = before
            raise

    def close(self) -> None:
        """Close the database.

        The connection that closes last removes run.db-wal by its path. Where that may be another run's, the last one is
        the writer's second connection: it only reads, so it removes nothing.
        """
        in_place = self._files is None or self._files.in_place()
        for connection in self._connections[:: -1 if in_place else 1]:
            connection.close()
        self._connections = []
        if self._own_files is not None:
            self._own_files.close()

    def _meaning(self, error: sqlite3.Error) -> Exception:
        """Return the error to raise for an error of SQLite; one of its use in Python stays as it is."""
        if isinstance(error, sqlite3.ProgrammingError):
            return error
        whole = getattr(error, "sqlite_errorcode", None) or 0
        code = whole & 255
        if lacks := _LACKS.get(whole):
            return unsuitable(self.path, lacks)
        if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
            return unwritable(self.path, self.reserve, str(error))
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
            return unwritable(self.path, 0, str(error))
        if code == sqlite3.SQLITE_BUSY:
            return unwritable(self.path, 0, f"{error}: another program has it open, or its disk keeps no locks")
        if code in (sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_TOOBIG):  # `schema_fault` stops at more than a run's
            return DamagedData(f"{self.path}: expected the tables and rows of a run, got more or larger ones")
        return DamagedData(f"{self.path}: expected a run's database, got a damaged one ({error})")

    @contextmanager
    def transaction(self, point: str = "commit") -> Iterator[None]:
        """Run the block as one transaction, on the disk when it ends. point: prefix of its fault-injection points."""
        try:
            reach(f"{point}.before")
            self.files.require_place()
            self._db.execute("BEGIN IMMEDIATE")
            yield
            tallied = self._put_tally()
            reach(f"{point}.in_tx")
            self._db.execute("COMMIT")
            self._tallied = tallied
            reach(f"{point}.after")
        except BaseException as error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            if isinstance(error, OSError):
                raise unwritable(self.path, self.reserve if error.errno in FULL else 0, str(error)) from None
            raise
        if point not in ("create", "upgrade"):
            self.write_mark()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Make all reads of the block see the moment of the first one, whatever other processes commit meanwhile."""
        self._db.execute("BEGIN")
        try:
            yield
        finally:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")

    def checkpoint(self) -> None:
        """Move the write-ahead log into the database, so that losing the log loses little."""
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def seal(self) -> None:
        """Give up the write-ahead log: what ships is one file, read where nothing may be written."""
        self.checkpoint()
        self._connections.pop().close()  # the second one, which would keep the log
        self._db.execute("PRAGMA journal_mode = DELETE")

    # ---- the tally

    def _tally(self, table: str, since: Tally = NONE) -> Tally:
        """Return the tally of a table, continued from an earlier one."""
        last, rows, total = since
        query = f"SELECT rowid, digest FROM {table} NOT INDEXED WHERE rowid > ? ORDER BY rowid"
        for number, digest in self._db.execute(query, (since.last,)):
            last, rows = number, rows + 1
            total += int.from_bytes(digest, "big") if isinstance(digest, bytes) else 1
        return Tally(last, rows, total % (1 << 128))

    def _meta_digest(self) -> str:
        """Return a checksum of all of meta but the tally."""
        query = "SELECT digest FROM meta WHERE key <> ? ORDER BY key"
        return row_digest("meta", [row[0] for row in self._db.execute(query, (TALLY,))]).hex()

    def _put_tally(self) -> dict[str, Tally]:
        """Write the tally, as part of a transaction; return that of the tables."""
        if self.format < FORMAT:
            return {}
        found = {table: self._tally(table, self._tallied.get(table, NONE)) for table in KEPT}
        said = {table: (one.rows, f"{one.total:x}") for table, one in found.items()}
        self.put(TALLY, json.dumps({"meta": self._meta_digest(), **said}))
        return found

    def _tally_faults(self) -> Iterator[str]:
        """Yield the tables whose rows are not those of the last commit."""
        kept = [row[1] for row, right in self.checked("meta", "WHERE key = ?", (TALLY,)) if right]
        if not kept:
            yield "meta: expected the tally of the last commit, got none"
            return
        said = json.loads(kept[0])
        if said.get("meta") != self._meta_digest():
            yield "meta: expected the values of the last commit, got others"
        for table in KEPT:
            rows, total = said[table]
            found = self._tally(table)
            if found.rows != rows:
                yield f"{table}: expected the {rows} rows of the last commit, got {found.rows}"
            elif found.total != int(total, 16):
                yield f"{table}: expected the rows of the last commit, got others"

    # ---- the mark outside the database

    def sizes(self) -> dict[str, int]:
        """Return the largest row number of each table."""
        return {t: int(self._db.execute(f"SELECT COALESCE(MAX(rowid), 0) FROM {t}").fetchone()[0]) for t in KEPT}

    def write_mark(self) -> None:
        """Record outside the database what has been acknowledged."""
        mark = {"run": self.get("identity"), "imports": self._imports(), **self.sizes()}
        self.files.write("run.mark", (json.dumps(mark) + "\n").encode(), point="mark", needed=self.reserve)

    def _imports(self) -> int:
        """Return how many files of games of others were taken in."""
        return len(json.loads(self.get("imports") or "[]"))

    def read_mark(self) -> dict[str, Any]:
        """Return the mark; {} when there is none or it cannot be read."""
        try:
            found = json.loads(read_limited(self.path.with_name("run.mark"), TEXT_BYTES))
        except (OSError, ValueError, RecursionError):
            return {}
        good = isinstance(found, dict) and all(type(found.get(t)) is int for t in KEPT)
        return found if good else {}

    def _compare_mark(self) -> None:
        """Count the acknowledged rows that are missing; raise `DamagedData` when the database is another run's."""
        mark = self.read_mark()
        if mark and mark.get("run") != self.get("identity"):
            raise DamagedData(f"{self.path}: expected the database of this folder's run, got another run's")
        sizes = {"imports": self._imports(), **self.sizes()}
        self.lost = {t: mark[t] - n for t, n in sizes.items() if mark.get(t, 0) > n}

    # ---- rows

    def rows(self, table: str, rest: str = "", values: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
        """Yield rows without their checksums; raise `DamagedData` at a row that is not the one that the run wrote."""
        for row, right in self.checked(table, rest, values):
            if not right:
                raise DamagedData(f"{self.path}: {table} {row[:2]}: expected the row that the run wrote, got another")
            yield row

    def checked(
        self, table: str, rest: str = "", values: tuple[Any, ...] = ()
    ) -> Iterator[tuple[tuple[Any, ...], bool]]:
        """Yield (row without its checksum, whether it is the row that the run wrote)."""
        for row in self._db.execute(f"SELECT * FROM {table} {rest}", values):
            if self.format == 1:
                yield row, True
            else:
                yield row[:-1], row_digest(table, row[:-1]) == row[-1]

    def mark_faults(self) -> list[str]:
        """Return what is wrong by run.mark, a line each: an end of the database that is lost is made again."""
        mark = self.read_mark()  # before any row: it never counts more than was committed by then
        sizes = self.sizes()
        if not mark:
            return ["run.mark: expected the run's identity and the number of rows, got nothing that can be read"]
        if mark.get("run") != self.get("identity"):
            return ["run.mark: expected that of this database, got another run's"]
        return [f"{mark[t] - n} {t} were finished and are gone" for t, n in sizes.items() if n < mark[t]]

    def integrity(self) -> list[str]:
        """Return what SQLite finds wrong with the file itself, a line each."""
        return [str(row[0]) for row in self._db.execute("PRAGMA integrity_check(20)") if row[0] != "ok"]

    def faults(self) -> list[str]:
        """Return which tables do not have the rows that the last commit left, a line each."""
        if self.format == FORMAT:
            return [*self._tally_faults()]
        found = []
        for table, size in self.sizes().items():
            if table == "versions" and self.get("recovered_from"):  # counts without the rows that could not be read
                continue
            (first, count) = self._db.execute(f"SELECT MIN(rowid), COUNT(*) FROM {table} NOT INDEXED").fetchone()
            if count and count != size - first + 1:
                found.append(f"{size - first + 1 - count} {table} are missing in between")
        return found

    def insert(self, table: str, rows: Iterable[tuple[Any, ...]], how: str = "INSERT") -> None:
        """Insert rows with their checksums."""
        if how == "INSERT OR REPLACE":
            self.recount()
        found = [(*row, row_digest(table, row)) for row in rows]
        if found:
            self._db.executemany(f"{how} INTO {table} VALUES ({', '.join('?' * len(found[0]))})", found)

    def recount(self) -> None:
        """Take the tally of all rows at the next commit: some have been removed or replaced."""
        self._tallied = {}

    def get(self, key: str, default: str | None = None) -> str | None:
        """Return a value that belongs to the run, from the meta table."""
        for _, value in self.rows("meta", "WHERE key = ?", (key,)):
            return str(value)
        return default

    def put(self, key: str, value: str) -> None:
        """Set such a value; inside a transaction."""
        row = (key, value)
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?, ?)", (*row, row_digest("meta", row)))
