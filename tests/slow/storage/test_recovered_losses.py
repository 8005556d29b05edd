"""What a run lost before it was recovered does not stop it: it opens, continues, and later loss is still noticed."""

import json
import sqlite3
from contextlib import closing

import pytest

from config import with_overrides
from initialise import Session
from main import train
from network.stored_network import BEGAN
from storage.consistency import LOST, accepted_losses
from storage.recover import _backends, recover
from storage.run_folders import find_run, read_config
from storage.run_store import Store
from storage.verify import verify
from support.run_states import assert_same_run, copied
from support.tiny_runs import QUIET
from training import scoreboard, stages

GAME = "UPDATE games SET result = 0.25 WHERE iteration = {} AND idx = 5"
MATCH = "UPDATE matches SET score = 0.25 WHERE iteration = {} AND idx = 1"


def damage(folder, *changes):
    with closing(sqlite3.connect(folder / "run.db")) as db, db:
        for change in changes:
            db.execute(change)


def recovered(folder):
    found = recover(folder)
    new = folder.with_name(found.run)
    assert verify(new).damage == []
    return found, new


def stopped_before(monkeypatch, folder, module, stage):
    """Train until a stage of the next iteration is due."""

    class Enough(Exception):
        pass

    def stop(*_):
        raise Enough

    with monkeypatch.context() as patch, Session.open(folder, console=QUIET) as session:
        patch.setattr(module, stage, stop)
        with pytest.raises(Enough):
            train(session)
    return folder


def rows(folder, query):
    with closing(sqlite3.connect(folder / "run.db")) as db:
        return db.execute(query).fetchall()


def test_a_run_that_lost_games_and_matches_of_finished_iterations_opens_and_continues(root, quick):
    folder = find_run("tictactoe", root=root)
    damage(folder, GAME.format(1), MATCH.format(2))
    found, new = recovered(folder)
    assert "1 games of iteration 1 stay lost: what they taught is in the networks" in found.lost
    assert "1 match games of iteration 2 stay lost: their tournament is decided" in found.lost
    more = with_overrides(read_config(new), iterations=5)
    with Session.open(new, more, console=QUIET) as session:
        assert len(train(session)) == 1
    assert verify(new).damage == [] and verify(new).games == 119


def test_what_is_lost_later_is_noticed_and_named_alone(root):
    folder = find_run("tictactoe", root=root)
    damage(folder, GAME.format(1), MATCH.format(2))
    _, new = recovered(folder)
    damage(new, "DELETE FROM games WHERE iteration = 1 AND idx = 6", GAME.format(3))
    wrong = verify(new).damage
    assert any("iteration 1: 24 games in self-play, 22 are there" in line for line in wrong)
    assert not any("tournament" in line for line in wrong)
    found, newest = recovered(new)
    stay = [line for line in found.lost if "stay lost" in line]
    assert [line.split(" stay")[0] for line in stay] == ["2 games of iteration 1", "1 games of iteration 3"]
    with closing(Store(newest / "run.db", read_only=True)) as store:
        said = {"1": {"games": 2}, "2": {"matches": 1}, "3": {"games": 1}}
        assert json.loads(store.get(LOST)) == said


@pytest.mark.parametrize("text", ["[]", "{", "7", '{"x": {"games": 1}}', '{"1": {"games": "1"}}', '{"1": [2]}'])
def test_a_note_of_losses_that_means_nothing_accepts_none(text):
    assert accepted_losses({LOST: text}) == {}


def test_a_tournament_in_progress_plays_its_lost_games_again_and_ends_the_same(trained, begun, tmp_path, quick,
                                                                               monkeypatch):  # fmt: skip
    folder = stopped_before(monkeypatch, copied(begun, tmp_path), scoreboard, "score")
    assert ("tournament",) in rows(folder, "SELECT stage FROM stages WHERE iteration = 2")
    damage(folder, MATCH.format(2))
    found, new = recovered(folder)
    assert "1 match games of iteration 2 are played again" in found.lost
    with Session.open(new, console=QUIET) as session:
        assert "tournament" not in session.store.finished(2)
        train(session)
    assert verify(new).damage == []
    assert_same_run(trained, new)


def test_games_are_played_again_until_a_network_has_learned_from_them(trained, begun, tmp_path, quick, monkeypatch):
    folder = stopped_before(monkeypatch, copied(begun, tmp_path), stages, "retrain")
    damage(folder, GAME.format(2))
    found, new = recovered(folder)
    assert "1 games of iteration 2 are played again" in found.lost
    with Session.open(new, console=QUIET) as session:
        train(session)
    assert_same_run(trained, new)


def test_games_that_the_newest_network_learned_from_are_not_played_again_by_it(begun, tmp_path, quick, monkeypatch):
    folder = stopped_before(monkeypatch, copied(begun, tmp_path), stages, "play_tournament")
    assert rows(folder, "SELECT DISTINCT version FROM games WHERE iteration = 2") == [(1,)]
    damage(folder, GAME.format(2))
    found, new = recovered(folder)
    assert "1 games of iteration 2 stay lost: what they taught is in the networks" in found.lost
    with Session.open(new, console=QUIET) as session:
        assert (session.iteration, session.current_version) == (2, 2)
        train(session, iterations=2)
    assert rows(new, "SELECT version, COUNT(*) FROM games WHERE iteration = 2 GROUP BY 1") == [(1, 23)]
    assert rows(new, "SELECT version, COUNT(*) FROM games WHERE iteration = 3 GROUP BY 1") == [(2, 24)]
    assert verify(new).damage == []


@pytest.mark.parametrize("noted", [True, False], ids=["it says how it began", "it does not"])
def test_a_run_without_its_first_network_is_trained_and_keeps_what_made_it(root, quick, noted):
    folder = find_run("tictactoe", root=root)
    with closing(Store(folder / "run.db")) as store, store.transaction("test"):
        store.put("processors", '["one", "other"]')
        backend = store.get("backend")
        if not noted:
            store._db.execute("DELETE FROM meta WHERE key = ?", (BEGAN,))
    (folder / "models" / "version0000.npz").write_bytes(b"damaged")
    _, new = recovered(folder)
    more = with_overrides(read_config(new), iterations=5)
    for _ in range(2):
        with Session.open(new, more, console=QUIET) as session:
            assert [v.version for v in session.store.versions()][0] == 1
            train(session, iterations=1)
            kept = [session.store.get(key) for key in ("backend", "processors", BEGAN)]
    assert kept == [backend, '["one", "other"]', "random" if noted else "given"] and backend
    assert verify(new).damage == []


def test_a_back_end_that_began_after_the_newest_version_is_forgotten():
    history = "tensorflow, jax from version 4, torch from version 6"
    assert _backends(history, 5) == "tensorflow, jax from version 4"
    assert (_backends(history, 6), _backends("torch", 1), _backends("torch", 0)) == (history, "torch", "")
