"""Rows that are missing from run.db, or are those of an earlier state, though each of them is right by its checksum.

Whatever is taken away, a run comes to the same state as an undisturbed one, or stops and names `recover`.
"""

import random
import shutil
import sqlite3
from contextlib import closing

import pytest

from config import UserError
from initialise import Session
from main import train
from storage.atomic_files import DamagedData
from storage.consistency import inconsistencies
from storage.run_folders import NOTHING, runs_of
from storage.run_store import Store
from storage.sqlite_errors import connect
from storage.verify import verify
from support.crashable_process import GAME
from support.run_states import Listening, copied
from support.tiny_runs import QUIET

KILLED = -9
PAGE = 4096
TABLES = ("games", "versions", "matches", "stages", "meta")
KEYS = ("run", "game", "model", "rules", "config", "best", "steps", "seconds", "spent", "finished", "identity", "tally")
CHANGING = ("steps", "seconds", "spent", "tally")
WHICH = {
    "all rows": "", "some rows": "WHERE unicode(substr({key}, -1)) % 2",
    "the first row": "WHERE {key} = (SELECT MIN({key}) FROM {table})",
    "the last row": "WHERE {key} = (SELECT MAX({key}) FROM {table})",
}  # fmt: skip


def whole(folder):
    """Put what is in the log of a database into its file."""
    with closing(sqlite3.connect(folder / "run.db")) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def make(nursery, root):
    """Return (a run killed in its third iteration, the same run at the end of its first) as folders."""
    assert nursery.ask("live", root, fail="iteration.after:1")["code"] == KILLED
    folder = runs_of(GAME, root)[-1]
    earlier = shutil.copytree(folder, root / "earlier")
    assert nursery.ask("live", root, fail="iteration.after:1")["code"] == KILLED
    assert nursery.ask("live", root, fail="game.after:4")["code"] == KILLED
    for one in (folder, earlier):
        whole(one)
    return folder, earlier


@pytest.fixture(scope="module")
def runs(nursery, tmp_path_factory):
    return make(nursery, tmp_path_factory.mktemp("crashed"))


def deleted(table, which):
    key = "key" if table == "meta" else "rowid"

    def attack(folder, earlier):
        with closing(connect((folder / "run.db").as_uri())) as db:
            db.execute(f"DELETE FROM {table} {WHICH[which].format(table=table, key=key)}")

    return attack


def older_key(name, gone):
    def attack(folder, earlier):
        with closing(connect((earlier / "run.db").as_uri())) as db:
            row = db.execute("SELECT * FROM meta WHERE key = ?", (name,)).fetchone()
        with closing(connect((folder / "run.db").as_uri())) as db:
            if gone or row is None:
                db.execute("DELETE FROM meta WHERE key = ?", (name,))
            else:
                db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?, ?)", row)

    return attack


def older_page(number):
    def attack(folder, earlier):
        with open(earlier / "run.db", "rb") as before, open(folder / "run.db", "r+b") as now:
            before.seek(number * PAGE)
            now.seek(number * PAGE)
            now.write(before.read(PAGE))

    return attack


ATTACKS = {
    **{f"{which} of {table}": deleted(table, which) for table in TABLES for which in WHICH},
    **{f"{name} deleted": older_key(name, True) for name in KEYS},
    **{f"{name} as it was": older_key(name, False) for name in CHANGING},
}


def pages(earlier):
    return {f"page {n}": older_page(n) for n in range((earlier / "run.db").stat().st_size // PAGE)}


def outcome(nursery, folder, state):
    """Let an attacked run go on; return what became of it."""
    found = nursery.ask("live", folder.parent.parent)
    if found["code"] == 4:
        return "refused" if "`python main.py recover --game 'tictactoe' --run 1`" in found["said"] else found["said"]
    if found["code"] or verify(folder).damage:
        return f"code {found['code']}, {found['said'][-200:]}, {verify(folder).damage[:1]}"
    if nursery.ask("state", folder.parent.parent)["state"] != state:
        return "another state"
    return "told and the same" if found["said"] else "the same"


def attacked(runs, attack, tmp_path):
    folder = shutil.copytree(runs[0], tmp_path / GAME / "run0001")
    attack(folder, runs[1])
    return folder


@pytest.mark.parametrize("kind", ["rows", "keys", "pages"])
def test_whatever_is_missing_or_old_the_run_is_the_same_or_refused(nursery, finished, runs, tmp_path, kind):
    chosen = {name: attack for name, attack in ATTACKS.items() if (" of " in name) == (kind == "rows")}
    if kind == "pages":
        found = pages(runs[1])
        chosen = {name: found[name] for name in random.Random(0).sample([*found], min(12, len(found)))}
    refused = 0
    for number, (name, attack) in enumerate(chosen.items()):
        folder = attacked(runs, attack, tmp_path / str(number))
        try:
            with closing(Store(folder / "run.db", read_only=True)) as store:
                wrong = bool(inconsistencies(store))
        except DamagedData:
            wrong = True
        if not wrong or number % 8 == 0:
            became = outcome(nursery, folder, finished[1])
            assert became == ("refused" if wrong else "the same"), name
        refused += wrong
    assert refused >= {"rows": 20, "keys": 15, "pages": 8}[kind]


def test_a_refused_run_is_told_as_damaged_by_verify_and_recovered(runs, tmp_path):
    folder = attacked(runs, deleted("games", "the first row"), tmp_path)
    with pytest.raises(DamagedData, match="run.db: expected the rows .* rows of the last commit.* recover") as told:
        Session.open(folder, console=QUIET)
    assert told.value.exit_code == 4
    assert any("rows of the last commit" in line for line in verify(folder).damage)


@pytest.mark.parametrize("change, words", [
    ("DELETE FROM versions WHERE version = 1", "versions are missing in between|version 1 is missing"),
    ("DELETE FROM versions WHERE version = (SELECT MAX(version) FROM versions)", "version 2 is missing"),
    ("DELETE FROM games WHERE iteration = 1 AND idx = 3", "games are missing in between|24 games in self-play, 23"),
    ("DELETE FROM stages WHERE iteration = 2", "version 2 is of no finished training"),
    ("DELETE FROM stages WHERE iteration = 1 AND stage = 'retrain'", "stages are missing|the end of retrain"),
    ("DELETE FROM meta WHERE key = 'run'", "meta: run is missing"),
    ("DELETE FROM meta WHERE key = 'steps'", "meta: steps is None"),
    ("DELETE FROM matches WHERE idx = 0", "matches are missing|games in tournament"),
])  # fmt: skip
def test_a_run_of_an_earlier_release_has_no_tally_but_its_finished_stages(nursery, runs, tmp_path, change, words):
    folder = shutil.copytree(runs[0], tmp_path / GAME / "run0001")
    with closing(connect((folder / "run.db").as_uri())) as db:
        db.execute("DELETE FROM meta WHERE key = 'tally'")
        db.execute("PRAGMA user_version = 2")
        with closing(Store(folder / "run.db", read_only=True)) as store:
            assert (store.format, inconsistencies(store)) == (2, [])
        db.execute(change)
    with pytest.raises(UserError, match=words):
        Session.open(folder, console=QUIET)
    with closing(Store(folder / "run.db", read_only=True)) as store:
        assert store.format == 2, "it is not taken as it is"


def test_rows_are_counted_right_where_the_index_is_another(runs, tmp_path):
    """The rows are counted in the table, not in the index of an earlier state."""
    folder = shutil.copytree(runs[0], tmp_path / GAME / "run0001")
    for attack in pages(runs[1]).values():
        shutil.copy(runs[0] / "run.db", folder / "run.db")
        attack(folder, runs[1])
        assert not [line for line in verify(folder).damage if line.split(": ")[-1].startswith("-")]


def test_damage_that_is_met_in_the_middle_of_the_work_names_the_file_and_the_remedy(begun, tmp_path, quick):
    folder = copied(begun, tmp_path)
    with pytest.raises(DamagedData) as caught, Session.open(folder, console=QUIET) as session:
        size = (folder / "run.db").stat().st_size
        with open(folder / "run.db", "r+b") as file:
            file.seek(PAGE)
            file.write(b"\xa5" * (size - PAGE))
        session.store._db.execute("PRAGMA cache_size = 0")
        session.store._db.execute("PRAGMA shrink_memory")
        train(session)
    assert caught.value.exit_code == 4 and "run.db" in str(caught.value)
    assert str(caught.value).endswith(NOTHING), "no row is left"


def test_games_of_others_that_are_lost_with_the_end_are_told(begun, tmp_path, quick):
    folder = copied(begun, tmp_path)
    old = (folder / "run.db").read_bytes()
    with Session.open(folder, console=QUIET) as session, session.store.transaction():
        session.store.put("imports", "[{}]")
    for path in folder.glob("run.db-*"):
        path.unlink()
    (folder / "run.db").write_bytes(old)
    listening = Listening()
    Session.open(folder, console=listening).close()
    assert any("not the games that were imported: import them again" in line for line in listening.said)
