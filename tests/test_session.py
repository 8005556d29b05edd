"""A run on disk: begun, stopped anywhere, gone on with, begun from another, refused when damaged."""

import json
import os
import shutil
import sqlite3
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import config as c
import initialise
import stages
from config import UserError, with_overrides
from initialise import RunBusy, Session
from loggers import Console, read_metrics
from main import train
from runs import find_run, read_config, runs_of, unfinished_run
from storage import DamagedData, Store, arrays_from_bytes, arrays_to_bytes
from tiny import QUIET, tiny, tree_of


class Listening(Console):
    """Keeps what is said."""

    def __init__(self):
        super().__init__(quiet=True)
        self.said = []

    def say(self, text):
        self.said.append(text)


def content(folder, last=4):
    """Return what a run has come to by an iteration: its games, matches, versions and the weights of each."""
    queries = {
        "games": "SELECT * FROM games WHERE iteration <= ? ORDER BY iteration, idx",
        "matches": "SELECT * FROM matches WHERE iteration <= ? ORDER BY iteration, idx",
        "versions": "SELECT * FROM versions WHERE iteration <= ? ORDER BY version",
    }
    with sqlite3.connect(folder / "run.db") as db:
        found = {name: db.execute(query, (last,)).fetchall() for name, query in queries.items()}
    db.close()
    found["best"] = [line["best_version"] for line in read_metrics(folder / "metrics.jsonl")][:last]
    found["files"] = {name: (folder / "models" / name).read_bytes() for _, _, name, *_ in found["versions"]}
    return found


def assert_same_run(one, other, last=4):
    one, other = content(one, last), content(other, last)
    for part in one:
        assert one[part] == other[part], part
    assert len(one["best"]) == last


def start(root, **changes):
    return Session.start(tiny(**changes), root=root, console=QUIET)


def copied(folder, tmp_path):
    return shutil.copytree(folder, tmp_path / "copy" / "tictactoe" / folder.name)


MODELS = {}


@pytest.fixture
def quick(monkeypatch):
    """Let sessions in a row share one network: what it compiled stays, its numbers are made new."""
    build = initialise._build

    def once(config, game):
        key = c.to_json(with_overrides(config, iterations=1, episodes=1, learning_rate=1.0))
        if key not in MODELS:
            model = build(config, game)
            MODELS[key] = model, model.get_weights(), model.get_optimizer()
        model, weights, optimizer = MODELS[key]
        model.set_weights(weights)
        model.set_optimizer(optimizer)
        return model

    monkeypatch.setattr(initialise, "_build", once)
    monkeypatch.setattr(stages, "measure_raw", lambda *_: 1000.0)


# ---- a run


def test_a_run_leaves_settings_games_versions_logs_and_a_line_for_each_iteration(trained):
    assert trained.parts[-2:] == ("tictactoe", "run0001") and read_config(trained) == tiny()
    found = content(trained)
    assert [(row[0], row[1]) for row in found["games"]] == [(i, j) for i in (1, 2, 3, 4) for j in range(24)]
    versions = [row[0] for row in found["versions"]]
    assert versions == list(range(len(versions))) and len(versions) >= 4
    files = {p.name for p in (trained / "models").iterdir()}
    assert files == {f"version{v:04}.npz" for v in versions} | {f"optimizer{versions[-1]:04}.npz"}
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
        assert again.iteration == 3 and again.goes_on()
        assert [line["iteration"] for line in train(again)] == [3, 4]
        assert not again.goes_on() and train(again) == []
    assert_same_run(trained, session.folder)
    assert tree_of(trained / "models") == tree_of(session.folder / "models")
    lines, others = (read_metrics(folder / "metrics.jsonl") for folder in (trained, session.folder))
    for line, other in zip(lines, others, strict=True):
        same = {
            k for k in line if "second" not in k and "per_s" not in k and "share" not in k and "fill" not in k
        }
        same -= {"self_play_cache_hit_rate"}
        assert {k: line[k] for k in same} == {k: other[k] for k in same}


@pytest.mark.parametrize("batches", [1, 20, 60])
def test_self_play_stopped_anywhere_and_gone_on_with_gives_the_undisturbed_run(
    trained, begun, tmp_path, quick, batches
):
    folder, asked = copied(begun, tmp_path), []
    with Session.open(folder, console=QUIET) as session:
        assert train(session, stop=lambda: asked.append(1) or len(asked) > batches) == []
        kept = session.store.game_indices(2)
    assert len(kept) < 24 and (batches < 60 or len(kept) > 0)
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
    "in the fit": lambda s: (sys.modules["model"]._Progress, "on_train_batch_end", 3),
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

    def keep_and_copy(session, records, version):
        keep(session, records[:7], version)
        if not copies:
            copies.append(shutil.copytree(session.folder, tmp_path / "crashed" / "tictactoe" / "run0001"))
        keep(session, records[7:], version)

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
        with pytest.raises(ArithmeticError, match="not finite"):
            train(session)
        assert session.current_version == version and session.iteration == 2
        now = session.model.get_weights() + session.model.get_optimizer()
        assert all(np.array_equal(a, b) for a, b in zip(before + optimizer, now, strict=True))
        assert not list((session.folder / "models").glob("version0002*"))


# ---- settings on resume


def test_a_changed_setting_is_told_logged_and_kept(root):
    folder, listening = find_run("tictactoe", root=root), Listening()
    changed = with_overrides(read_config(folder), cpuct=2.0, iterations=5)
    with Session.open(folder, changed, console=listening) as session:
        assert session.config == changed and session.goes_on() and session.iteration == 5
        assert unfinished_run("tictactoe", root) == folder, "it is not finished any more"
    assert listening.said == ["changed setting iterations: 4 -> 5", "changed setting cpuct: 1.25 -> 2.0"]
    assert read_config(folder) == changed
    assert "changed setting cpuct: 1.25 -> 2.0" in (folder / "logs" / "logger_main.log").read_text()


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 1},
        {"hidden_cnn_layers": ("8x3",)},
        {"optimizer": "sgd", "cpuct": 3.0},
        {"global_pooling": True},
    ],
)
def test_what_a_run_is_made_of_cannot_be_changed(root, changes):
    folder = find_run("tictactoe", root=root)
    before = tree_of(root)
    with pytest.raises(UserError) as raised:
        Session.open(folder, with_overrides(read_config(folder), **changes), console=QUIET)
    assert all((name in str(raised.value)) == c.is_fixed(name) for name in changes)
    assert {**tree_of(root), "tictactoe/run0001/lock": b""} == {**before, "tictactoe/run0001/lock": b""}
    Session.open(folder, console=QUIET).close()


def test_settings_of_another_network_written_into_the_file_by_hand_are_refused(root):
    folder = find_run("tictactoe", root=root)
    values = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(
        json.dumps({**values, "hidden_cnn_layers": ["16x3"], "iterations": 9})
    )
    versions = content(folder)["versions"]
    with pytest.raises(UserError), Session.open(folder, console=QUIET) as session:
        train(session)
    assert content(folder)["versions"] == versions


# ---- who may work on a run


def test_a_run_is_worked_on_by_one_process_at_a_time(root):
    folder = find_run("tictactoe", root=root)
    with Session.open(folder, console=QUIET):
        with pytest.raises(RunBusy, match="run0001 is in use by process [0-9]+") as raised:
            Session.open(folder, console=QUIET)
        assert raised.value.exit_code == 3
        assert Store(folder / "run.db", read_only=True).count_games() == 96, "reading is allowed"
    Session.open(folder, console=QUIET).close()


def test_a_closed_session_lets_go_of_the_run_though_another_process_inherited_its_files(root):
    folder = find_run("tictactoe", root=root)
    session = Session.open(folder, console=QUIET)
    inherited = os.dup(session._lock.fileno())
    session.close()
    Session.open(folder, console=QUIET).close()
    os.close(inherited)


def test_a_session_that_could_not_open_lets_go_of_the_run(root):
    folder = find_run("tictactoe", root=root)
    (folder / "run.db").rename(folder / "away.db")
    for _ in range(2):
        with pytest.raises(DamagedData, match="run.db"):
            Session.open(folder, console=QUIET)
    (folder / "away.db").rename(folder / "run.db")
    Session.open(folder, console=QUIET).close()


# ---- begun from another run


def test_a_run_can_begin_with_the_network_and_the_games_of_another(root, trained, quick):
    config = tiny(seed=5)
    with Session.start(config, root=root, console=QUIET, INITIAL_RUN_NUMBER=1, INITIAL_MODEL_VERSION=2,
                       INITIAL_MEMORY_VERSION=3) as session:  # fmt: skip
        assert session.folder.name == "run0002" and session.current_version == 0 == session.best_version
        theirs = np.load(trained / "models" / "version0002.npz", allow_pickle=False)
        mine = session.weights(0)
        assert all(np.array_equal(theirs[n], w) for n, w in zip(theirs.files, mine, strict=True))
        assert all(np.array_equal(a, b) for a, b in zip(mine, session.model.get_weights(), strict=True))
        games = [row[3:7] for row in content(trained)["games"] if row[0] <= 3]
        taken = [row[3:7] for row in content(session.folder)["games"]]
        assert (
            taken == games[-len(taken) :] and sum(row[7] for row in content(session.folder)["games"]) >= 150
        )
        assert len(session.memory) == 150
        assert [line["iteration"] for line in train(session, iterations=1)] == [1]
        assert session.current_version == 1


def test_network_and_games_can_be_taken_over_one_without_the_other(root, quick):
    for versions, same, games in (
        ({"INITIAL_MODEL_VERSION": 1}, True, False),
        ({"INITIAL_MEMORY_VERSION": 1}, False, True),
    ):
        with Session.start(
            tiny(seed=7), root=root, console=QUIET, INITIAL_RUN_NUMBER=1, **versions
        ) as session:
            theirs = np.load(
                root / "tictactoe" / "run0001" / "models" / "version0001.npz", allow_pickle=False
            )
            equal = all(
                np.array_equal(theirs[n], w) for n, w in zip(theirs.files, session.weights(0), strict=True)
            )
            assert equal == same
            assert (len(session.memory) > 0) == games
            assert session.store.count_games() == (24 if games else 0)


@pytest.mark.parametrize(
    "changes, numbers, told",
    [({"hidden_cnn_layers": ("8x3",)}, {"INITIAL_RUN_NUMBER": 1, "INITIAL_MODEL_VERSION": 1}, "hidden_cnn_layers"),
     ({"value_units": 9}, {"INITIAL_RUN_NUMBER": 1, "INITIAL_MODEL_VERSION": 1}, "value_units"),
     ({}, {"INITIAL_RUN_NUMBER": 1, "INITIAL_MODEL_VERSION": 99}, "expected a version from 0 to"),
     ({}, {"INITIAL_RUN_NUMBER": 8, "INITIAL_MODEL_VERSION": 1}, "there is run0001"),
     ({"game": "connect4"}, {"INITIAL_RUN_NUMBER": 1, "INITIAL_MODEL_VERSION": 1}, "there is none"),
     ({}, {"INITIAL_MODEL_VERSION": 1}, "initial_run_number"),
     ({}, {"INITIAL_MEMORY_VERSION": 1}, "initial_run_number")],
)  # fmt: skip
def test_a_beginning_that_does_not_fit_is_refused_before_anything_is_written(root, changes, numbers, told):
    before = tree_of(root)
    with pytest.raises(UserError, match=told):
        Session.start(tiny(**changes), root=root, console=QUIET, **numbers)
    assert tree_of(root) == before and [p.name for p in runs_of("tictactoe", root)] == ["run0001"]


def test_a_start_that_was_killed_does_not_stand_in_the_way_of_the_next(root):
    (root / "tictactoe" / "run0002" / "models").mkdir(parents=True)
    assert unfinished_run("tictactoe", root) is None
    with Session.start(tiny(), root=root, console=QUIET) as session:
        assert session.folder.name == "run0003"
    assert find_run("tictactoe", root=root).name == "run0003"


# ---- damaged


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
def test_a_damaged_network_is_named_and_nothing_is_trained_from_it(root, quick, kind, how):
    folder = find_run("tictactoe", root=root)
    last = content(folder)["versions"][-1][0]
    damage(folder, f"models/{kind}{last:04}.npz", how)
    before = tree_of(folder / "models")
    changed = with_overrides(read_config(folder), iterations=9)
    with (
        pytest.raises(DamagedData, match=f"{kind}{last:04}.npz") as raised,
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
        (arrays_to_bytes([np.array([[{}] * 3] * 2), arrays[1]]), "cannot be read"),
        (arrays_to_bytes([np.zeros((2000, 3), np.float32), arrays[1]]), "larger than"),
        (b"PK\x03\x04" + b"\0" * 100, "cannot be read"),
    ]
    for data, told in wrong:
        with pytest.raises(DamagedData, match=told):
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


# ---- the schedule


def at(iteration, *, steps=0, seconds=0.0, **changes):
    """Return a stand-in for a session in an iteration, after so many training steps and seconds of work."""
    kept = {"steps": str(steps), "seconds": str(seconds)}
    store = SimpleNamespace(
        get=lambda key, default=None: kept.get(key, default), iterations_done=lambda: iteration - 1
    )
    session = Session.__new__(Session)
    session.store, session.config = store, tiny(**{"learning_rate": 1.0, "warmup_steps": 0, **changes})
    return session


def test_progress_is_the_share_of_iterations_or_of_minutes_whichever_is_further():
    assert [at(i, iterations=4).progress() for i in (1, 2, 3, 4, 5)] == [0, 0.25, 0.5, 0.75, 1]
    assert at(2, iterations=4, minutes=10, seconds=300).progress() == 0.5
    assert at(4, iterations=4, minutes=10, seconds=60).progress() == 0.75
    assert at(2, iterations=4, minutes=10, seconds=9000).progress() == 1
    assert at(4, iterations=4).goes_on() and not at(5, iterations=4).goes_on()
    assert not at(2, iterations=4, minutes=10, seconds=600).goes_on()


def test_the_rate_follows_its_schedule():
    def rates(name):
        return [at(i, iterations=8, learning_rate_schedule=name).learning_rate(3) for i in range(1, 10)]

    assert rates("constant") == [1.0] * 9
    assert rates("steps") == pytest.approx([1, 1, 1, 1, 0.1, 0.1, 0.01, 0.01, 0.01])
    cosine = rates("cosine")
    assert cosine[0] == 1 and cosine[4] == pytest.approx(0.525) and cosine[8] == pytest.approx(0.05)
    assert cosine == sorted(cosine, reverse=True)


def test_the_rate_rises_over_the_first_steps_of_the_run_and_not_of_each_iteration():
    found = [
        at(1, warmup_steps=10, learning_rate_schedule="constant").learning_rate(step) for step in range(12)
    ]
    assert found == pytest.approx([0.1 * (i + 1) for i in range(10)] + [1, 1])
    later = at(2, steps=6, warmup_steps=10, learning_rate_schedule="constant")
    assert [later.learning_rate(step) for step in range(5)] == pytest.approx([0.7, 0.8, 0.9, 1, 1])
