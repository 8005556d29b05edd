"""A run on boards of several sizes: played, trained on, interrupted, continued with larger ones, checked, exported."""

import json
import shutil
import threading

import numpy as np
import pytest

import games
from config import UserError, with_overrides
from initialise import Session
from main import train
from storage.game_exchange import export_games, games_from_bytes
from storage.game_record import IMPORTED
from storage.recover import recover
from storage.run_store import Store
from storage.verify import verify
from support.tiny_runs import QUIET, tiny
from training import size_plan
from training.import_games import import_games

GAME = "gomoku(n=3,size=3..5)"


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(size_plan, "PART", 6)


def settings(**changes):
    own = {"game": GAME, "many_sizes": True, "episodes": 12, "iterations": 3, "score_games": 0, "min_memory": 10}
    return tiny(**{**own, **changes})


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Return (folder of a finished run, its report); nobody may change it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(size_plan, "PART", 6)
        with Session.start(settings(), root=tmp_path_factory.mktemp("sizes"), console=QUIET) as session:
            lines = train(session)
            folder = session.folder
    assert [line["version"] for line in lines] == [1, 2, 3]
    return folder, verify(folder)


def boards(folder):
    """Return {(iteration, index): name of the game} of a run's games."""
    store = Store(folder / "run.db", read_only=True)
    found = {(iteration, record.index): record.board for iteration, record in store.games(1 << 60)}
    store.close()
    return found


def test_games_keep_their_size_and_all_are_by_the_rules(finished):
    folder, report = finished
    assert report.damage == [] and report.games == 36 and report.matches > 0
    assert folder.parent.name == "gomoku-n-3-size-many"
    found = boards(folder)
    assert set(found.values()) == {"gomoku(n=3,size=3)", "gomoku(n=3,size=4)", "gomoku(n=3,size=5)"}
    store = Store(folder / "run.db", read_only=True)
    for iteration, record in store.games(1 << 60):
        assert record.visits.shape[1] == games.make(found[iteration, record.index]).action_size
    store.close()


def test_a_run_that_was_interrupted_is_the_same(finished, tmp_path):
    with Session.start(settings(), root=tmp_path, console=QUIET) as session:
        asked = iter([False] * 12)
        train(session, stop=lambda: next(asked, True))
        folder = session.folder
        assert session.iteration < 3
    for _ in range(2):
        with Session.open(folder, console=QUIET) as session:
            train(session, iterations=2)
    assert verify(folder).state == finished[1].state


def test_a_run_goes_on_with_other_sizes_and_keeps_what_it_learned(finished, tmp_path):
    with Session.start(settings(iterations=1), root=tmp_path, console=QUIET) as session:
        train(session)
        weights, folder = session.model.get_weights(), session.folder
    larger = with_overrides(settings(iterations=3), game="gomoku(n=3,size=4..6)")
    with Session.open(folder, larger, console=QUIET) as session:
        assert session.game.spec == "gomoku(n=3,size=4..6)" and session.model.game.grid_shape == (6, 6)
        assert all(map(np.array_equal, session.model.get_weights(), weights))
        held = set(session.memory.ltmemory.size[: len(session.memory)].tolist())
        assert held <= {0, 1} and 2 not in held, "3x3 is no longer learned, 6x6 not yet played"
        train(session)
    report = verify(folder)
    assert report.damage == [] and report.iterations == 3
    later = {name for (iteration, _), name in boards(folder).items() if iteration > 1}
    assert "gomoku(n=3,size=3)" not in later and "gomoku(n=3,size=6)" in later
    new = recover(folder)
    assert new.lost == [] and new.games == report.games
    assert verify(folder.with_name(new.run)).state == report.state


def test_a_run_with_other_sizes_remembers_the_same_games_when_it_is_opened_again(finished, tmp_path):
    folder = tmp_path / finished[0].parent.name / finished[0].name
    shutil.copytree(finished[0], folder)
    store = Store(folder / "run.db", read_only=True)
    played = [store.trained_positions(i) for i in (1, 2, 3)]
    store.close()
    larger = with_overrides(settings(iterations=4, memory_size=sum(played)), game="gomoku(n=3,size=5..6)")
    with Session.open(folder, larger, console=QUIET) as session:
        train(session)
        held = [column[: len(session.memory)].copy() for column in session.memory.ltmemory]
        assert len(session.memory) < session.config.memory_size < session.store.positions_until(4)
    with Session.open(folder, larger, console=QUIET) as session:
        assert len(session.memory) == len(held[0])
        assert all(map(np.array_equal, held, (c[: len(session.memory)] for c in session.memory.ltmemory)))


def test_sizes_that_change_within_an_iteration_count_from_the_next_one_on(tmp_path):
    with Session.start(settings(), root=tmp_path, console=QUIET) as session:
        asked = iter([False] * 8)
        train(session, stop=lambda: next(asked, True))
        folder = session.folder
        assert session.iteration == 1 and session.store.sizes_in(1) is not None
    larger = with_overrides(settings(), game="gomoku(n=3,size=3..6)")
    with Session.open(folder, larger, console=QUIET) as session:
        assert session.game.spec == GAME
        train(session, iterations=1)
        assert session.game.spec == larger.game and session.memory.game is session.game
        train(session, iterations=1)
    assert verify(folder).damage == []
    assert json.loads(Store(folder / "run.db", read_only=True).sizes_in(2))["match"] == "gomoku(n=3,size=6)"


@pytest.mark.parametrize("game", ["gomoku(n=3,size=5)", "gomoku(n=4,size=4..5)", "gomoku(n=3,rule=exact,size=3..5)"])
def test_a_run_does_not_go_on_with_another_game(finished, game):
    with pytest.raises(UserError):
        Session.open(finished[0], with_overrides(settings(), game=game), console=QUIET)


def test_all_games_of_a_range_are_exported_and_one_board_only_where_it_is_named(finished, tmp_path):
    theirs = [*boards(finished[0]).values()]
    for spec in (GAME, "gomoku(n=3,size=4)"):
        file, game = tmp_path / "games.npz", games.make(spec)
        count = export_games(finished[0], game, file)
        about, records = games_from_bytes(file.read_bytes(), game)
        found = [record.board or spec for record in records]
        assert len(found) == count and about["game"] == spec and "left_out" not in about
        assert found == (theirs if game.sizes else [spec] * theirs.count(spec)) != []
        file.unlink()


@pytest.mark.parametrize("spec", [GAME, "gomoku(n=3,size=4..6)", "gomoku(n=3,size=4)"])
def test_games_of_a_range_are_learned_by_a_run_of_the_same_of_a_neighbour_and_of_one_size(spec, finished, tmp_path):
    file, game = tmp_path / "games.npz", games.make(spec)
    export_games(finished[0], games.make(GAME), file)
    theirs = boards(finished[0]).values()
    mine = [each for each in theirs if each in [size.spec for size in game.sizes or (game,)]]
    config = settings(game=spec, iterations=1, memory_size=10_000, many_sizes=bool(game.sizes))
    with Session.start(config, root=tmp_path, console=QUIET) as session:
        found = import_games(session, file.read_bytes(), "games.npz")
        assert (found.taken + found.known, found.left_out) == (len(mine), len(theirs) - len(mine))
        assert found.refused == [] and found.taken > 0
        assert import_games(session, file.read_bytes(), "games.npz").taken == 0
        train(session)
        folder = session.folder
        assert len(session.memory) == session.store.positions_until(1), "what was imported is learned from"
    assert verify(folder).damage == []
    held = [board or spec for (_, index), board in boards(folder).items() if index >= IMPORTED]
    assert len(held) == found.taken and set(held) == set(mine)
    if game.sizes:
        store = Store(folder / "run.db")
        with store.transaction("test"):
            store.step_back(0)
        store.close()
        kept = [board for (_, index), board in boards(folder).items() if index >= IMPORTED]
        assert kept == held, "they stay, on their boards"


def imported_into(finished, tmp_path, **changes):
    """Return the folder of a run of two iterations into which the games of the finished one were imported."""
    file = tmp_path / "games.npz"
    export_games(finished[0], games.make(GAME), file)
    with Session.start(settings(seed=5, **changes), root=tmp_path, console=QUIET) as session:
        train(session, iterations=2)
        assert import_games(session, file.read_bytes(), "games.npz").taken
    return session.folder


def test_a_finished_run_goes_on_with_imported_games_where_its_limit_is_raised(finished, tmp_path):
    folder = imported_into(finished, tmp_path, iterations=2)
    with Session.open(folder, settings(seed=5, iterations=3), console=QUIET) as session:
        assert session.is_unfinished() and [line["iteration"] for line in train(session)] == [3]
        assert not session.is_unfinished()
    assert verify(folder).damage == []


def test_imported_games_stay_on_their_boards_where_a_version_is_damaged(finished, tmp_path):
    folder = imported_into(finished, tmp_path)
    assert verify(folder).damage == []
    file = folder / "models" / "version0002.npz"
    file.write_bytes(file.read_bytes()[:-40])
    found = recover(folder)
    assert not [line for line in found.lost if "cannot be read" in line], found.lost
    held = [board for (_, index), board in boards(folder.with_name(found.run)).items() if index >= IMPORTED]
    assert held == [board for (_, index), board in boards(folder).items() if index >= IMPORTED]
    assert verify(folder.with_name(found.run)).damage == []
    with Session.open(folder.with_name(found.run), console=QUIET) as session:
        assert [line["version"] for line in train(session)] == [2, 3]


def test_with_lag_nothing_reads_the_network_once_it_is_trained(tmp_path, monkeypatch):
    """JAX gives its buffers away with each step, so that whoever reads them then has an error."""
    config, reads = settings(lag=1, iterations=3, eval_every=1000, score_every=0), []
    with Session.start(config, root=tmp_path, console=QUIET) as session:
        train(session, iterations=2)
        kind = type(session.model)
        read = kind.get_weights

    def noted(model):
        learns = any(thread.name == "learner" for thread in threading.enumerate())
        reads.append(learns and threading.current_thread().name != "learner")
        return read(model)

    monkeypatch.setattr(kind, "get_weights", noted)
    with Session.open(session.folder, console=QUIET) as session:
        train(session)
    assert reads and not any(reads)


def test_games_of_one_size_are_learned_by_a_range_whose_largest_size_is_another(finished, tmp_path):
    file, spec = tmp_path / "games.npz", "gomoku(n=3,size=4)"
    count = export_games(finished[0], games.make(spec), file)
    with Session.start(settings(iterations=1), root=tmp_path, console=QUIET) as session:
        assert import_games(session, file.read_bytes(), "games.npz").taken == count > 0
        train(session)
        folder = session.folder
    assert verify(folder).damage == []
    assert [board for (_, index), board in boards(folder).items() if index >= IMPORTED] == [spec] * count


@pytest.mark.parametrize("spec", ["gomoku(n=4,size=4..5)", "gomoku(n=3,rule=exact,size=3..5)", "gomoku(n=4,size=4)"])
def test_games_of_a_range_with_other_rules_are_refused(spec, finished, tmp_path):
    file = tmp_path / "games.npz"
    export_games(finished[0], games.make(GAME), file)
    with pytest.raises(UserError, match="expected games of"):
        games_from_bytes(file.read_bytes(), games.make(spec))


def test_a_run_begins_with_the_network_and_the_games_of_another_range(finished, tmp_path, caplog):
    begin = {"INITIAL_RUN_NUMBER": 1, "INITIAL_MODEL_VERSION": 3, "INITIAL_MEMORY_VERSION": 3}
    root = finished[0].parent.parent
    larger = with_overrides(settings(iterations=1), game="gomoku(n=3,size=4..6)")
    with Session.start(larger, root=root, console=QUIET, **begin) as session:
        assert session.store.count_games() > 0 and len(session.memory) == session.store.positions_until(0)
        folder = session.folder
    assert verify(folder).damage == []
    theirs = [*boards(finished[0]).values()]
    mine = [board for board in theirs if board != "gomoku(n=3,size=3)"]
    assert list(boards(folder).values()) == mine
    left = f"{len(theirs) - len(mine)} of 36 games of run0001 are left out: gomoku(n=3,size=4..6) has no such boards"
    assert [r.getMessage() for r in caplog.records if r.name == "alphazero.warm_start"] == [left]


def test_older_games_on_the_boards_of_a_run_are_found_behind_newer_ones_on_others(tmp_path):
    small = settings(iterations=2, memory_size=60)
    with Session.start(small, root=tmp_path, console=QUIET) as session:
        train(session)
        folder = session.folder
    larger = with_overrides(small, game="gomoku(n=3,size=6..7)", iterations=5)
    with Session.open(folder, larger, console=QUIET) as session:
        train(session)
    theirs = boards(folder)
    begin = {"INITIAL_RUN_NUMBER": 1, "INITIAL_MEMORY_VERSION": 5}
    with Session.start(small, root=tmp_path, console=QUIET, **begin) as session:
        mine, held = boards(session.folder), len(session.memory)
    assert held == 60 and set(mine.values()) <= set(theirs.values()) - {"gomoku(n=3,size=6)", "gomoku(n=3,size=7)"}


def test_games_of_boards_that_a_run_does_not_play_are_refused_before_it_begins(finished):
    root = finished[0].parent.parent
    before = sorted(root.rglob("*"))
    other = with_overrides(settings(iterations=1), game="gomoku(n=3,size=6..7)")
    words = (
        r"games on boards of gomoku\(n=3,size=6..7\), "
        r"run0001 has those of gomoku\(n=3,size=3\), gomoku\(n=3,size=4\)"
    )
    with pytest.raises(UserError, match=words):
        Session.start(other, root=root, console=QUIET, INITIAL_RUN_NUMBER=1, INITIAL_MEMORY_VERSION=3)
    assert sorted(root.rglob("*")) == before


def test_worker_processes_play_the_same_games(finished, tmp_path):
    with Session.start(settings(workers=2, iterations=1), root=tmp_path, console=QUIET) as session:
        train(session)
        folder = session.folder
    mine, theirs = (Store(place / "run.db", read_only=True) for place in (folder, finished[0]))
    for one, other in zip(mine.games_of(1), theirs.games_of(1), strict=True):
        assert one.board == other.board and (one.moves == other.moves).all() and (one.visits == other.visits).all()


@pytest.mark.parametrize("on_device", [False, True])
def test_a_device_keeps_the_networks_that_it_compiled_for_each_board(tmp_path, monkeypatch, on_device):
    """On cores one is kept, as it takes memory and is soon made again; a GPU compiles each for seconds."""
    made = []

    class Answers:
        def __init__(self):
            self.on_device, self.weights = on_device, []

        def load(self, weights):
            self.weights = [*self.weights, weights]

    def make(*_, **__):
        made.append(Answers())
        return made[-1]

    monkeypatch.setattr("network.choose_predictor.make_predictor", make)
    with Session.start(settings(), root=tmp_path, console=QUIET) as session:
        small, large = games.make(GAME).sizes[0], games.make(GAME).sizes[-1]
        found = [session.predictor("selfplay", 0, board) for board in (small, large, small, small)]
        assert found[0] is not found[1] and found[2] is found[3] and len(found[2].weights) == 1
        assert (found[0] is found[2]) == on_device and len(made) == (2 if on_device else 3)


def test_hex_with_the_swap_begins_with_a_network_without(tmp_path):
    """All answers are as before but for the swap's, which begins at random."""
    without, swap = "hex(size=3..4)", "hex(size=3..4,swap=yes)"
    with Session.start(settings(game=without), root=tmp_path, console=QUIET) as session:
        train(session, iterations=1)
        source = session.folder
        board = games.make("hex(size=4)")
        state = board.start().takeAction(5)[0].takeAction(6)[0]
        value, logits = (a.copy() for a in session.predictor("selfplay", 1, board)(state.planes()[None]))
    begin = {"INITIAL_RUN_NUMBER": 1, "INITIAL_MODEL_VERSION": 1, "INITIAL_GAME": without}
    with Session.start(settings(game=swap), root=tmp_path, console=QUIET, **begin) as session:
        board = games.make("hex(size=4,swap=yes)")
        state = board.start().takeAction(5)[0].takeAction(6)[0]
        found = session.predictor("selfplay", 0, board)(state.planes()[None])
        assert found[1].shape == (1, 17)
        np.testing.assert_allclose(found[0], value, atol=1e-5)
        np.testing.assert_allclose(found[1][:, :16], logits, atol=1e-4)
        assert train(session, iterations=1)[0]["version"] == 1
    assert verify(source).damage == []
