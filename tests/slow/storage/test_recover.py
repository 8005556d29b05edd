"""Damage is noticed, named, and what is right is saved: the database, its log, networks, the mark, settings."""

import json
import os
import shutil
import sqlite3
import stat

import pytest

from config import UserError, with_overrides
from initialise import Session
from main import train
from network.stored_network import began_with
from storage.atomic_files import DamagedData, Unwritable, write_file
from storage.recover import recover
from storage.run_folders import NOTHING, find_run, read_config, unfinished_run
from storage.run_store import Store
from storage.verify import verify
from support.command_line import output_of
from support.run_states import Listening, assert_same_run, copied
from support.tiny_runs import QUIET, tiny, tree_of

LOGS = ("run.db-wal", "run.db-shm")


def changed(folder, name, change):
    """Rewrite a file of a run by a function of its bytes."""
    path = folder / name
    path.write_bytes(bytes(change(bytearray(path.read_bytes()))))


def flipped(data):
    data[len(data) // 2] ^= 4
    return data


# ---- verify


def test_a_whole_run_is_whole_and_says_in_what_state(trained):
    before = tree_of(trained)
    report = verify(trained)
    assert report.damage == [] and (report.games, report.iterations) == (96, 4) and len(report.state) == 64
    assert tree_of(trained) == before, "nothing is written"
    store = Store(trained / "run.db", read_only=True)
    assert report.state == store.state_digest()
    store.close()


ROWS = [
    ("UPDATE games SET moves = zeroblob(length(moves)) WHERE iteration = 2 AND idx = 5", "game 5 of iteration 2"),
    ("UPDATE games SET result = 1 - result WHERE iteration = 1 AND idx = 0", "game 0 of iteration 1"),
    ("UPDATE games SET idx = 99 WHERE iteration = 3 AND idx = 7", "game 99 of iteration 3"),
    ("UPDATE games SET idx = NULL WHERE iteration = 3 AND idx = 7", "game None of iteration 3"),
    ("UPDATE games SET idx = 'x' WHERE iteration = 3 AND idx = 7", "game x of iteration 3"),
    ("DELETE FROM games WHERE iteration = 4 AND idx = 23", "iteration 4: 24 games in self-play, 23 are there"),
    ("UPDATE matches SET score = 1 - score WHERE idx = 1", "match game 1 of iteration 2"),
    ("UPDATE versions SET sha256 = 'x' WHERE version = 1", "versions 1"),
    ("UPDATE stages SET facts = '{}' WHERE iteration = 1 AND stage = 'retrain'", "stages 1"),
    ("UPDATE meta SET value = '9' WHERE key = 'best'", "meta best"),
]


@pytest.mark.parametrize("change, words", ROWS)
def test_a_changed_row_is_named(root, change, words):
    folder = find_run("tictactoe", root=root)
    with sqlite3.connect(folder / "run.db") as db:
        db.execute(change)
    db.close()
    report = verify(folder)
    assert any(words in line for line in report.damage) and report.state == ""


@pytest.mark.parametrize("change, words", [
    ("moves = CAST(x'000001000200030004000500' AS BLOB)", "game 5 of iteration 2: "),
    ("result = 0.25", "game 5 of iteration 2: has the result 0.25, by the rules"),
    ("moves = 'abcdef'", "game 5 of iteration 2: cannot be read"),
    ("vals = x'00000000'", "game 5 of iteration 2: has 1 values, expected"),
])  # fmt: skip
def test_a_game_that_the_rules_do_not_allow_is_found_though_its_checksum_is_right(root, change, words):
    folder = find_run("tictactoe", root=root)
    store = Store(folder / "run.db")
    store._db.execute(f"UPDATE games SET {change} WHERE iteration = 2 AND idx = 5")
    (row,) = [row for row, _ in store.checked("games") if row[:2] == (2, 5)]
    with store.transaction():
        store.insert("games", [row], "INSERT OR REPLACE")
    store.close()
    assert [line for line in verify(folder).damage if words in line]


@pytest.mark.parametrize("name", ["version0000.npz", "version0002.npz", "optimizer0004.npz"])
@pytest.mark.parametrize("how", ["flipped", "missing"])
def test_a_changed_network_is_named_by_verify(root, name, how):
    folder = find_run("tictactoe", root=root)
    if how == "missing":
        (folder / "models" / name).unlink()
    else:
        changed(folder, f"models/{name}", flipped)
    assert [line for line in verify(folder).damage if name in line]


# ---- a lost end of the database


def test_a_lost_end_of_the_database_is_told_and_made_again(trained, begun, tmp_path, quick):
    folder = copied(begun, tmp_path)
    old = (folder / "run.db").read_bytes()
    with Session.open(folder, console=QUIET) as session:
        train(session, iterations=1)
    for name in LOGS:
        (folder / name).unlink(missing_ok=True)
    (folder / "run.db").write_bytes(old)
    assert any("24 games were finished and are gone" in line for line in verify(folder).damage)
    listening = Listening()
    with Session.open(folder, console=listening) as again:
        assert any("the newest part of run.db was lost (24 games" in line for line in listening.said)
        assert again.iteration == 2
        train(again, iterations=2)
    assert verify(folder).damage == []
    assert_same_run(trained, folder, last=3)


def test_the_database_of_another_run_is_refused(root, begun):
    folder = find_run("tictactoe", root=root)
    shutil.copy(begun / "run.db", folder / "run.db")
    with pytest.raises(DamagedData, match="another run's"):
        Session.open(folder, console=QUIET)


def test_a_run_without_its_database_is_not_passed_over_for_a_new_one(root):
    folder = find_run("tictactoe", root=root)
    for content in (b"", None):
        if content is None:
            (folder / "run.db").unlink()
        else:
            (folder / "run.db").write_bytes(content)
        with pytest.raises(DamagedData, match=f"run.db.*; {NOTHING}$"):
            unfinished_run("tictactoe", root)


def test_settings_that_are_gone_come_back_from_the_database(root):
    folder = find_run("tictactoe", root=root)
    text = (folder / "config.json").read_text()
    (folder / "config.json").unlink()
    assert find_run("tictactoe", root=root) == folder
    Session.open(folder, console=QUIET).close()
    assert (folder / "config.json").read_text() == text


# ---- recover


def recovered(folder):
    before = tree_of(folder)
    found = recover(folder)
    assert {**tree_of(folder), "lock": b""} == {**before, "lock": b""}, "the damaged run stays as it is"
    new = folder.with_name(found.run)
    assert verify(new).damage == []
    return found, new


@pytest.mark.parametrize("name", ["version0003.npz", "optimizer0003.npz"])
def test_the_newest_network_is_learned_again_and_is_the_same(trained, begun, tmp_path, quick, name):
    folder = copied(begun, tmp_path)
    with Session.open(folder, console=QUIET) as session:
        train(session, iterations=2)
    changed(folder, f"models/{name}", flipped)
    found, new = recovered(folder)
    assert found.versions == 3 and any("learned again from iteration 3" in line for line in found.lost)
    with Session.open(new, console=QUIET) as again:
        assert again.iteration == 3 and again.current_version == 2
        train(again, iterations=2)
    assert_same_run(trained, new)
    assert unfinished_run("tictactoe", folder.parent.parent) is None, "the damaged one is not gone on with"


def test_it_is_still_known_with_whose_network_a_run_began(root, quick):
    theirs = {"INITIAL_RUN_NUMBER": 1, "INITIAL_MODEL_VERSION": 2}
    with Session.start(tiny(seed=1), root=root, console=QUIET, **theirs) as session:
        folder, words = session.folder, began_with(session.store)
        train(session, iterations=1)
    changed(folder, "models/version0001.npz", flipped)
    with Session.open(recovered(folder)[1], console=QUIET) as again:
        assert began_with(again.store) == words == "version 2 of run0001 of tictactoe"


@pytest.mark.parametrize("how", ["cut", "first page", "header", "middle page"])
def test_what_can_be_read_of_a_damaged_database_is_saved(root, quick, how):
    folder = find_run("tictactoe", root=root)
    size = (folder / "run.db").stat().st_size
    rng = os.urandom
    changes = {
        "cut": lambda d: d[: size - 8192], "first page": lambda d: rng(4096) + d[4096:],
        "header": lambda d: b"\0" * 100 + d[100:],
        "middle page": lambda d: d[: size // 8192 * 4096] + rng(4096) + d[size // 8192 * 4096 + 4096 :],
    }  # fmt: skip
    changed(folder, "run.db", changes[how])
    found, new = recovered(folder)
    assert found.games > 0 and found.versions >= 1
    if how in ("first page", "header"):
        assert (found.games, found.versions, found.iterations) == (96, 5, 4)
    else:
        assert found.games < 96 or found.matches < 12 or found.lost == []
    more = with_overrides(read_config(new), iterations=found.iterations + 1)
    with Session.open(new, more, console=QUIET) as session:
        assert len(train(session)) == 1


def test_a_row_that_is_not_right_is_not_saved(root):
    folder = find_run("tictactoe", root=root)
    with sqlite3.connect(folder / "run.db") as db:
        db.execute("UPDATE games SET result = 0.5 WHERE iteration = 2 AND idx = 5")
    db.close()
    found, new = recovered(folder)
    assert found.games == 95 and "1 games cannot be read" in found.lost
    assert any("1 games of iteration 2 stay lost" in line for line in found.lost)
    assert verify(new).damage == [], "what recover has named is no damage of the new run"


def test_definitions_that_a_stranger_added_are_not_followed_and_all_rows_are_saved(root):
    """SQLite follows none of them: the rows are read by the first page of another run."""
    folder = find_run("tictactoe", root=root)
    whole = verify(folder)
    db = sqlite3.connect(folder / "run.db")
    db.executescript("""
        CREATE VIEW more AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n;
        CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM games; END;
        CREATE INDEX i ON games (hex(visits));
    """)
    db.close()
    assert "expected exactly the tables of a run" in "".join(verify(folder).damage)
    found = recover(folder)
    assert (found.games, found.versions, found.lost) == (whole.games, 5, [])
    assert verify(folder.parent / found.run).damage == []


def test_a_network_s_name_leads_nowhere_else_whatever_the_database_says(root, tmp_path):
    folder, target = find_run("tictactoe", root=root), tmp_path / "elsewhere" / "version0001.npz"
    target.parent.mkdir()
    store = Store(folder / "run.db")
    row = next(row for row, _ in store.checked("versions") if row[0] == 1)
    with store.transaction():
        store.insert("versions", [(*row[:2], str(target), *row[3:])], "INSERT OR REPLACE")
    store.close()
    assert verify(folder).damage == []
    found = recover(folder)
    assert found.versions == 5 and not list(target.parent.iterdir())
    assert (folder.with_name(found.run) / "models" / target.name).exists()


def test_a_run_without_an_older_network_is_whole_again_and_says_what_became_of_its_best(root):
    folder = find_run("tictactoe", root=root)
    store = Store(folder / "run.db")
    with store.transaction("imports"):
        store.put("imports", "[]")
    best = store.lines()[-1]["best_version"]
    store.close()
    gone = best if 0 < best < 4 else 1
    changed(folder, f"models/version000{gone}.npz", flipped)
    found, new = recovered(folder)
    assert found.versions == 4
    store = Store(new / "run.db", read_only=True)
    assert (store.get("imports"), store.get("finished")) == ("[]", "yes")
    told_of = f"version {gone} was the best: version {store.best()} takes its place"
    assert (told_of in found.lost) == (best == gone) == (store.best() != best)
    store.close()


def test_without_any_right_network_nothing_is_recovered(root):
    folder = find_run("tictactoe", root=root)
    for path in (folder / "models").glob("version*"):
        path.unlink()
    with pytest.raises(DamagedData, match="no network of the run is undamaged"):
        recover(folder)
    assert [p.name for p in folder.parent.iterdir()] == ["run0001"]


def test_the_commands_verify_and_recover(trained_place, capsys, quick):
    code, out, err = output_of(capsys, "verify", "--game", "tictactoe")
    assert (code, err) == (0, "") and "is undamaged: 4 iterations, 96 games" in out
    assert output_of(capsys, "verify", "--game", "tictactoe", "--run", "9")[0] == 2
    code, _, err = output_of(capsys, "verify", "--game", "tictactoe", "--run", "0")
    assert code == 2 and "expected a player of tictactoe that ships (run 0), there is none" in err
    folder = find_run("tictactoe", root=trained_place)
    for name in ("version0003.npz", "version0004.npz"):
        changed(folder, f"models/{name}", flipped)
    code, out, _ = output_of(capsys, "verify", "--game", "tictactoe", "--json")
    wrong = [f"models/version000{v}.npz: is not what the run wrote" for v in (3, 4)]
    assert code == 4 and json.loads(out)["damage"] == wrong
    beginning = "--initial-run-number", "1", "--initial-model-version", "3"
    code, _, err = output_of(capsys, "--game", "tictactoe", *beginning)
    assert code == 4 and "`python main.py recover --game 'tictactoe' --run 1`" in err, "the one that is damaged"
    code, _, err = output_of(capsys, "--game", "tictactoe", "--run", "1", "--iterations", "9")
    assert code == 4 and "version0004.npz" in err and "`python main.py recover --game 'tictactoe' --run 1`" in err
    code, out, err = output_of(capsys, "recover", "--game", "tictactoe", "--run", "1")
    assert (code, err) == (0, "") and "into run0002; run0001 stays as it is" in out
    assert out.endswith("`python main.py --game 'tictactoe' --run 2` resumes it\n")
    assert output_of(capsys, "verify", "--game", "tictactoe")[0] == 0


def test_of_a_run_without_damage_no_copy_is_made(trained_place, capsys):
    before = tree_of(trained_place)
    code, out, _ = output_of(capsys, "recover", "--game", "tictactoe")
    assert code == 0 and out == "nothing of run0001 is damaged or missing, so nothing is made of it\n"
    code, out, _ = output_of(capsys, "recover", "--game", "tictactoe", "--json")
    assert code == 0 and json.loads(out)["run"] is None and tree_of(trained_place) == before


# ---- a disk that is full, a folder that is gone, training that diverges


def test_a_disk_without_room_for_an_iteration_is_told_before_it_begins(begun, tmp_path, quick, monkeypatch):
    folder = copied(begun, tmp_path)
    monkeypatch.setattr("storage.atomic_files.free_bytes", lambda folder: 1 << 20)
    with Session.open(folder, console=QUIET) as session, pytest.raises(Unwritable) as raised:
        train(session)
    assert raised.value.exit_code == 5 and "bytes are needed to go on, 1,048,576 are free" in str(raised.value)
    assert verify(folder).damage == []


def test_a_folder_that_is_taken_away_is_named(trained, begun, tmp_path, quick):
    folder = copied(begun, tmp_path)
    away = folder.with_name("away")
    with Session.open(folder, console=QUIET) as session:
        folder.rename(away)
        with pytest.raises(Unwritable, match="run0001"):
            train(session)
    away.rename(folder)
    with Session.open(folder, console=QUIET) as again:
        train(again, iterations=2)
    assert_same_run(trained, folder, last=3)


def test_training_that_diverges_once_is_done_again_at_half_the_rate(begun, tmp_path, quick, monkeypatch):
    rates, listening = [], Listening()
    with Session.open(copied(begun, tmp_path), console=listening) as session:
        fit = session.model.fit

        def diverging(batches, steps, *, rate, **options):
            rates.append(rate(0))
            if len(rates) == 1:
                raise ArithmeticError("not finite")
            return fit(batches, steps, rate=rate, **options)

        monkeypatch.setattr(session.model, "fit", diverging)
        train(session, iterations=1)
        assert session.current_version == 2 and rates[1] == rates[0] / 2
    assert any("again at half the learning rate" in line for line in listening.said)


def test_values_that_are_not_finite_never_reach_the_memory(begun, tmp_path, quick):
    with Session.open(copied(begun, tmp_path), console=QUIET) as session:
        record = next(session.store.games_of(1))
        for wrong in (record._replace(result=float("nan")), record._replace(values=record.values * float("inf"))):
            with pytest.raises(DamagedData, match="finite"), session.store.transaction():
                session.store.add_games(2, 0, [wrong])
        assert session.store.game_indices(2) == set()


def test_a_file_of_a_run_is_for_its_owner_only(root, quick):
    with Session.start(read_config(find_run("tictactoe", root=root)), root=root / "new", console=QUIET) as session:
        train(session, iterations=1)
        for path in (session.folder, *session.folder.rglob("*")):
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 or path.suffix == ".png", path


def test_a_write_that_fails_leaves_the_old_file_and_nothing_beside_it(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_file(path, b"old")
    for fail in ("fsync", "replace"):
        with monkeypatch.context() as patch, pytest.raises(OSError):
            patch.setattr(os, fail, lambda *_, **__: (_ for _ in ()).throw(OSError(28, "No space left on device")))
            write_file(path, b"new")
        assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["file"]


# ---- settings changed in the middle of an iteration


def test_a_setting_changed_in_the_middle_of_an_iteration_counts_from_the_next(begun, tmp_path, quick):
    folder, listening = copied(begun, tmp_path), Listening()
    asked = []
    with Session.open(folder, console=QUIET) as session:
        train(session, stop=lambda: asked.append(1) or len(asked) > 20)
        assert session.store.has_begun(2), "stopped in the middle"
        assert session.store.get("spent").startswith("2 ")
        old = session.config
    Session.open(folder, with_overrides(old, cpuct=9.0), console=QUIET).close()
    Session.open(folder, old, console=QUIET).close()
    assert read_config(folder) == old, "one that is changed back does not come again"
    wished = with_overrides(old, cpuct=2.0, games_in_flight=8, learning_rate=0.001, batch_size=16)
    with Session.open(folder, wished, console=listening) as again:
        helps = with_overrides(old, games_in_flight=8, learning_rate=0.001, batch_size=16)
        assert again.config == helps and again.iteration == 2, "what a fit that fails is told to try counts at once"
        assert "changed setting cpuct: 1.25 -> 2.0, from iteration 3 on" in listening.said
        assert "changed setting learning_rate: 0.002 -> 0.001" in listening.said
        again.store.put("spent", "2 100.0")
        (line,) = train(again, iterations=1)
        assert again.config == wished and line["seconds"] > 100, "what was worked before the interruption counts"
        assert line["total_seconds"] > 100 and again.store.get("spent") == ""
    (folder / "config.json").write_text((folder / "config.json").read_text().replace('"seed": 0', '"seed": 1'))
    with pytest.raises(UserError, match="seed: the run has 0, got 1"):
        Session.open(folder, console=QUIET)
