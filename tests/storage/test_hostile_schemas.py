"""A run's database with other definitions than the run's tables is refused before any query, and at once."""

import shutil
import sqlite3
import time

import numpy as np
import pytest

from config import to_json
from storage.atomic_files import DamagedData
from storage.database import TABLES
from storage.game_record import GameRecord
from storage.run_store import Store
from support.command_line import output_of
from training.presets import preset

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
GAME = GameRecord(0, np.array([0, 3, 1, 4, 2], np.int16), np.zeros((5, 9), np.uint16), np.zeros(5, np.float32), 1.0)


def definition(table, columns=None, kind="TABLE", after=None):
    after = " WITHOUT ROWID" if after is None and table == "meta" else after or ""
    return f"CREATE {kind} {table} ({columns or TABLES[table]}){after}"


def again(table, columns=None, after=None):
    """Return SQL that makes a table otherwise."""
    return f"DROP TABLE {table}; {definition(table, columns, after=after)}"


def text(change, where="name = 'games'"):
    """Return SQL that changes a definition itself."""
    return f"PRAGMA writable_schema = 1; UPDATE sqlite_master SET {change} WHERE {where}"


def many(count, sql):
    """Return SQL that adds definitions; {i} in them is a number."""
    words = sql.replace("'", "''").replace("{i}", "' || i || '")
    rows = f"{ENDLESS} SELECT 'view', 'v' || i, 'v' || i, 0, '{words}' FROM n LIMIT {count}"
    return f"PRAGMA writable_schema = 1; INSERT INTO sqlite_master {rows}"


def hostile():
    """Yield (name, SQL) of each."""
    for table, columns in TABLES.items():
        first = columns.split()[0]
        yield f"view for {table}", f"DROP TABLE {table}; CREATE VIEW {table} AS {ENDLESS} SELECT i FROM n"
        yield f"view of {table}", f"CREATE VIEW more AS SELECT * FROM {table}, {table} AS b, {table} AS c"
        for when in ("BEFORE", "AFTER"):
            for what in ("INSERT", "UPDATE", "DELETE"):
                yield f"trigger {when} {what} {table}", (
                    f"CREATE TRIGGER t {when} {what} ON {table} BEGIN DELETE FROM games; END"
                )
        for name, index in {
            "plain": f"INDEX i ON {table} (digest)", "unique": f"UNIQUE INDEX i ON {table} (digest, {first})",
            "partial": f"INDEX i ON {table} (digest) WHERE digest > 3",
            "named": f"INDEX tally ON {table} ({first} DESC)",
            "expression": f"INDEX i ON {table} (abs({first}), hex(digest))",
            "long": f"INDEX i ON {table} (digest || replace(hex(digest), '0', '{'x' * 3000}'))",
        }.items():
            yield f"{name} index on {table}", f"CREATE {index}"
        plain, key = (columns.split(", PRIMARY KEY")[0], columns.partition(", PRIMARY KEY")[2])
        rest = f", PRIMARY KEY{key}" if key else ""
        for name, changed in {
            "virtual column": f"{plain}, g GENERATED ALWAYS AS (zeroblob(1000000)){rest}",
            "stored column": f"{plain}, g GENERATED ALWAYS AS (hex(digest)) STORED{rest}",
            "generated digest": columns.replace("digest BLOB", "digest BLOB AS (zeroblob(900000000))"),
            "check": columns.replace("digest BLOB", "digest BLOB CHECK (length(hex(digest)) < 99)"),
            "default": columns.replace("digest BLOB", "digest BLOB DEFAULT (randomblob(16))"),
            "collation": columns.replace("digest BLOB", "digest BLOB COLLATE NOCASE"),
            "conflict": columns.replace("PRIMARY KEY", "PRIMARY KEY ON CONFLICT REPLACE", 0 if rest else 1),
            "foreign key": f"{columns}, FOREIGN KEY (digest) REFERENCES meta (key) ON DELETE CASCADE",
            "unique": f"{columns}, UNIQUE (digest)", "more columns": f"{plain}, more TEXT{rest}",
            "fewer columns": columns.replace(", digest BLOB", ""), "other type": columns.replace("BLOB", "TEXT"),
            "other nulls": columns.replace(" NOT NULL", ""), "digest first": f"d BLOB, {columns}",
        }.items():
            if changed != columns:
                yield f"{table} with {name}", again(table, changed)
        yield f"{table} of another kind", again(table, after="" if table == "meta" else " STRICT")
        yield f"no {table}", f"DROP TABLE {table}"
        yield f"{table} by another name", f"ALTER TABLE {table} RENAME TO x"
        yield f"{table} in capitals", f"ALTER TABLE {table} RENAME TO x; ALTER TABLE x RENAME TO {table.upper()}"
        yield f"comment at {table}", text("sql = sql || ' /* */'", f"name = '{table}'")
        yield f"no text of {table}", text("sql = NULL", f"name = '{table}'")
        yield f"nonsense as {table}", text("sql = 'CREATE TABLE'", f"name = '{table}'")
        yield f"{table} as a view", text("type = 'view'", f"name = '{table}'")
        yield f"a long text of {table}", text("sql = sql || printf('%.*c', 20000000, ' ')", f"name = '{table}'")
        yield f"a blob as {table}", text("sql = zeroblob(1000)", f"name = '{table}'")
    yield "another table", "CREATE TABLE more (a)"
    yield "statistics", "ANALYZE"
    yield "a sequence", "CREATE TABLE more (a INTEGER PRIMARY KEY AUTOINCREMENT); DROP TABLE more"
    yield "a virtual table", "CREATE VIRTUAL TABLE more USING fts5(a)"
    yield "a virtual table for games", "DROP TABLE games; CREATE VIRTUAL TABLE games USING fts5(a)"
    yield "many views", many(20_000, "CREATE VIEW v{i} AS SELECT * FROM games")
    yield "many wide views", many(2_000, f"CREATE VIEW v{{i}} AS SELECT {'1, ' * 1900} 1")
    yield "a view of views", many(90, "CREATE VIEW v{i} AS SELECT * FROM v1, v1, v1, v1, v1, v1, v1, v1")
    yield "a deep view", many(1, f"CREATE VIEW v{{i}} AS SELECT {'(' * 900}1{')' * 900}")
    yield "a huge view", many(1, f"CREATE VIEW v{{i}} AS SELECT '{'x' * 30_000_000}'")
    yield "nothing", "; ".join(f"DROP TABLE {table}" for table in TABLES)
    for number in (0, 1, 4, -1, 2**31 - 1):
        yield f"user_version {number}", f"PRAGMA user_version = {number}"
    for number in (0, 1, -1):
        yield f"application_id {number}", f"PRAGMA application_id = {number}"


HOSTILE = dict(hostile())


@pytest.fixture
def folder(place):
    """Return the folder of a run of one game, without a network."""
    found = place / "tictactoe" / "run0001"
    found.mkdir(parents=True)
    (found / "config.json").write_text(to_json(preset("tiny")))
    store = Store(found / "run.db", create=True)
    with store.transaction():
        store.put("run", "tictactoe/0")
        store.add_games(1, 0, [GAME])
    store.seal()
    store.close()
    return found


def change(path, sql):
    with sqlite3.connect(path, isolation_level=None) as db:
        db.executescript(f"PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; {sql}")
    db.close()


def test_each_of_200_hostile_schemas_is_refused_within_a_second_and_no_row_is_lost(folder):
    """Seconds of this process, so that a busy machine makes no difference."""
    assert len(HOSTILE) == 206, "docs/workers.md says so"
    base, path = folder / "base.db", folder / "run.db"
    path.rename(base)
    for name, sql in HOSTILE.items():
        shutil.copy(base, path)
        change(path, sql)
        before = path.read_bytes()
        for read_only in (True, False):
            began = time.process_time()
            with pytest.raises(DamagedData) as raised:
                Store(path, read_only=read_only)
            assert time.process_time() - began < 1, name
            assert raised.value.exit_code == 4 and "expected" in str(raised.value), name
            assert "\n" not in str(raised.value) and len(str(raised.value)) < len(str(path)) + 200, name
        assert path.read_bytes() == before, name
    shutil.copy(base, path)
    for read_only in (True, False):
        store = Store(path, read_only=read_only)
        assert store.count_games() == 1
        store.close()


@pytest.mark.parametrize("name", ["view for games", "trigger AFTER INSERT meta", "games with generated digest",
                                  "many views", "expression index on games"])
@pytest.mark.parametrize("command", [["verify"], ["recover"], ["export-games", "games.npz"]], ids=lambda one: one[0])
def test_commands_refuse_them_too(folder, monkeypatch, capsys, name, command):
    monkeypatch.chdir(folder)
    change(folder / "run.db", HOSTILE[name])
    began = time.process_time()
    code, out, err = output_of(capsys, *command, "--game", "tictactoe", "--run", "1")
    assert code == 4 and time.process_time() - began < 10, "what is imported first is counted as well"
    assert "Traceback" not in out + err and "run0001" in out + err


def test_a_log_with_hostile_definitions_is_refused_as_well(folder):
    """They need not be in run.db itself."""
    writer = sqlite3.connect(folder / "run.db", isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute(f"CREATE VIEW more AS {ENDLESS} SELECT i FROM n")
    with pytest.raises(DamagedData, match="expected exactly the tables of a run, but it has a view 'more'"):
        Store(folder / "run.db", read_only=True)
    writer.close()


def test_a_row_that_would_fill_the_memory_is_not_read(folder):
    change(folder / "run.db", "UPDATE games SET visits = zeroblob(200000000)")
    with pytest.raises(DamagedData, match="expected the tables and rows of a run, got more or larger ones"):
        list(Store(folder / "run.db", read_only=True).rows("games"))
