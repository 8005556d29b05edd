"""A run whose network grows: half of the filters at first, all of them afterwards."""

from contextlib import closing

import numpy as np
import pytest

import games
from agent import Agent
from config import Config, SettingsError, with_overrides
from initialise import Session
from loggers import read_metrics
from main import train
from network.growth import STAGE, halved, phase, small, weights_of
from network.numpy_network import evaluate
from network.stored_network import StoredNetwork
from players.by_name import make_player
from storage.checkpoints import path_of
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
    settings = {"game": spec, "many_sizes": ".." in spec, "iterations": 1, "small_share": 0.9, "score_every": 0}
    with Session.start(tiny(**{**GROWS, **settings}), root=tmp_path, console=QUIET) as session:
        train(session)
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


def test_a_run_that_begins_with_another_network_has_all_filters_at_once(grown, tmp_path):
    root = grown.parents[1]
    options = {"root": root, "console": QUIET, "INITIAL_RUN_NUMBER": 1, "INITIAL_MODEL_VERSION": 1}
    with Session.start(tiny(**GROWS), **options) as session:
        assert session.present == session.config and phase(session.config, session.store).end == 1.0
        wanted = [w.shape for w in session.model.get_weights()]
        assert [w.shape for w in session.weights(0)] == wanted
        assert max(shape[-1] for shape in wanted if len(shape) == 4) == 16


def test_what_cannot_grow_is_said():
    for change in ({"normalisation": "batch"}, {"network": "a.py:B"}, {"lag": 1}):
        with pytest.raises(SettingsError, match="small_share: expected 0"):
            Config(small_share=0.5, **change)
    assert small(Config()) is None
    assert small(Config(small_share=0.5, hidden_cnn_layers=("8x3", "8x3"))) is None, "no filters to leave out"
    assert halved(("75x4", "75x3")) == ("37x4", "37x3") and halved(("9x3",)) == ("8x3",)
