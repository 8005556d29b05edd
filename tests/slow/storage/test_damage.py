"""Damaged files of a run are named; the newest network is learned again, a run with other damage refused."""

import errno
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

import config as c
from config import UserError, with_overrides
from initialise import Session
from main import train
from storage.atomic_files import DamagedData, Unwritable, arrays_from_bytes, arrays_to_bytes
from storage.game_record import IMPORTED
from storage.recover import recover
from storage.run_folders import find_run, read_config, runs_of
from storage.run_store import Store
from storage.verify import verify
from support.command_line import output_of
from support.run_states import Listening, assert_same_run, content, copied
from support.tiny_runs import QUIET, tiny, tree_of
from training.work import source_of


def damage(folder, file, how):
    path = folder / file
    data = path.read_bytes()
    if how == "missing":
        path.unlink()
    else:
        middle = len(data) // 2
        path.write_bytes({"cut": data[:middle], "empty": b"", "garbage": b"x" * len(data),
                          "a bit": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]}[how])  # fmt: skip


@pytest.mark.parametrize("how", ["missing", "cut", "empty", "garbage", "a bit"])
@pytest.mark.parametrize("kind", ["version", "optimizer"])
def test_a_damaged_newest_network_is_put_away_and_learned_again_the_same(trained, root, quick, kind, how):
    folder, listening = find_run("tictactoe", root=root), Listening()
    last = content(folder)["versions"][-1][0]
    name = f"{kind}{last:04}.npz"
    damage(folder, f"models/{name}", how)
    damaged = (folder / "models" / name).read_bytes() if how != "missing" else None
    with pytest.raises(UserError, match="seed"):
        Session.open(folder, with_overrides(read_config(folder), seed=5), console=QUIET)
    with Session.open(folder, console=listening) as session:
        assert session.current_version == last - 1 and session.iteration == 4
        (said,) = (line for line in listening.said if name in line)
        assert "quarantine" in said and f"version {last} and what followed" in said and "from iteration 4 on" in said
        train(session)
    away = {p.name: p.read_bytes() for p in (folder / "quarantine").iterdir()}
    assert away == ({name: damaged} if damaged is not None else {})
    assert verify(folder).damage == []
    assert_same_run(trained, folder)


def test_a_network_damaged_in_the_midst_of_the_next_iteration_costs_that_one_and_no_game_from_elsewhere(
    trained, begun, tmp_path, quick
):
    folder, asked = copied(begun, tmp_path), []
    with Session.open(folder, console=QUIET) as session:
        given = [game._replace(index=IMPORTED + i) for i, game in enumerate(session.store.games_of(1))]
        with session.store.transaction():
            session.store.add_games(2, -1, given[:3])
        train(session, stop=lambda: asked.append(1) or len(asked) > 20)
        session.store.checkpoint()
        assert len(session.store.game_indices(2)) > 3
    damage(folder, "models/version0001.npz", "a bit")
    for point in ("mend.before", "mend.in_tx", "mend.after", "mark.written"):  # interrupted, it is done again
        with pytest.MonkeyPatch.context() as patch, pytest.raises(Unwritable):
            patch.setenv("ALPHAZERO_FAIL", f"{point}:1:full")
            patch.setattr("storage.fault_injection._passed", {})
            Session.open(folder, console=QUIET)
        if point == "mend.in_tx":
            assert Store(folder / "run.db", read_only=True).newest().version == 1
    with Session.open(folder, console=QUIET) as session:
        assert session.iteration == 1 and session.store.game_indices(2) == {g.index for g in given[:3]}
        train(session, iterations=1)
    assert verify(folder).damage == []
    assert_same_run(trained, folder, last=1)


def test_networks_damaged_beyond_the_newest_are_named_and_nothing_is_trained_from_them(root, quick):
    folder = find_run("tictactoe", root=root)
    last = content(folder)["versions"][-1][0]
    damage(folder, f"models/version{last:04}.npz", "a bit")
    damage(folder, f"models/optimizer{last - 1:04}.npz", "a bit")
    before = tree_of(folder / "models")
    changed = with_overrides(read_config(folder), iterations=9)
    with (
        pytest.raises(DamagedData, match=f"version{last:04}.npz") as raised,
        Session.open(folder, changed, console=QUIET) as session,
    ):
        train(session)
    assert raised.value.exit_code == 4 and tree_of(folder / "models") == before
    Session.open(folder, console=QUIET).close()


@pytest.mark.parametrize("how", ["missing", "cut", "empty", "garbage", "page by page"])
def test_a_damaged_database_is_named_and_the_run_let_go_of(root, trained, how):
    folder = find_run("tictactoe", root=root)
    for extra in folder.glob("run.db-*"):
        extra.unlink()
    if how == "page by page":
        data = (folder / "run.db").read_bytes()
        (folder / "run.db").write_bytes(data[:8192] + b"\xa5" * (len(data) - 8192))
    else:
        damage(folder, "run.db", how)
    for _ in range(2):
        with pytest.raises(DamagedData, match="run.db"):
            Session.open(folder, console=QUIET)
    shutil.copy(trained / "run.db", folder / "run.db")
    Session.open(folder, console=QUIET).close()


@pytest.mark.parametrize("text", [b"", b"{", b"\xff\xfe\x00", b"[]", b'{"cpuct": NaN}', b'{"nonsense": 1}'])
def test_unreadable_settings_are_named(root, text):
    folder = find_run("tictactoe", root=root)
    (folder / "config.json").write_bytes(text)
    with pytest.raises(UserError, match="config.json"):
        Session.open(folder, console=QUIET)
    with pytest.raises(UserError, match="config.json"):
        read_config(folder.parent)


def test_a_file_of_arrays_is_read_only_when_it_is_exactly_that():
    arrays = [np.arange(6, dtype=np.float32).reshape(2, 3), np.array(5, np.int64)]
    shapes = [(2, 3), ()]
    for a, b in zip(arrays, arrays_from_bytes(arrays_to_bytes(arrays), shapes, "x"), strict=True):
        assert np.array_equal(a, b) and a.dtype == b.dtype and a.shape == b.shape
    wrong = [
        (arrays_to_bytes(arrays[:1]), "expected 2 arrays, got 1"),
        (arrays_to_bytes([*arrays, arrays[0]]), "expected 2 arrays, got 3"),
        (arrays_to_bytes([arrays[0].T, arrays[1]]), r"shape \(2, 3\)"),
        (arrays_to_bytes([arrays[0] * np.nan, arrays[1]]), "finite"),
        (arrays_to_bytes([arrays[0].astype("U9"), arrays[1]]), "expected numbers"),
        (arrays_to_bytes([np.array([[{}] * 3] * 2), arrays[1]]), "expected numbers"),
        (arrays_to_bytes([np.zeros((2000, 3), np.float32), arrays[1]]), "expected numbers"),
        (b"PK\x03\x04" + b"\0" * 100, "cannot be read"),
    ]
    for data, words in wrong:
        with pytest.raises(DamagedData, match=words):
            arrays_from_bytes(data, shapes, "x")


def test_runs_are_listed_by_number_and_other_folders_are_none(tmp_path):
    for name in ("run0002", "run0010", "run10000", "run9", "other", "run0003"):
        folder = tmp_path / "tictactoe" / name
        folder.mkdir(parents=True)
        if name != "run0003":
            (folder / "config.json").write_text(c.to_json(tiny()))
    assert [p.name for p in runs_of("tictactoe", tmp_path)] == ["run0002", "run0010", "run10000"]
    assert find_run("tictactoe", 10, tmp_path).name == "run0010"
    with pytest.raises(UserError, match="expected run0007 of tictactoe, there is run0002, run0010, run10000"):
        find_run("tictactoe", 7, tmp_path)


# ---- what a stranger may have written, checksums and all


def rewritten(folder, table, where, change):
    """Put rows in the place of those that a condition finds, with right checksums."""
    store = Store(folder / "run.db")
    with store.transaction():
        for row in list(store.rows(table, where)):
            store.insert(table, [tuple(change([*row]))], "INSERT OR REPLACE")
    store.close()


@pytest.mark.parametrize("facts", ["[]", "{}", "no", '{"steps": "many", "games": 1.5}', "[" * 50_000])
@pytest.mark.parametrize("stage", ["self-play", "retrain", "tournament", "iteration"])
def test_a_stage_that_tells_nothing_is_named_and_dropped(root, stage, facts):
    folder = find_run("tictactoe", root=root)
    rewritten(folder, "stages", f"WHERE iteration = 4 AND stage = '{stage}'", lambda row: [*row[:2], facts])
    assert any(line.startswith("run.db: stages 4: ") for line in verify(folder).damage)
    found = recover(folder)
    assert any(line.startswith(f"stages (4, '{stage}'): ") for line in found.lost) and found.games == 96
    assert found.iterations == (3 if stage == "iteration" else 4)


def test_a_network_that_tells_nothing_is_named_and_dropped(root):
    folder = find_run("tictactoe", root=root)
    rewritten(folder, "versions", "WHERE version = 2", lambda row: [*row[:2], b"\0", *row[3:]])
    assert "run.db: versions 2: names no network" in verify(folder).damage
    assert recover(folder).versions == 4


def test_workers_read_networks_in_the_folder_of_the_run_whatever_its_database_says(root):
    folder = find_run("tictactoe", root=root)
    rewritten(folder, "versions", "WHERE version = 4", lambda row: [*row[:2], "/dev/zero", *row[3:]])
    (folder / "models" / "version0004.npz").rename(folder / "models" / "zero")
    more = with_overrides(read_config(folder), iterations=5)
    with Session.open(folder, more, console=QUIET) as session:
        assert Path(source_of(session).spec(4).weights) == (folder / "models" / "zero").resolve()


# ---- what is saved where little is left


def test_of_a_young_database_that_was_cut_in_half_the_rest_is_saved(begun, tmp_path):
    folder = copied(begun, tmp_path)
    store = Store(folder / "run.db")
    store.checkpoint()
    store.close()
    for log in folder.glob("run.db-*"):
        log.unlink()
    os.truncate(folder / "run.db", (folder / "run.db").stat().st_size // 2)
    found = recover(folder)
    assert found.versions == 2 and found.games > 0
    assert not list(folder.parent.glob(".recover-*"))


def test_a_disk_that_is_full_is_told_as_that_by_recover(trained_place, capsys, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    left = trained_place / "tictactoe" / ".recover-run0001-x"
    left.mkdir()
    (left.parent / "run0001" / "models" / "version0001.npz").unlink()
    monkeypatch.setattr("storage.recover.shutil.copy", full)
    code, _, err = output_of(capsys, "recover", "--game", "tictactoe")
    assert code == 5 and "No space left" in err and err.count("\n") == 1
    assert [p.name for p in left.parent.iterdir()] == ["run0001"], "nor is what a killed one left there any more"
