"""A network that grows: what it answers stays the same, and what is new can learn."""

import json

import numpy as np
import pytest

from config import UserError, with_overrides
from initialise import Session
from main import train
from memory import Batch
from network.net2net import enlarged
from support.small_networks import make
from support.tiny_runs import QUIET, boards, tiny, trained_looking, tree_of

pytestmark = pytest.mark.keras

SMALL = ("8x3", "8x3", "8x3")
BEGIN = {"console": QUIET, "INITIAL_RUN_NUMBER": 1, "INITIAL_MODEL_VERSION": 0}
LARGER = [("8x3", "8x3", "8x3", "8x3", "8x3"), ("12x3", "12x3", "12x3"), ("12x3", "12x3", "12x3", "12x3")]


@pytest.mark.parametrize("layers, pooling", [(LARGER[0], False), (LARGER[1], False), (LARGER[2], True)])
def test_a_larger_network_answers_as_the_smaller_one_and_all_of_it_learns(layers, pooling):
    small = make(hidden_cnn_layers=SMALL, global_pooling=pooling)
    small.set_weights(trained_looking(small))
    large = make(hidden_cnn_layers=layers, global_pooling=pooling, seed=5, weight_decay=0.0)
    large.set_weights(enlarged(small.named_weights(), large.named_weights()))
    planes = boards(large.game, 20)
    for mine, theirs in zip(large.predict(planes), small.predict(planes), strict=True):
        assert np.abs(theirs).max() > 0.01 and mine == pytest.approx(theirs, abs=1e-4)
    before = large.get_weights()
    policy = np.full((20, large.game.action_size), 0.0, np.float32)
    policy[:, 0] = 1.0
    large.fit(lambda step: Batch(planes, np.ones(20, np.float32), policy), 5)
    for (name, now), old in zip(large.named_weights(), before, strict=True):
        assert (now != old).any(), name
        if now.ndim == 4 and now.shape[2] == 12:
            assert (now != old)[:, :, 8:, : min(8, now.shape[3])].any(), f"{name}: old filters listen to new ones"


TOLD = "run0001 has another network: hidden_cnn_layers: .* expected, .* came .one with fewer filters"


@pytest.mark.parametrize("layers", [("8x3", "8x3"), ("4x3",) * 3, ("8x5",) * 3, ("12x3", "12x3")])
def test_a_network_that_does_not_hold_the_smaller_one_is_refused(layers, tmp_path):
    with Session.start(tiny(hidden_cnn_layers=SMALL), root=tmp_path):
        pass
    before = tree_of(tmp_path)
    with pytest.raises(UserError, match=TOLD) as error:
        Session.start(tiny(hidden_cnn_layers=layers), root=tmp_path, **BEGIN)
    assert "\n" not in str(error.value) and tree_of(tmp_path) == before


@pytest.mark.parametrize("given", [None, [], "8x3", ["8y3"], [8]])
def test_damaged_facts_of_the_other_network_are_told_in_one_line(given, tmp_path):
    with Session.start(tiny(), root=tmp_path) as session, session.store.transaction("facts"):
        facts = json.loads(session.store.get("model"))
        session.store.put("model", json.dumps({**facts, "hidden_cnn_layers": given}))
    with pytest.raises(UserError, match="run0001 has another network: hidden_cnn_layers"):
        Session.start(tiny(hidden_cnn_layers=LARGER[0]), root=tmp_path, **BEGIN)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_run_begins_with_a_smaller_network_and_its_games_and_learns_on(tmp_path, precision):
    small = tiny(hidden_cnn_layers=SMALL, iterations=1, precision=precision)
    with Session.start(small, root=tmp_path, console=QUIET) as session:
        train(session)
        asked = boards(session.game, 10)
        before, games = session.model.predict(asked), session.store.count_games()
    large = with_overrides(small, hidden_cnn_layers=LARGER[2], iterations=2)
    begin = {"INITIAL_RUN_NUMBER": 1, "INITIAL_MODEL_VERSION": 1, "INITIAL_MEMORY_VERSION": 1}
    with Session.start(large, root=tmp_path, console=QUIET, **begin) as session:
        assert session.store.count_games() == games > 0
        for mine, theirs in zip(session.model.predict(asked), before, strict=True):
            assert mine == pytest.approx(theirs, abs=1e-4)
        folder = session.folder
    with Session.open(folder, console=QUIET) as session:
        train(session)
        assert session.current_version == 2
        assert np.abs(session.model.predict(asked)[1] - before[1]).max() > 1e-3


def test_with_batch_normalisation_a_network_does_not_grow(tmp_path):
    small = tiny(hidden_cnn_layers=SMALL, normalisation="batch")
    with Session.start(small, root=tmp_path, console=QUIET):
        pass
    with pytest.raises(UserError, match="normalisation fixed"):
        Session.start(with_overrides(small, hidden_cnn_layers=LARGER[2]), root=tmp_path, **BEGIN)
