"""A run whose network grows: half of the filters at first, all of them afterwards."""

import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pytest

import games
from agent import Agent
from config import Config, SettingsError, UserError, with_overrides
from initialise import Session
from loggers import read_metrics
from main import train
from network.growth import STAGE, halved, phase, small, weights_of
from network.numpy_network import evaluate
from network.stored_network import StoredNetwork
from players.by_name import make_player
from storage.checkpoints import path_of
from storage.recover import recover
from storage.run_store import Store
from support.run_states import assert_same_run
from support.tiny_runs import QUIET, boards, tiny
from training.learning_rate import learning_rates

GROWS = {"hidden_cnn_layers": ("16x3", "16x3"), "small_share": 0.5, "warmup_steps": 2}


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    """The folder of a run of four iterations whose network grows before the third is learned."""
    with Session.start(tiny(**GROWS), root=tmp_path_factory.mktemp("grown"), console=QUIET) as session:
        train(session)
        return session.folder


def sizes_of(folder):
    """Return the filters of each version."""
    found = []
    for number in range(5):
        with np.load(path_of(folder, f"version{number:04}.npz")) as arrays:
            found.append(max(arrays[name].shape[-1] for name in arrays.files if arrays[name].ndim == 4))
    return found


def reading(folder):
    return closing(Store(folder / "run.db", read_only=True))


def test_the_versions_have_half_of_the_filters_until_the_share_is_over(grown):
    assert sizes_of(grown) == [8, 8, 8, 16, 16]
    with reading(grown) as store:
        (when,) = store.stage_facts(STAGE, range(9))
        assert when == (3, {"steps": sum(line["retrain_steps"] for line in read_metrics(grown / "metrics.jsonl")[:2])})


@pytest.mark.parametrize("spec", ["tictactoe", "gomoku(size=5..6)"])
def test_a_network_that_has_grown_answers_as_before(spec, tmp_path):
    """Also where blocks pool over the board, and with what is new at random in place of zeros."""
    settings = {"game": spec, "many_sizes": ".." in spec, "iterations": 2, "small_share": 0.9, "score_every": 0}
    with Session.start(tiny(**{**GROWS, **settings}), root=tmp_path, console=QUIET) as session:
        train(session, iterations=1)
        game, before, folder = session.game, StoredNetwork(small(session.config), session.game), session.folder
        assert session.current_version == 1
        planes = boards(games.make("gomoku(size=6)") if game.sizes else game, 40)
        old = session.weights(1)
        session.grow()
        new, random = session.weights(1), session.model.get_weights()
        after = StoredNetwork(session.config, game)
    expected = evaluate(before.layers, old, planes)
    for weights in (new, random):
        assert [w.shape for w in weights] == after.shapes
        for found, wanted in zip(evaluate(after.layers, weights, planes), expected, strict=True):
            np.testing.assert_allclose(found, wanted, atol=1e-5)
    assert any((a != b).any() for a, b in zip(new, random, strict=True)), "what is new can learn"
    with reading(folder) as store:
        again = weights_of(folder, store, 1, after, session.config)
    assert all(map(np.array_equal, again, new))


@pytest.mark.parametrize("place", ["fit", "save_version"])
def test_a_run_stopped_after_it_has_grown_ends_as_if_it_had_not_been(grown, tmp_path, monkeypatch, place):
    with Session.start(tiny(**GROWS), root=tmp_path / "other", console=QUIET) as session:
        train(session, iterations=2)
        folder = session.folder
    with Session.open(folder, console=QUIET) as session:
        target = session.model if place == "fit" else session
        grow = session.grow

        def interrupted(*args, **kwargs):
            raise KeyboardInterrupt

        def grow_and_stop():
            grow()
            monkeypatch.setattr(session.model if place == "fit" else target, place, interrupted)

        monkeypatch.setattr(session, "grow", grow_and_stop)
        with pytest.raises(KeyboardInterrupt):
            train(session)
        assert session.store.finished(3).keys() >= {"self-play", STAGE} and session.current_version == 2
    with Session.open(folder, console=QUIET) as session:
        train(session)
    assert sizes_of(folder) == [8, 8, 8, 16, 16]
    assert_same_run(grown, folder)


def test_the_newest_version_can_be_trained_again_before_and_after_it_has_grown(grown, tmp_path):
    with Session.start(tiny(**GROWS), root=tmp_path, console=QUIET) as session:
        train(session, iterations=3)
        folder = session.folder
    for number in (3, 4):
        path = path_of(folder, f"version{number:04}.npz")
        path.write_bytes(path.read_bytes()[:-100])
        with Session.open(folder, console=QUIET) as session:
            assert session.current_version == number - 1
            train(session)
    assert_same_run(grown, folder)


def test_each_network_has_a_learning_rate_from_its_beginning_to_its_end(grown):
    with reading(grown) as store:
        config = with_overrides(tiny(**GROWS), iterations=8)  # four of them are over
        now = phase(config, store)
        assert (now.begin, now.end, now.config) == (0.5, 1.0, config)
        assert now.steps < int(store.get("steps"))
        rates = learning_rates(config, store, 10)
        fresh = learning_rates(with_overrides(config, small_share=0.0), store, 10)
        assert max(rates) > 0.9 * config.learning_rate > 1.5 * max(fresh) > 0


def test_old_and_new_versions_play_each_other(grown, monkeypatch):
    monkeypatch.setattr("storage.run_folders.RUNS", grown.parent.parent)
    game = games.make("tictactoe")
    for number in (2, 3):
        player = make_player(f"run0001:version{number:04}", game, sims=8)
        assert isinstance(player, Agent) and player.act(game.start(), tau=0)[0] in range(9)


def test_a_run_that_begins_with_a_small_version_has_all_filters_at_once_and_all_learn(grown, tmp_path):
    options = {"root": grown.parents[1], "console": QUIET, "INITIAL_RUN_NUMBER": 1, "INITIAL_MODEL_VERSION": 1}
    with pytest.raises(UserError, match="small_share: expected 0 with another run's network, got 0.5"):
        Session.start(tiny(**GROWS), **options)
    with Session.start(tiny(**{**GROWS, "small_share": 0.0, "iterations": 2}), **options) as session:
        train(session)
        before, after = session.weights(0), session.weights(session.current_version)
        kernels = [(a, b) for a, b in zip(before, after, strict=True) if a.ndim == 4 and a.shape[2] != 16]
        assert all((a[..., 8:] != 0).any() and (a[..., 8:] != b[..., 8:]).any() for a, b in kernels if a.shape[3] == 16)


@pytest.mark.parametrize("changes", [{"workers": 1}, {"lag": 1}], ids=["a worker", "lag 1"])
def test_it_grows_where_workers_play_the_best_version_and_where_one_is_learned_meanwhile(changes, tmp_path):
    never = {"eval_every": 100, "selfplay_with": "best"}
    with Session.start(tiny(**GROWS, **never, **changes), root=tmp_path, console=QUIET) as session:
        train(session)
        assert session.current_version == (3 if "lag" in changes else 4) and session.best_version == 0
        filters = [max(w.shape[-1] for w in session.weights(v) if w.ndim == 4) for v in range(session.current_version)]
        assert set(filters) == {16}, "all are read as the large one"


def test_it_grows_at_the_latest_for_the_last_training(tmp_path):
    with Session.start(tiny(**{**GROWS, "small_share": 0.95}), root=tmp_path, console=QUIET) as session:
        train(session)
        assert sizes_of(session.folder) == [8, 8, 8, 8, 16]


def test_what_recover_saves_goes_on_with_the_network_that_it_has(grown, tmp_path):
    """Also where the row of its growth is lost: the line of the iteration says it."""
    folder = shutil.copytree(grown, tmp_path / "copy" / "tictactoe" / grown.name)
    lost = "UPDATE stages SET facts = 'nothing' WHERE stage IN (?, 'retrain') AND iteration IN (1, 3)"
    with closing(sqlite3.connect(folder / "run.db")) as db, db:
        db.execute(lost, (STAGE,))
    recovered = recover(folder)
    with Session.open(folder.with_name(recovered.run), tiny(**{**GROWS, "iterations": 6}), console=QUIET) as session:
        assert session.present == session.config
        assert min(learning_rates(session.config, session.store, 5)) > 0
        train(session)
        assert session.iteration == 7 and max(w.shape[-1] for w in session.weights(session.current_version)) >= 16


def test_what_cannot_grow_is_said():
    for change in ({"normalisation": "batch"}, {"network": "a.py:B"}):
        with pytest.raises(SettingsError, match="small_share: expected 0"):
            Config(small_share=0.5, **change)
    assert small(Config()) is None
    assert small(Config(small_share=0.5, hidden_cnn_layers=("8x3", "8x3"))) is None, "no filters to leave out"
    assert halved(("75x4", "75x3")) == ("37x4", "37x3") and halved(("9x3",)) == ("8x3",)
