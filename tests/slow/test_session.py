"""A run on disk: what it leaves, and that stopped anywhere and gone on with it is the same run."""

import shutil

import numpy as np
import pytest

from config import with_overrides
from initialise import Session
from loggers import Console, read_metrics
from main import train
from network.predictor import cores
from storage import checkpoints
from storage.atomic_files import DamagedData
from storage.run_folders import read_config
from storage.run_store import Store
from support.run_states import Listening, assert_same_run, content, copied, start
from support.tiny_runs import QUIET, tiny, tree_of
from training import stages

pytestmark = pytest.mark.keras

# ---- a run


def test_a_run_leaves_settings_games_versions_logs_and_a_line_for_each_iteration(trained):
    assert trained.parts[-2:] == ("tictactoe", "run0001") and read_config(trained) == tiny()
    found = content(trained)
    assert [(row[0], row[1]) for row in found["games"]] == [(i, j) for i in (1, 2, 3, 4) for j in range(24)]
    versions = [row[0] for row in found["versions"]]
    assert versions == list(range(len(versions))) and len(versions) >= 4
    files = {p.name for p in (trained / "models").iterdir()}
    assert files == {f"version{v:04}.npz" for v in versions} | {
        f"optimizer{v:04}.npz" for v in versions[-2:]
    }
    logs = {p.name: p.read_text() for p in (trained / "logs").iterdir()}
    assert set(logs) == {"logger_main.log", "logger_memory.log", "logger_tourney.log", "logger_model.log"}
    assert all(logs.values())
    lines = read_metrics(trained / "metrics.jsonl")
    assert [line["iteration"] for line in lines] == [1, 2, 3, 4]
    for line in lines:
        games = [row for row in found["games"] if row[0] == line["iteration"]]
        assert line["self_play_games"] == 24 and 5 <= line["self_play_plies"] <= 9
        assert line["self_play_first_wins"] == pytest.approx(np.mean([row[3] > 0 for row in games]), abs=1e-5)
        assert line["self_play_new_positions"] == sum(row[7] for row in games)
        assert 0 < line["self_play_cache_hit_rate"] < 1 and line["seconds"] > 0
    assert lines[-1]["version"] == versions[-1] and np.isfinite(lines[-1]["retrain_loss"])
    assert [line["tournament_played"] > 0 for line in lines] == [False, True, False, True]
    played = sum(line["tournament_played"] for line in lines)
    assert len(found["matches"]) == played


def test_while_there_are_too_few_positions_a_run_says_how_many_it_waits_for(place, capsys):
    with Session.start(tiny(min_memory=140, iterations=2, training_loops=0), console=Console()) as session:
        first, second = train(session)
        folder, c, played = session.folder, session.config, session.store.positions_until(2)
    told = capsys.readouterr().out.splitlines()
    assert first["self_play_memory"] < 140 and "retrain_loss" not in first and "retrain_loss" in second
    assert second["retrain_steps"] == round(played * c.reuse / c.batch_size), "the first one's count as well"
    assert told.count("  no training yet: it learns from 140 positions on") == 1
    logged = (folder / "logs" / "logger_main.log").read_text(encoding="utf-8")
    assert f"; {first['self_play_memory']} positions of the 140 from which on it learns; " in logged
    assert " positions; version 1: loss " in logged


@pytest.mark.parametrize(("every", "measured"), [(0.0, [1e6, 2e6, 3e6]), (1e9, [1e6] * 3)])
def test_the_share_is_of_what_the_network_alone_answers_at_the_time(every, measured, place, quick, monkeypatch):
    rates = iter(range(10**6, 9 * 10**6, 10**6))  # more than any machine plays: a share above 1 is not shown
    monkeypatch.setattr(stages, "measure_raw", lambda *_, **__: float(next(rates)))
    monkeypatch.setattr(stages, "RAW_EVERY", every)
    with Session.start(tiny(iterations=3), console=QUIET) as session:
        lines = train(session)
    raw = [line["self_play_evals_per_s"] / line["self_play_share"] for line in lines]
    assert raw == pytest.approx(measured, rel=0.1)


def test_a_share_above_what_is_possible_is_not_told(place, quick, monkeypatch):
    monkeypatch.setattr(stages, "measure_raw", lambda *_, **__: 1.0)
    with Session.start(tiny(iterations=1), console=QUIET) as session:
        (line,) = train(session)
    assert line["self_play_evals_per_s"] > 1 and "self_play_share" not in line


def test_files_of_a_run_are_for_their_owner_only(trained):
    for path in [trained / "models", *(trained / "models").iterdir(), trained / "config.json"]:
        assert path.stat().st_mode & 0o077 == 0, path


def test_training_changes_every_kernel_and_the_losses_are_of_this_size(trained):
    store = Store(trained / "run.db", read_only=True)
    first, *_, last = store.versions()
    store.close()
    arrays = [np.load(trained / "models" / row[2], allow_pickle=False) for row in (first, last)]
    changed = [not np.array_equal(arrays[0][name], arrays[1][name]) for name in arrays[0].files]
    assert np.mean(changed) > 0.9


# ---- stopped and gone on with


def test_two_iterations_then_two_more_give_the_run_that_four_in_one_go_give(trained, tmp_path):
    with start(tmp_path) as session:
        assert [line["iteration"] for line in train(session, iterations=2)] == [1, 2]
    listening = Listening()
    with Session.open(session.folder, console=listening) as again:
        assert again.iteration == 3 and again.is_unfinished()
        assert [line["iteration"] for line in train(again)] == [3, 4]
        assert not again.is_unfinished() and train(again) == []
    assert_same_run(trained, session.folder)
    assert tree_of(trained / "models") == tree_of(session.folder / "models")
    lines, others = (read_metrics(folder / "metrics.jsonl") for folder in (trained, session.folder))
    for line, other in zip(lines, others, strict=True):
        same = {
            k for k in line if "second" not in k and "per_s" not in k and "share" not in k and "fill" not in k
        }
        same -= {"self_play_cache_hit_rate"}
        assert {k: line[k] for k in same} == {k: other[k] for k in same}


@pytest.mark.parametrize("batches", [1, 10])
def test_self_play_stopped_in_any_batch_and_gone_on_with_gives_the_undisturbed_run(
    trained, begun, tmp_path, quick, batches, monkeypatch
):
    monkeypatch.setattr("training.worker_pool.PATIENCE", 0.0)  # else one core, which has all games in flight, ends them
    folder, seen = copied(begun, tmp_path), []
    with Session.open(folder, console=QUIET) as session:
        assert train(session, stop=lambda: seen.append(1) or len(seen) > batches * cores()) == []
        assert len(session.store.game_indices(2)) < 24
    assert_continued(folder, trained)


def test_self_play_stopped_when_a_game_has_ended_and_gone_on_with_gives_the_undisturbed_run(
    trained, begun, tmp_path, quick, monkeypatch
):
    monkeypatch.setattr("training.worker_pool.PATIENCE", 0.0)
    ended, games = [], stages._games_of_parts
    monkeypatch.setattr(stages, "_games_of_parts", lambda *of: (ended.append(r) or r for r in games(*of)))
    for attempt in range(20):
        folder = copied(begun, tmp_path / str(attempt))
        ended.clear()
        with Session.open(folder, console=QUIET) as session:
            assert train(session, stop=lambda: len(ended) > 0) == []
            kept = session.store.game_indices(2)
        if len(kept) < 24:
            break  # else the other threads ended theirs, as on a busy machine, before this one saw the first
    assert 0 < len(kept) < 24
    assert_continued(folder, trained)


def assert_continued(folder, trained):
    """The second iteration of a stopped run is trained to its end as it is in a run that nobody stopped."""
    with Session.open(folder, console=QUIET) as again:
        assert again.iteration == 2 and len(read_metrics(folder / "metrics.jsonl")) == 1
        train(again, iterations=2)
    assert_same_run(trained, folder, last=3)


class Stop(KeyboardInterrupt):
    """Ctrl-C at a place of our choice."""


def breaking(function, at):
    """Return a function that raises at its call number `at` and works at all others."""
    calls = []

    def wrapped(*args, **kwargs):
        calls.append(1)
        if len(calls) == at:
            raise Stop
        return function(*args, **kwargs)

    return wrapped


PLACES = {
    "in the fit": lambda s: (s.model.model, "train_on_batch", 3),
    "after the fit": lambda s: (s.model, "is_finite", 1),
    "while the network is saved": lambda s: (s, "save_version", 1),
    "before self-play is closed": lambda s: (s.store, "finish", 1),
    "before retraining is closed": lambda s: (s.store, "finish", 2),
    "before the tournament is closed": lambda s: (s.store, "finish", 3),
    "before the iteration is closed": lambda s: (s.store, "finish", 4),
}


@pytest.mark.parametrize("reopened", [True, False], ids=["reopened", "in one process"])
@pytest.mark.parametrize("place", PLACES)
def test_an_interruption_anywhere_changes_nothing_in_the_end(
    trained, begun, tmp_path, quick, monkeypatch, place, reopened
):
    folder = copied(begun, tmp_path)
    with Session.open(folder, console=QUIET) as session:
        target, name, at = PLACES[place](session)
        with monkeypatch.context() as patch, pytest.raises(Stop):
            patch.setattr(target, name, breaking(getattr(target, name), at))
            train(session)
        assert session.iteration == 2
        if not reopened:
            train(session, iterations=2)
    if reopened:
        with Session.open(folder, console=QUIET) as again:
            train(again, iterations=2)
    assert_same_run(trained, folder, last=3)


def test_a_copy_of_the_files_at_any_moment_is_a_run_that_goes_on(
    trained, begun, tmp_path, quick, monkeypatch
):
    """What a crash leaves is what is on the disk at that moment."""
    copies, keep = [], stages._keep

    def keep_and_copy(stage, records, version, evaluations):
        keep(stage, records[:7], version, evaluations)
        if not copies:
            copies.append(shutil.copytree(stage.session.folder, tmp_path / "crashed" / "tictactoe" / "run0001"))
        keep(stage, records[7:], version, evaluations)

    with monkeypatch.context() as patch, Session.open(copied(begun, tmp_path), console=QUIET) as session:
        patch.setattr(stages, "_keep", keep_and_copy)
        train(session, iterations=1)
    (crashed,) = copies
    (crashed / "models" / ".version0003.npz.77.tmp").write_bytes(b"half a file")
    (crashed / "models" / "version0009.npz").write_bytes(b"written, never recorded")
    with Session.open(crashed, console=QUIET) as again:
        assert again.iteration == 2 and len(again.store.game_indices(2)) == 7
        train(again, iterations=2)
        assert not list((crashed / "models").glob("*.tmp"))
    assert_same_run(trained, crashed, last=3)


def test_training_that_gives_no_numbers_leaves_the_last_version_in_place(begun, tmp_path, quick):
    with Session.open(copied(begun, tmp_path), console=QUIET) as session:
        before, version = session.model.get_weights(), session.current_version
        optimizer = session.model.get_optimizer()
        session.memory.ltmemory.result[:] = np.nan
        with pytest.raises(stages.Diverged, match="not finite"):
            train(session)
        assert session.current_version == version and session.iteration == 2
        now = session.model.get_weights() + session.model.get_optimizer()
        assert all(np.array_equal(a, b) for a, b in zip(before + optimizer, now, strict=True))
        assert not list((session.folder / "models").glob("version0002*"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"weight_average": 0.0}, {"weight_average": 0.9}),
        ({"weight_average": 0.9}, {"weight_average": 0.0}),
        ({"optimizer": "sgd", "momentum": 0.9}, {"momentum": 0}),
        ({"optimizer": "sgd", "momentum": 0}, {"momentum": 0.9}),
    ],
)
def test_what_the_optimizer_remembers_may_change_in_number_while_a_run_lives(before, after, tmp_path, quick):
    config = tiny(training_loops=2, learning_rate=0.01, **before)
    with Session.start(config, root=tmp_path, console=QUIET) as session:
        train(session, iterations=2)
        folder, weights = session.folder, session.model.get_weights()
    with Session.open(folder, with_overrides(config, **after), console=QUIET) as session:
        assert all(np.array_equal(a, b) for a, b in zip(weights, session.model.get_weights(), strict=True))
        train(session, iterations=1)
        assert session.current_version == 3
    with Session.open(folder, console=QUIET) as session:
        train(session, iterations=1)
        now = session.model.get_weights()
        assert session.current_version == 4 and any(not np.array_equal(a, b) for a, b in zip(weights, now, strict=True))


def test_an_optimizer_that_was_lost_begins_anew_and_the_network_does_not(tmp_path, quick):
    config = tiny(training_loops=2, learning_rate=0.01, weight_average=0.9)
    with Session.start(config, root=tmp_path, console=QUIET) as session:
        train(session, iterations=2)
        model, newest = session.model, session.store.newest()._replace(optimizer="")
        model.set_optimizer(checkpoints.read_optimizer(session.folder, newest, model.optimizer_layouts()))
        state, weights = model.get_optimizer(), model.get_weights()
        trained = state[-len(weights) :]
        assert not any(a.any() for a in state[: -len(weights)])
        assert all(np.array_equal(a, b) for a, b in zip(trained, weights, strict=True))


def test_a_network_that_could_not_be_restored_is_not_trained(begun, tmp_path, quick):
    folder = copied(begun, tmp_path)
    with Session.open(folder, console=QUIET) as session:
        path = folder / "models" / session.store.newest().file
        right = path.read_bytes()
        path.write_bytes(right[:-1])
        for _ in range(2):
            with pytest.raises(DamagedData, match="expected the file that the run wrote"):
                train(session, iterations=1)
        path.write_bytes(right)
        train(session, iterations=1)
