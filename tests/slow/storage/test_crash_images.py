"""What a crash may leave of a run's files: a log cut, changed or lost, a database with a changed bit, half a model."""

import os
import random
import shutil
from contextlib import closing

import pytest

from storage.atomic_files import sha256
from storage.checkpoints import path_of
from storage.run_folders import runs_of
from storage.run_store import Store
from storage.verify import verify
from support.crashable_process import GAME

KILLED = -9


@pytest.fixture(scope="module")
def crashed(nursery, tmp_path_factory):
    """Return the folder of a run that was killed after six games of its second iteration, all of them in the log."""
    root = tmp_path_factory.mktemp("crashed")
    assert nursery.ask("live", root, fail="iteration.after:1")["code"] == KILLED
    assert nursery.ask("live", root, fail="game.after:6")["code"] == KILLED
    return root


def changed(log, how, rng):
    data = log.read_bytes()
    if how == "gone":
        log.unlink()
    elif how == "cut":
        log.write_bytes(data[: rng.randrange(32, len(data))])
    elif how == "empty":
        log.write_bytes(b"")
    else:
        place = rng.randrange(32, len(data))
        log.write_bytes(data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1 :])


@pytest.mark.parametrize("how, times", [("gone", 1), ("empty", 1), ("cut", 3), ("a bit", 3)])
def test_what_is_lost_with_the_log_is_noticed_and_made_again_the_same(nursery, finished, crashed, tmp_path, how, times):
    rng, noticed = random.Random(how), 0
    for number in range(times):
        root = shutil.copytree(crashed, tmp_path / str(number))
        folder = runs_of(GAME, root)[-1]
        assert (folder / "run.db-wal").stat().st_size > 32, "the games are in the log"
        changed(folder / "run.db-wal", how, rng)
        (folder / "run.db-shm").unlink()  # it does not outlive a loss of power
        looked_at = shutil.copytree(folder, tmp_path / "look" / str(number))
        with closing(Store(looked_at / "run.db")) as store:
            lost = store.lost
        noticed += bool(lost)
        assert nursery.finish(root) == finished[1], (number, lost)
    assert noticed == times, "SQLite says nothing of what it dropped"


def test_a_changed_bit_anywhere_in_the_database_is_found_or_changes_nothing(finished, tmp_path):
    folder, state = finished
    data, rng, found = (folder / "run.db").read_bytes(), random.Random(0), 0
    copy = shutil.copytree(folder, tmp_path / GAME / folder.name)
    assert verify(copy).damage == []
    used = [place for place in range(len(data)) if data[place]]
    for _ in range(150):
        place = rng.choice(used)
        for extra in copy.glob("run.db-*"):
            extra.unlink()
        (copy / "run.db").write_bytes(data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1 :])
        report = verify(copy)
        found += bool(report.damage)
        assert report.damage or report.state == state, place
    assert found >= 100


def test_a_model_without_its_row_is_made_anew(nursery, finished, tmp_path):
    assert nursery.ask("live", tmp_path, fail="model.before_row:3")["code"] == KILLED
    folder = runs_of(GAME, tmp_path)[-1]
    newest = sorted((folder / "models").glob("version*"))[-1]
    with closing(Store(folder / "run.db", read_only=True)) as store:
        assert newest.name == "version0002.npz" and len(store.versions()) == 2
    newest.write_bytes(b"another one")
    assert nursery.finish(tmp_path) == finished[1]


def test_in_sixty_kills_while_networks_are_saved_no_known_one_is_lost_or_half_written(nursery, tmp_path):
    (tmp_path / "models").mkdir()
    Store(tmp_path / "run.db", create=True).close()
    codes = nursery.ask("saves", tmp_path, count=60, seed=2)["codes"]
    assert codes == [KILLED] * 60
    acknowledged = {int(line) for line in (tmp_path / "log").read_text().split()}
    store = Store(tmp_path / "run.db")
    versions = store.versions()
    store.close()
    assert store.lost == {} and len(acknowledged) >= 60
    assert [v.version for v in versions] == list(range(len(versions))) and acknowledged <= {v.version for v in versions}
    for v in versions:
        for name, digest in ((v.file, v.sha256), (f"optimizer{v.version:04}.npz", v.optimizer)):
            assert sha256((tmp_path / "models" / name).read_bytes()) == digest, name
    halves = [name for name in os.listdir(tmp_path / "models") if name.endswith(".tmp")]
    assert len(halves) <= 60, "what a kill leaves is under another name, and is swept when the run is gone on with"


@pytest.mark.parametrize(
    "names", [("version0000.npz",), ("optimizer0000.npz",), ("version0000.npz", "optimizer0000.npz")]
)
@pytest.mark.parametrize("how", ["gone", "a bit"])
def test_the_first_network_is_made_again_from_the_seed_and_is_the_same(nursery, finished, tmp_path, names, how):
    assert nursery.ask("live", tmp_path, fail="game.after:2")["code"] == KILLED
    folder = runs_of(GAME, tmp_path)[-1]
    whole = {name: (folder / "models" / name).read_bytes() for name in names}
    for name in names:
        changed(folder / "models" / name, how, random.Random(0))
    found = nursery.ask("command", tmp_path, fail="self-play.after:1")
    assert found["code"] == KILLED and f"{' and '.join(names)}: not what the run wrote; made again" in found["said"]
    assert {name: (folder / "models" / name).read_bytes() for name in names} == whole
    assert nursery.finish(tmp_path) == finished[1]


def test_a_first_network_that_does_not_follow_from_the_seed_is_not_replaced(nursery, tmp_path):
    assert nursery.ask("live", tmp_path, fail="game.after:2")["code"] == KILLED
    store = Store(runs_of(GAME, tmp_path)[-1] / "run.db")
    (row,) = store.rows("versions")
    with store.transaction():  # as if it had come from another run
        store.insert("versions", [(*row[:3], "0" * 64, *row[4:])], "INSERT OR REPLACE")
    store.close()
    found = nursery.ask("command", tmp_path)
    assert found["code"] == 4 and "version0000.npz" in found["said"] and "recover" in found["said"]


def test_a_file_named_by_the_database_lies_in_the_run_whatever_its_name(tmp_path):
    for name in ("precious.npz", "../../precious.npz", "/etc/precious.npz", "a/../precious.npz"):
        assert path_of(tmp_path, name) == tmp_path / "models" / "precious.npz"
