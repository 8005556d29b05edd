"""Games of others are taken into a run once, and learned from; what is wrong is refused and the run left as it was."""

import json
import os
import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from initialise import Session
from interface.cli import run
from storage.game_exchange import content_of, games_to_bytes
from storage.game_record import IMPORTED
from storage.run_folders import find_run
from storage.run_store import Store
from support.exchanged_games import ABOUT, equal, file, records_of, remade
from support.run_states import content
from support.search_cases import GAMES
from support.systems import needs_posix
from support.tiny_runs import QUIET, tiny, tree_of
from training import stages
from training.import_games import import_games


def imported(folder):
    return [row for row in content(folder, last=99)["games"] if row[1] >= IMPORTED]


def test_games_are_taken_once_with_their_origin_and_learned_from_next(root, quick):
    folder = find_run("tictactoe", root=root)
    with Session.open(folder, console=QUIET) as session:
        found = import_games(session, file(), "x")
        assert (found.taken, found.known, found.refused, found.iteration) == (12, 0, [], 5)
        again = import_games(session, file(), "x")
        assert (again.taken, again.known) == (0, 12)
        (origin,) = json.loads(session.store.get("imports"))
        assert origin["run"] == "tictactoe/0" and origin["games"] == 12
        loaded = list(session.store.games_of(5))
        newest = session.store.newest_game()
        assert newest[0] == 4 and newest[1].index < IMPORTED, "of self-play, whatever came later"
    assert len(imported(folder)) == 12
    theirs = sorted(records_of("tictactoe"), key=content_of)
    assert all(map(equal, sorted(loaded, key=content_of), theirs))
    with Session.open(folder, tiny(iterations=5), console=QUIET) as session:
        stages.play_self(session)
        facts = session.store.finished(5)["self-play"]
        trained = sum(int(r.visits.any(axis=1).sum()) for r in records_of("tictactoe"))
        assert facts["imported"] == 12 and facts["games"] == 24
        own = [row for row in content(folder, last=5)["games"] if row[0] == 5 and row[1] < IMPORTED]
        assert facts["new_positions"] == trained + sum(row[7] for row in own)


def test_wrong_games_are_left_out_and_named_and_the_others_taken(root):
    records = list(records_of("tictactoe"))
    records[3] = records[3]._replace(result=0.5)
    records[8] = records[8]._replace(index=3)
    data = games_to_bytes(GAMES["tictactoe"], ABOUT, [(1, r) for r in [*records, records[0]]])
    with Session.open(find_run("tictactoe", root=root), console=QUIET) as session:
        found = import_games(session, data, "x")
    assert (found.taken, found.known) == (11, 1) and len(found.refused) == 1
    assert found.refused[0].startswith("game 4 has the result 0.5, by the rules")


def test_an_import_that_fails_half_way_leaves_the_run_as_it_was(root, monkeypatch):
    folder = find_run("tictactoe", root=root)
    put = Store.put

    def fails(self, key, value):
        if key == "imports":
            raise RuntimeError("power cut")
        put(self, key, value)

    monkeypatch.setattr(Store, "put", fails)
    with Session.open(folder, console=QUIET) as session, pytest.raises(RuntimeError):
        import_games(session, file(), "x")
    monkeypatch.undo()
    assert imported(folder) == []
    with Session.open(folder, console=QUIET) as session:
        assert import_games(session, file(), "x").taken == 12


def test_games_go_from_run_to_run_by_the_commands(trained_place, tmp_path, capsys, quick):
    source, path = find_run("tictactoe", root=trained_place), tmp_path / "games.npz"
    with Session.start(tiny(seed=9), root=trained_place, console=QUIET) as session:
        target = session.folder
    assert run(["export-games", str(path), "--game", "tictactoe", "--run", "1", "--games", "50", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["games"] == 50
    assert run(["import-games", str(path), "--game", "tictactoe", "--run", "2"]) == 0
    told = capsys.readouterr().out
    theirs = {row[4:7] for row in content(source, last=99)["games"][-50:]}
    assert {row[4:7] for row in imported(target)} == theirs
    assert told.startswith(f"{len(theirs)} games taken into run0002, to be learned from in iteration 1; ")
    assert run(["import-games", str(path), "--game", "tictactoe", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["known"] == 50
    assert run(["import-games", str(path), "--game", "tictactoe", "--run", "1"]) == 0
    assert "run0001 is finished: `python main.py --game 'tictactoe' --run 1` with more" in capsys.readouterr().out
    assert imported(source) == []


@needs_posix
def test_commands_refuse_in_a_line_what_is_no_file_or_no_run(trained_place, tmp_path, capsys):
    good, fifo, bad = tmp_path / "g.npz", tmp_path / "f.npz", tmp_path / "b.npz"
    good.write_bytes(file())
    os.mkfifo(fifo)
    bad.write_bytes(remade({"result": -np.array([r.result for r in records_of("tictactoe")], np.float32) + 0.125}))
    before = tree_of(trained_place)
    game = ["--game", "tictactoe"]
    database = find_run("tictactoe", root=trained_place) / "run.db"
    shutil.copy(database, tmp_path / "stranger.db")
    for line in (["import-games", str(fifo), *game], ["import-games", "/dev/zero", *game],
                 ["import-games", "x\0y", *game],
                 ["import-games", str(tmp_path), *game], ["import-games", str(tmp_path / "stranger.db"), *game],
                 ["import-games", str(good), "--game", "connect4"], ["import-games", str(good), *game, "--run", "7"],
                 ["export-games", str(good), *game], ["export-games", "x.db", *game],
                 ["export-games", "no/x.npz", *game],
                 ["export-games", str(tmp_path / "n.npz"), *game, "--games", "-1"], ["import-games", *game],
                 ["export-games", str(fifo), "--overwrite", *game]):  # fmt: skip
        assert run(line) == 2, line
        told = capsys.readouterr().err
        assert told.startswith("error: ") and told.count("\n") == 1 and "Traceback" not in told
    with Session.open(find_run("tictactoe", root=trained_place), console=QUIET):
        assert run(["import-games", str(good), *game]) == 3
    assert run(["import-games", str(bad), *game]) == 4
    assert "0 games taken" in capsys.readouterr().out
    after = tree_of(trained_place)
    assert {k for k in after if not k.endswith((".log", "lock"))} == {
        k for k in before if not k.endswith((".log", "lock"))
    }
    with closing(sqlite3.connect(database)) as db:
        assert db.execute("SELECT COUNT(*) FROM games WHERE idx >= ?", (IMPORTED,)).fetchone() == (0,)
