"""Networks whose answers are not finite: not saved; one that was saved is stepped back from and trained again."""

import numpy as np
import pytest

from agent import Agent
from evaluation.move_accuracy import value_error
from evaluation.solved_positions import oracle, sample
from initialise import Session
from loggers import Console, read_metrics
from main import train
from search.evaluation_cache import NotFinite
from support.run_states import copied
from support.search_cases import GAMES
from support.tiny_runs import QUIET, tiny
from training import divergence, stages
from training.worker_process import ProcessHandle

pytestmark = pytest.mark.keras


def overflow(model):
    """Give a network weights that are finite, with answers that are not."""
    model.set_weights([np.full_like(w, 1e20) for w in model.get_weights()])


def replay_that_overflows(monkeypatch, times):
    """Let the first `times` fits end with such weights and ordinary losses; return the list of their largest rates."""
    real, rates = Agent.replay, []

    def replay(agent, sample, loops, *, rate, report):
        losses = real(agent, sample, loops, rate=rate, report=report)
        rates.append(max(rate(step) for step in range(loops)))
        if len(rates) <= times:
            overflow(agent.model)
            assert agent.model.is_finite()
        return losses

    monkeypatch.setattr(Agent, "replay", replay)
    return rates


def test_a_network_whose_answers_overflow_is_not_saved_but_trained_again(begun, tmp_path, quick, monkeypatch):
    rates = replay_that_overflows(monkeypatch, 1)
    with Session.open(copied(begun, tmp_path), console=QUIET) as session:
        train(session, iterations=1)
        assert session.current_version == 2 and rates == pytest.approx([rates[0], rates[0] / 2])
        planes = session.game.start().planes()[None]
        assert all(np.isfinite(answer).all() for answer in session.predictor("current", 2)(planes))


def test_when_half_the_rate_does_not_help_the_run_stops_and_names_the_rate(begun, tmp_path, quick, monkeypatch):
    rates = replay_that_overflows(monkeypatch, 2)
    with Session.open(copied(begun, tmp_path), console=QUIET) as session:
        with pytest.raises(stages.Diverged, match=r"answers are not finite.*--learning-rate") as told:
            train(session, iterations=1)
        assert told.value.exit_code == 4 and f"(learning rate {rates[1]:g})" in str(told.value)
        assert session.current_version == 1 and session.iteration == 2
    with Session.open(session.folder, console=QUIET) as again:  # the run can be resumed at another rate
        train(again, iterations=1)
        assert again.current_version == 2


def poisoned(begun, tmp_path, monkeypatch):
    """Return a copy of a run whose newest version, of iteration 2, was saved with answers that overflow."""
    folder = copied(begun, tmp_path)
    with monkeypatch.context() as before, Session.open(folder, console=QUIET) as session:
        replay_that_overflows(before, 1)
        before.setattr(stages, "require_finite_answers", lambda *_: None)
        before.setattr(stages, "play_tournament", lambda *_: None)
        before.setattr("training.scoreboard.score", lambda *_: None)
        train(session, iterations=1)
        assert session.current_version == 2 and session.iteration == 3
    return folder


@pytest.mark.parametrize("workers", [0, 1])
def test_a_saved_network_whose_answers_overflow_is_stepped_back_from(
    workers, begun, tmp_path, quick, monkeypatch, capsys
):
    folder = poisoned(begun, tmp_path, monkeypatch)
    config = tiny(workers=workers, selfplay_with="current")
    rates = replay_that_overflows(monkeypatch, 0)
    with Session.open(folder, config, console=Console()) as session:
        lines = train(session, iterations=2)
        versions = session.store.versions()
    assert "version 2: expected finite answers" in capsys.readouterr().out
    assert [line["iteration"] for line in lines] == [2, 3] and [v.version for v in versions] == [0, 1, 2, 3]
    assert (folder / "quarantine" / "version0002.npz").exists()
    assert [line["iteration"] for line in read_metrics(folder / "metrics.jsonl")] == [1, 2, 3]
    assert rates[1] > rates[0] > 0  # only the training that went wrong has half the rate


def test_stepping_back_ends_after_three_times(begun, tmp_path, quick, monkeypatch):
    folder = poisoned(begun, tmp_path, monkeypatch)
    monkeypatch.setattr(stages, "require_finite_answers", lambda *_: None)
    rates = replay_that_overflows(monkeypatch, 100)
    with Session.open(folder, tiny(selfplay_with="current"), console=QUIET) as session:
        with pytest.raises(stages.Diverged, match=r"version 2: .*smaller --learning-rate"):
            train(session)
    assert len(rates) == divergence.MOST
    assert rates == pytest.approx([rates[0], rates[0] / 2, rates[0] / 4])


def test_a_worker_reports_answers_that_are_not_finite_as_such():
    from support.fake_workers import expected, workman
    from training.worker_pool import RoundSpec, WorkerPool

    def spawn(place, report):
        return ProcessHandle(place, report, workman, {"not_finite": [3]})

    pool = WorkerPool(spawn, workers=1, side_by_side=4, log=lambda text: None, expected=expected)
    try:
        with pytest.raises(NotFinite):
            list(pool.play(RoundSpec("run", 1, 0, "net", "0"), range(8), stop=lambda: False))
    finally:
        pool.close()


def solved(count):
    game = GAMES["tictactoe"]
    return sample(game, oracle(game), count, seed=0)[0]


def test_a_constant_value_has_correlation_0_and_no_warning(recwarn):
    class Constant:
        def predict(self, planes):
            return np.full(len(planes), 0.1, np.float32), np.zeros((len(planes), 9), np.float32)

    fit = value_error(Constant(), solved(40))
    assert fit.correlation == 0.0 and not recwarn.list


def test_move_accuracy_refuses_answers_that_are_not_finite():
    class Broken:
        def predict(self, planes):
            return np.full(len(planes), np.nan, np.float32), np.zeros((len(planes), 9), np.float32)

    with pytest.raises(NotFinite):
        value_error(Broken(), solved(10))
