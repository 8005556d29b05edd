"""A run on disk: its settings on resume, who may work on it, begun from another, its schedule."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

import config as c
import initialise
from config import NO_TOURNAMENT, UserError, with_overrides
from initialise import Session
from main import train
from storage.atomic_files import DamagedData
from storage.run_folders import RunBusy, find_run, new_folder, read_config, runs_of, unfinished_run
from storage.run_store import Store
from support.run_states import Listening, content
from support.tiny_runs import QUIET, tiny, tree_of
from training import scoreboard, stage_bookkeeping, stages
from training.learning_rate import learning_rates, progress

pytestmark = pytest.mark.keras

# ---- settings on resume


def test_a_changed_setting_is_told_logged_and_kept(root):
    folder, listening = find_run("tictactoe", root=root), Listening()
    changed = with_overrides(read_config(folder), cpuct=2.0, iterations=5)
    with Session.open(folder, changed, console=listening) as session:
        assert session.config == changed and session.is_unfinished() and session.iteration == 5
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
    inherited = os.dup(session.store.files._lock)
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


def test_games_of_a_run_whose_game_was_spelled_otherwise_are_taken_over(tmp_path):
    Session.start(tiny(game="TicTacToe"), root=tmp_path, console=QUIET).close()
    with pytest.raises(UserError, match="of a run with games"):  # it has none yet, and is the same game
        Session.start(tiny(), root=tmp_path, console=QUIET, INITIAL_RUN_NUMBER=1, INITIAL_MEMORY_VERSION=0)


def test_a_network_that_learned_other_rules_is_a_beginning_and_its_games_are_not(root):
    first, other = "gomoku(n=4,size=5)", "gomoku(n=4,rule=exact,size=5)"
    with Session.start(tiny(game=first, seed=3), root=root, console=QUIET) as session:
        begun = session.weights(0)
    start = {"root": root, "console": QUIET, "INITIAL_RUN_NUMBER": 1, "INITIAL_GAME": first}
    with Session.start(tiny(game=other, seed=4), **start, INITIAL_MODEL_VERSION=0) as session:
        assert session.folder.parent.name == "gomoku-n-4-rule-exact-size-5"
        assert all(np.array_equal(a, b) for a, b in zip(begun, session.weights(0), strict=True))
    with pytest.raises(UserError, match="initial_memory_version: expected games of gomoku.n=4,rule=exact"):
        Session.start(tiny(game=other), **start, INITIAL_MEMORY_VERSION=0)
    with pytest.raises(UserError, match="another network: game: gomoku"):
        Session.start(tiny(game=other), **{**start, "INITIAL_GAME": "tictactoe"}, INITIAL_MODEL_VERSION=1)


@pytest.mark.parametrize(
    "changes, numbers, told",
    [({"hidden_cnn_layers": ("8x3",)}, {"INITIAL_RUN_NUMBER": 1, "INITIAL_MODEL_VERSION": 1}, "hidden_cnn_layers"),
     ({"value_units": 9}, {"INITIAL_RUN_NUMBER": 1, "INITIAL_MODEL_VERSION": 1}, "value_units"),
     ({}, {"INITIAL_RUN_NUMBER": 1, "INITIAL_MODEL_VERSION": 99}, "expected a version from 0 to"),
     ({}, {"INITIAL_RUN_NUMBER": 1, "INITIAL_MEMORY_VERSION": 99}, "expected an iteration from 0 to 4, got 99"),
     ({}, {"INITIAL_RUN_NUMBER": 1, "INITIAL_MEMORY_VERSION": -3}, "expected an iteration from 0 to 4, got -3"),
     ({}, {"INITIAL_RUN_NUMBER": 8, "INITIAL_MODEL_VERSION": 1}, "there is run0001"),
     ({"game": "connect4"}, {"INITIAL_RUN_NUMBER": 1, "INITIAL_MODEL_VERSION": 1}, "there is none"),
     ({}, {"INITIAL_MODEL_VERSION": 1}, "initial_run_number"),
     ({}, {"INITIAL_GAME": "tictactoe"}, "initial_run_number"),
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


def test_runs_that_are_begun_at_one_moment_have_folders_of_their_own(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        made = [*pool.map(lambda _: new_folder(tmp_path / "tictactoe"), range(40))]
    assert sorted(path.name for path in made) == [f"run{number:04}" for number in range(1, 41)]
    assert all((path / "models").is_dir() for path in made)


def test_a_start_that_fails_removes_no_folder_but_its_own(root, monkeypatch):
    before = tree_of(root)

    def another_comes_first(*args):
        other = new_folder(root / "tictactoe")
        (other / "run.db").write_bytes(b"of another process")
        return None, []

    monkeypatch.setattr(initialise, "taken_over", another_comes_first)
    monkeypatch.setattr(Session, "_begin", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        Session.start(tiny(), root=root, console=QUIET)
    after = tree_of(root)
    assert {name for name in after if name not in before} == {"tictactoe/run0002/run.db"}, "and no run0003"


# ---- the schedule


def at(iteration, *, steps=0, seconds=0.0, made=0, due=None, stages=None, **changes):
    """Return a stand-in for a session in an iteration, after so many training steps and seconds of work.

    made: evaluations. due: the seconds when the tournament of the iteration before was due. stages: {iteration:
    {stage: facts}}.
    """
    kept = {"steps": str(steps), "seconds": str(seconds), "evaluations": str(made)}
    known = stages or ({} if due is None else {iteration - 1: {"tournament": {"at_seconds": due}}})
    store = SimpleNamespace(
        get=lambda key, default=None: kept.get(key, default), iterations_done=lambda: iteration - 1,
        finished=lambda i: known.get(i, {}),
    )
    session = Session.__new__(Session)
    session.store, session.config = store, tiny(**{"learning_rate": 1.0, "warmup_steps": 0, **changes})
    session.requested = session.config
    return session


def done(session, trained=0.0):
    return progress(session.config, session.store, trained)


def rates_of(session, steps):
    return learning_rates(session.config, session.store, steps)


def test_progress_is_the_share_of_iterations_or_of_minutes_whichever_is_further():
    assert [done(at(i, iterations=4)) for i in (1, 2, 3, 4, 5)] == [0, 0.25, 0.5, 0.75, 1]
    assert [done(at(2, iterations=4), trained) for trained in (0.5, 1)] == [0.375, 0.5]
    assert done(at(2, iterations=4, minutes=10, seconds=300)) == 0.5
    assert done(at(4, iterations=4, minutes=10, seconds=60)) == 0.75
    assert done(at(2, iterations=4, minutes=10, seconds=9000)) == 1


def test_evaluations_are_a_limit_too():
    stages = {2: {"self-play": {"evaluations": 300}}}
    now = at(2, iterations=100, evaluations=1000, made=400, stages=stages)
    assert [done(now, trained) for trained in (0, 0.5, 1)] == pytest.approx([0.4, 0.55, 0.7])
    assert not now.ends(2, 9999) and now.is_unfinished()
    last = at(2, iterations=100, evaluations=700, made=400, stages=stages)
    assert last.ends(2, 0) and last.is_unfinished(), "its iteration is not over"
    assert not at(3, iterations=100, evaluations=700, made=700, stages=stages).is_unfinished()
    assert not at(3, iterations=100, made=700).ends(2, 0), "0 is no limit"


def test_what_reanalysis_searches_counts_as_well():
    stages = {2: {"self-play": {"evaluations": 300}, "reanalyse": {"evaluations": 100}}}
    now = at(2, iterations=100, evaluations=1000, made=400, stages=stages)
    assert now.evaluations(2) == 800 and done(now, 1) == pytest.approx(0.8)
    assert at(2, iterations=100, evaluations=800, made=400, stages=stages).ends(2, 0)


def test_of_minutes_selfplay_counts_as_long_as_it_took_and_training_as_long_as_the_last():
    stages = {2: {"self-play": {"seconds": 50.0}, "retrain": {"seconds": 120.0}}, 3: {"self-play": {"seconds": 90.0}}}
    found = at(3, iterations=100, minutes=10, seconds=300, stages=stages)
    assert [done(found, trained) for trained in (0, 0.5, 1)] == pytest.approx([390 / 600, 450 / 600, 510 / 600])
    first = at(1, iterations=100, minutes=10, stages={1: {"self-play": {"seconds": 60.0}}})
    assert [done(first, trained) for trained in (0, 1)] == [0.1, 0.1], "nothing is known of its training"


def test_a_run_goes_on_until_an_iteration_has_ended_as_the_last():
    assert at(4, iterations=4).is_unfinished() and not at(5, iterations=4).is_unfinished()
    assert not at(2, iterations=4, minutes=10, seconds=600).is_unfinished()
    assert at(2, iterations=4, minutes=10, seconds=601, due=599).is_unfinished(), "it had no last tournament"
    assert not at(2, iterations=4, minutes=10, seconds=601, due=600).is_unfinished()
    timed, untimed = at(2, iterations=4, minutes=10), at(2, iterations=4)
    assert [timed.ends(*done) for done in ((3, 599), (3, 600), (4, 0))] == [False, True, True]
    assert not untimed.ends(3, 9999) and untimed.ends(4, 9999)


def test_a_limit_that_is_lowered_within_an_iteration_makes_it_the_last_with_its_tournament(root):
    config = tiny(iterations=10, eval_every=5, score_every=0, score_games=0)
    with Session.start(config, root=root, console=QUIET) as session:
        train(session, iterations=2)
        left = iter(range(6))
        train(session, stop=lambda: next(left, None) is None)
        assert session.iteration == 3 and session.store.has_begun(3)
    with Session.open(session.folder, with_overrides(config, iterations=3), console=QUIET) as session:
        (line,) = train(session)
        assert not session.is_unfinished()
    assert line["iteration"] == 3 and line["tournament_played"] > 0


def test_a_step_back_keeps_the_time_of_the_games_that_stay(root):
    with Session.start(tiny(), root=root, console=QUIET) as session:
        train(session, iterations=2)
        seconds = session.store.finished(2)["self-play"]["seconds"]
        with session.store.transaction("test"):
            session.store.step_back(2)
        assert session.store.get("spent") == f"2 {seconds}" and seconds > 0


def test_the_iteration_in_which_the_minutes_end_has_its_tournament_and_scoreboard(root):
    config = tiny(minutes=0.001, eval_every=1000, score_every=1000, score_games=4, min_memory=16)
    with Session.start(config, root=root, console=QUIET) as session:
        lines = train(session)
    assert len(lines) == 1
    assert lines[0]["tournament_played"] > 0 and lines[0]["score_kept"] > 0 and lines[0]["score_matches"]


def test_a_run_without_tournaments_has_none_in_its_last_iteration_either(root):
    config = tiny(iterations=1, eval_every=NO_TOURNAMENT, score_every=0, score_games=0, min_memory=16)
    with Session.start(config, root=root, console=QUIET) as session:
        [line] = train(session)
        assert line["tournament_played"] == 0 and (line["version"], session.best_version) == (1, 0)


def test_minutes_that_end_in_a_scoreboard_are_followed_by_an_iteration_that_is_the_last(root, monkeypatch):
    config = tiny(minutes=5, eval_every=1000, score_every=1, min_memory=16)
    now, began, exact = [0.0], [0.0], scoreboard._exact

    def long(*args):
        now[0] += 1000
        return exact(*args)

    monkeypatch.setattr(stage_bookkeeping, "begin", lambda session: began.__setitem__(0, now[0]))
    monkeypatch.setattr(stages, "spent", lambda session: now[0] - began[0])
    monkeypatch.setattr(scoreboard, "_exact", long)
    with Session.start(config, root=root, console=QUIET) as session:
        lines = train(session)
    assert [line["tournament_played"] > 0 for line in lines] == [False, True]


def test_the_rate_follows_its_schedule_step_by_step():
    def rates(name):
        return [rates_of(at(i, iterations=8, learning_rate_schedule=name), 2) for i in range(1, 9)]

    assert rates("constant") == [[1.0, 1.0]] * 8
    tenth, hundredth = [0.1, 0.1], [0.01, 0.01]
    assert np.allclose(rates("steps"), [[1, 1]] * 3 + [[1, 0.1], tenth, [0.1, 0.01], hundredth, hundredth])
    cosine = np.ravel(rates("cosine"))
    assert np.allclose(cosine, [0.05 + 0.95 * np.cos(np.pi * k / 32) ** 2 for k in range(1, 17)])
    assert cosine[-1] == pytest.approx(0.05), "the last step of the run has the rate of its end"


def test_a_short_run_ends_with_the_rate_of_the_end(root):
    config = tiny(iterations=2, learning_rate_schedule="cosine", warmup_steps=0)
    with Session.start(config, root=root, console=QUIET) as session:
        lines = train(session)
        assert lines[-1]["retrain_learning_rate"] == pytest.approx(0.05 * session.config.learning_rate, rel=1e-3)


def test_the_rate_rises_over_the_first_steps_of_the_run_and_not_of_each_iteration():
    found = rates_of(at(1, warmup_steps=10, learning_rate_schedule="constant"), 12)
    assert found == pytest.approx([0.1 * (i + 1) for i in range(10)] + [1, 1])
    later = at(2, steps=6, warmup_steps=10, learning_rate_schedule="constant")
    assert rates_of(later, 5) == pytest.approx([0.7, 0.8, 0.9, 1, 1])
