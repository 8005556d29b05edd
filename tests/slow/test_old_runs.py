"""Runs of other days: of an older format, on a clock that jumps."""

import json
import os
import random
import sqlite3
import time

from config import REMOVED, Config
from initialise import Session
from loggers import Console
from main import train
from storage.database import KEPT
from storage.run_folders import find_run
from storage.run_store import Store
from storage.verify import verify
from support.run_states import assert_same_run, copied
from support.tiny_runs import QUIET, tree_of

FORMAT_1 = """
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
PRAGMA application_id = 0x415A4B31;
PRAGMA user_version = 1;
"""


def as_format_1(folder):
    """Write a run's database as the first format had it: no checksums, no mark, settings in config.json only."""
    store = Store(folder / "run.db", read_only=True)
    tables = {table: list(store.rows(table)) for table in ("meta", *KEPT)}
    digest = store.newest().optimizer
    store.close()
    for path in folder.glob("run.*"):
        path.unlink()
    values = [row for row in tables["meta"] if row[0] not in ("identity", "config")]
    tables["meta"] = [*values, ("optimizer_sha256", digest)]
    tables["versions"] = [row[:5] for row in tables["versions"]]
    with sqlite3.connect(folder / "run.db") as db:
        db.executescript(FORMAT_1)
        for table, rows in tables.items():
            db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
    db.close()


def test_a_run_of_the_first_format_is_read_as_it_is_and_gone_on_with_in_the_new_one(root, trained):
    folder = find_run("tictactoe", root=root)
    as_format_1(folder)
    before = tree_of(folder)
    store = Store(folder / "run.db", read_only=True)
    assert (store.format, store.count_games(), len(store.versions())) == (1, 96, 5)
    store.close()
    assert tree_of(folder) == before
    Session.open(folder, console=QUIET).close()
    report = verify(folder)
    assert report.damage == [] and report.state == verify(trained).state


def test_a_clock_that_jumps_changes_nothing(trained, begun, tmp_path, quick, monkeypatch):
    folder, now, rng = copied(begun, tmp_path), time.time(), random.Random(1)
    for path in folder.rglob("*"):
        os.utime(path, (now - 4e7, now - 4e7))
    monkeypatch.setattr(time, "time", lambda: now + rng.choice((-3e7, 3e7)))
    with Session.open(folder, console=QUIET) as session:
        train(session, iterations=2)
    assert_same_run(trained, folder, last=3)


def test_a_run_with_settings_that_later_versions_removed_continues_without_them(begun, tmp_path, quick, capsys):
    folder = copied(begun, tmp_path)
    with Session.open(folder, console=QUIET) as session, session.store.transaction():
        kept = json.loads(session.store.get("config"))
        session.store.put("config", json.dumps({**kept, **REMOVED, "surprise_weight": 0.5}))
        for stage in ("surprise", "side"):  # what they found out about positions
            session.store.finish(session.iteration, stage, {"positions": 0, "data": "eJwDAAAAAAE="})
    assert verify(folder).damage == []
    for said in ("changed setting surprise_weight: 0.5 -> 0.0, as only versions up to 0.3.0 have it", ""):
        with Session.open(folder, console=Console()) as session:
            assert session.config == Config(**kept)
        out = capsys.readouterr().out
        assert said in out and out.count("changed setting") == bool(said)
    with Session.open(folder, console=QUIET) as session:
        train(session, iterations=1)
    assert verify(folder).damage == []
