"""Lag 1: the newest version plays while the next is learned from the games before; their order changes nothing."""

import threading

import numpy as np
import pytest

from agent import Agent
from initialise import Session, Stopped
from loggers import Console, read_metrics
from main import train
from memory import Memory
from storage.run_store import Store
from storage.verify import verify
from support.run_states import copied
from support.tiny_runs import QUIET, tiny
from training import scoreboard, stages
from training.fit import fit_of_iteration
from training.learning_rate import progress
from training.stage_bookkeeping import begin


def lagging(**changes):
    return tiny(**{"lag": 1, "min_memory": 10, **changes})


@pytest.fixture(scope="module")
def ahead(tmp_path_factory):
    """Return the folder of a finished run with lag 1; nobody may change it."""
    with Session.start(lagging(), root=tmp_path_factory.mktemp("ahead"), console=QUIET) as session:
        train(session)
        return session.folder


def state_of(folder):
    found = verify(folder)
    assert found.damage == []
    return found.state


def facts(folder, stage="retrain"):
    """Return {iteration: facts} of a stage."""
    store = Store(folder / "run.db", read_only=True)
    try:
        return {i: store.finished(i)[stage] for i in range(1, store.iterations_done() + 1)}
    finally:
        store.close()


def test_a_version_plays_while_the_next_is_learned_from_the_games_before(ahead):
    store = Store(ahead / "run.db", read_only=True)
    played = {row[0]: row[2] for row in store.rows("games")}
    made = {v.version: v.iteration for v in store.versions()}
    new = {i: store.trained_positions(i) for i in (1, 2, 3, 4)}
    store.close()
    assert played == {1: 0, 2: 0, 3: 1, 4: 2} and made == {0: 0, 1: 2, 2: 3, 3: 4}
    found = facts(ahead)
    assert [found[i]["games_until"] for i in (1, 2, 3, 4)] == [0, 1, 2, 3]
    assert [found[i]["steps"] for i in (1, 2, 3, 4)] == [0, *(round(new[i - 1] * 4 / 32) for i in (2, 3, 4))]
    lines = read_metrics(ahead / "metrics.jsonl")
    assert [line["self_play_version"] for line in lines] == [0, 0, 1, 2]
    assert [line["version"] for line in lines] == [0, 1, 2, 3]


def test_played_first_and_learned_then_it_is_the_same_run(ahead, tmp_path, quick):
    """Without a thread: the games of an iteration are all there before its training, and not used by it."""
    with Session.start(lagging(), root=tmp_path, console=QUIET) as session:
        while session.is_unfinished():
            begin(session)
            with fit_of_iteration(session):  # the fit that it gives is left alone
                stages.play_self(session)
                stages.retrain(session)
            stages.play_tournament(session)
            scoreboard.score(session)
            stages.finish_iteration(session)
    assert state_of(session.folder) == state_of(ahead)


def test_games_that_are_played_again_as_their_network_is_made_again_count_once(ahead, tmp_path, quick):
    with Session.start(lagging(), root=tmp_path, console=QUIET) as session:
        train(session, iterations=2)
        begin(session)
        with fit_of_iteration(session):
            stages.play_self(session)
        folder, newest = session.folder, session.store.newest()
    (folder / "models" / newest.file).unlink()
    with Session.open(folder, console=QUIET) as session:
        assert session.iteration == newest.iteration == 2
        train(session)
    assert state_of(folder) == state_of(ahead)
    runs = [read_metrics(each / "metrics.jsonl") for each in (folder, ahead)]
    counts, undisturbed = ([line["self_play_evaluations"] for line in lines] for lines in runs)
    assert counts == undisturbed


def test_the_batches_are_of_the_games_of_earlier_iterations(ahead, tmp_path, quick, monkeypatch):
    first, real = {}, Agent.replay

    def replay(agent, sample, loops, **options):
        first[session.iteration] = sample(0)
        return real(agent, sample, loops, **options)

    monkeypatch.setattr(Agent, "replay", replay)
    config = lagging()
    with Session.start(config, root=tmp_path, console=QUIET) as session:
        train(session)
        store, game = session.store, session.game
        for iteration, batch in first.items():
            memory = Memory(game, config.memory_size)
            memory.extend(game for i, game in store.games(10**6) if i < iteration)
            wanted = memory.sample(
                32,
                np.random.default_rng([config.seed, iteration, 0]),
                value_from_search=config.value_from_search,
                duplicate_weight=config.duplicate_weight,
            )
            assert all(np.array_equal(a, b) for a, b in zip(batch[:3], wanted[:3], strict=True))
    assert sorted(first) == [2, 3, 4]


def test_games_end_while_the_network_learns(tmp_path, quick, monkeypatch):
    """The training waits for the iteration's games: one after the other would wait for ever."""
    kept, waited, keep, replay = threading.Event(), [], stages._keep, Agent.replay

    def keep_game(*arguments):
        keep(*arguments)
        kept.set()

    def wait_for_a_game(*arguments, **options):
        kept.clear()
        waited.append(kept.wait(120))
        return replay(*arguments, **options)

    monkeypatch.setattr(stages, "_keep", keep_game)
    monkeypatch.setattr(Agent, "replay", wait_for_a_game)
    with Session.start(lagging(), root=tmp_path, console=QUIET) as session:
        train(session, iterations=2)
        assert waited == [True] and session.current_version == 1


@pytest.mark.parametrize("changed", [(0, 1, 1, 0), (1, 0, 0, 1)])
def test_when_the_lag_changes_every_position_is_learned_from_as_often(tmp_path, quick, changed):
    config = tiny(lag=changed[0], min_memory=10, iterations=4)
    with Session.start(config, root=tmp_path, console=QUIET) as session:
        train(session, iterations=1)
    for lag in changed[1:]:
        with Session.open(session.folder, tiny(lag=lag, min_memory=10), console=QUIET) as session:
            train(session, iterations=1)
            new = {i: session.store.trained_positions(i) for i in (1, 2, 3, 4)}
    learned = {(0, 1, 1, 0): ([1], [], [2], [3, 4]), (1, 0, 0, 1): ([], [1, 2], [3], [])}[changed]
    wanted = [round(sum(new[i] for i in some) * 4 / 32) for some in learned]
    assert [f["steps"] for f in facts(session.folder).values()] == wanted
    assert len(verify(session.folder).damage) == 0


def test_a_stop_while_both_are_at_work_drops_the_fit_and_keeps_the_games(ahead, tmp_path, quick, monkeypatch):
    """The first step that is learned asks for the stop, and is held until the games have heard of it.

    The games wait for that step: they may end before the first one is traced.
    """
    begun, learning, heard, real = threading.Event(), threading.Event(), threading.Event(), Agent.replay

    def replay(agent, *arguments, report, **options):
        def reported(done):
            learning.set()
            heard.wait(120)
            report(done)

        begun.set()
        return real(agent, *arguments, report=reported, **options)

    def stop():
        if begun.is_set():
            learning.wait(120)
        if learning.is_set():
            heard.set()
        return learning.is_set()

    with Session.start(lagging(), root=tmp_path, console=QUIET) as session:
        train(session, iterations=2)
        monkeypatch.setattr(Agent, "replay", replay)
        assert train(session, stop=stop) == []
        assert session.current_version == 1 and not any(t.name == "learner" for t in threading.enumerate())
        saved, held = session.weights(1), session.model.get_weights()
        assert all(np.array_equal(a, b) for a, b in zip(saved, held, strict=True))
        monkeypatch.setattr(Agent, "replay", real)
        train(session)
    assert state_of(session.folder) == state_of(ahead)


def test_an_interrupt_while_both_are_at_work_leaves_the_network_as_it_was(ahead, tmp_path, quick, monkeypatch):
    keep = stages._keep

    def interrupted(stage, records, version, evaluations):
        keep(stage, records, version, evaluations)
        if stage.iteration == 3:
            raise KeyboardInterrupt

    with Session.start(lagging(), root=tmp_path, console=QUIET) as session:
        with monkeypatch.context() as patch:
            patch.setattr(stages, "_keep", interrupted)
            with pytest.raises(KeyboardInterrupt):
                train(session)
        assert not any(t.name == "learner" for t in threading.enumerate()) and session.iteration == 3
        train(session)
    assert state_of(session.folder) == state_of(ahead)


def test_an_error_in_the_learning_thread_is_raised_when_the_games_are_stored(ahead, tmp_path, quick, monkeypatch):
    def broken(*arguments, **options):
        raise MemoryError("no room")

    with Session.start(lagging(), root=tmp_path, console=QUIET) as session:
        with monkeypatch.context() as patch:
            patch.setattr(Agent, "replay", broken)
            with pytest.raises(MemoryError, match="no room"):
                train(session)
        assert session.iteration == 2 and len(session.store.game_indices(2)) == 24
        train(session)
    assert state_of(session.folder) == state_of(ahead)


def test_numbers_that_are_not_finite_are_trained_again_at_half_the_rate(tmp_path, quick, monkeypatch):
    rates, threads, real = [], [], Agent.replay

    def replay(agent, sample, loops, *, rate, **options):
        rates.append(rate(loops - 1))
        threads.append(threading.current_thread().name)
        losses = real(agent, sample, loops, rate=rate, **options)
        if len(rates) == 1:
            raise ArithmeticError("training gave numbers that are not finite")
        return losses

    monkeypatch.setattr(Agent, "replay", replay)
    with Session.start(lagging(), root=tmp_path, console=QUIET) as session:
        train(session, iterations=2)
        assert session.current_version == 1
    assert rates[1] == pytest.approx(rates[0] / 2) and threads == ["learner", "MainThread"]


def test_a_network_that_answers_with_nan_in_play_is_stepped_back_from(tmp_path, quick, monkeypatch, capsys):
    """Found while the version after it is being learned."""
    real, count = Agent.replay, []

    def overflows_once(agent, *arguments, **options):
        losses = real(agent, *arguments, **options)
        count.append(1)
        if len(count) == 1:
            agent.model.set_weights([np.full_like(w, 1e20) for w in agent.model.get_weights()])
        return losses

    monkeypatch.setattr(Agent, "replay", overflows_once)
    monkeypatch.setattr(stages, "require_finite_answers", lambda *_: None)
    config = lagging(eval_every=100, score_every=0, score_games=0)
    with Session.start(config, root=tmp_path, console=Console()) as session:
        lines = train(session, iterations=4)
        assert [line["iteration"] for line in lines] == [1, 2, 2, 3]
        assert [v.iteration for v in session.store.versions()] == [0, 2, 3]
    assert "version 1: expected finite answers" in capsys.readouterr().out
    assert state_of(session.folder)


def test_the_log_and_the_progress_say_which_version_plays_and_which_is_learned(tmp_path, quick):
    shown = []

    class Told(Console):
        def phase(self, name, total, done=0):
            phase = super().phase(name, total, done)

            class Listening:
                def __enter__(self):
                    self.inner = phase.__enter__()
                    return self

                def __exit__(self, *error):
                    return phase.__exit__(*error)

                def update(self, done, **facts):
                    shown.append((name, facts))
                    self.inner.update(done, **facts)

            return Listening()

    with Session.start(lagging(), root=tmp_path, console=Told(quiet=True)) as session:
        train(session, iterations=3)
    told = {(f.get("plays"), str(f.get("learns")).split(" (")[0]) for name, f in shown if name == "self-play"}
    assert told == {(None, "None"), ("version 0", "version 1"), ("version 1", "version 2")}
    log = (session.folder / "logs" / "logger_main.log").read_text()
    assert "iteration 3: version 1 plays, version 2 is learned from the games up to iteration 2" in log


def test_with_workers_it_is_the_same_run(ahead, tmp_path, quick):
    with Session.open(copied(ahead, tmp_path), lagging(iterations=5), console=QUIET) as session:
        train(session)
    with Session.open(copied(ahead, tmp_path / "other"), lagging(iterations=5, workers=1), console=QUIET) as other:
        train(other)
    assert state_of(session.folder) == state_of(other.folder)


def test_the_rates_of_a_run_of_minutes_do_not_depend_on_how_far_the_games_are(begun):
    store = Store(begun / "run.db", read_only=True)
    try:
        config = lagging(minutes=10.0, iterations=10**6)
        seconds, last = float(store.get("seconds")), store.finished(1)["iteration"]["seconds"]
        assert progress(config, store, 0.0) == pytest.approx(seconds / 600)
        assert progress(config, store, 1.0) == pytest.approx((seconds + last) / 600)
    finally:
        store.close()


def test_a_stop_while_it_waits_for_the_training_ends_that_before_the_network_is_restored(tmp_path, quick, monkeypatch):
    def endless(agent, *arguments, report, **options):
        while True:
            agent.model.set_weights([w + 1 for w in agent.model.get_weights()])
            report(1)

    monkeypatch.setattr(Agent, "replay", endless)
    with Session.start(lagging(), root=tmp_path, console=QUIET) as session:
        train(session, iterations=1)
        begin(session)
        with fit_of_iteration(session) as fit:
            fit.start()
            with pytest.raises(Stopped):
                stages.retrain(session, lambda: True, fit)
            assert not any(t.name == "learner" for t in threading.enumerate())
            saved, held = session.weights(0), session.model.get_weights()
            assert all(np.array_equal(a, b) for a, b in zip(saved, held, strict=True))
