"""A network that grows: what it answers stays the same, and what is new can learn."""

import numpy as np
import pytest

from config import UserError, with_overrides
from growing import enlarged
from initialise import Session
from networks import make
from tiny import boards, tiny, trained_looking

SMALL = ("8x3", "8x3", "8x3")
LARGER = [("8x3", "8x3", "8x3", "8x3", "8x3"), ("12x3", "12x3", "12x3"), ("12x3", "12x3", "12x3", "12x3")]


@pytest.mark.parametrize("layers", LARGER)
@pytest.mark.parametrize("pooling", [False, True])
def test_a_larger_network_answers_as_the_smaller_one_and_all_of_it_learns(layers, pooling):
    small = make(hidden_cnn_layers=SMALL, global_pooling=pooling)
    small.set_weights(trained_looking(small))
    large = make(hidden_cnn_layers=layers, global_pooling=pooling, seed=5)
    large.set_weights(enlarged(small.named_weights(), large.named_weights()))
    planes = boards(large.game, 20)
    for mine, theirs in zip(large.predict(planes), small.predict(planes), strict=True):
        assert np.abs(theirs).max() > 0.01 and mine == pytest.approx(theirs, abs=1e-4)
    before = large.get_weights()
    policy = np.full((20, large.game.action_size), 0.0, np.float32)
    policy[:, 0] = 1.0
    large.fit(lambda step: (planes, np.ones(20, np.float32), policy), 5)
    still = [name for (name, now), old in zip(large.named_weights(), before, strict=True) if (now == old).all()]
    assert not still
    for (name, now), old in zip(large.named_weights(), before, strict=True):
        if "conv" in name and now.ndim == 4 and now.shape[2] == 12:
            assert (now != old)[:, :, 8:].any(), f"{name} listens to new filters"


@pytest.mark.parametrize("layers", [("8x3", "8x3"), ("4x3",) * 3, ("8x5",) * 3])
def test_a_network_that_does_not_hold_the_smaller_one_is_refused(layers):
    small, other = make(hidden_cnn_layers=SMALL), make(hidden_cnn_layers=layers)
    with pytest.raises(UserError, match="grows by filters and blocks"):
        enlarged(small.named_weights(), other.named_weights())


@pytest.mark.parametrize("normalisation", ["fixed", "batch"])
def test_a_run_begins_with_a_smaller_network_of_another_run(tmp_path, normalisation):
    small = tiny(hidden_cnn_layers=SMALL, normalisation=normalisation)
    with Session.start(small, root=tmp_path) as session:
        session.model.set_weights(trained_looking(session.model))
        with session.store.transaction("version"):
            session.save_version(1, 1, {})
        asked = boards(session.game, 10)
        before = session.model.predict(asked)
    large = with_overrides(small, hidden_cnn_layers=LARGER[2])
    begin = {"root": tmp_path, "INITIAL_RUN_NUMBER": 1, "INITIAL_MODEL_VERSION": 1}
    if normalisation == "batch":  # a new block would not add nothing
        with pytest.raises(UserError, match="another network: hidden_cnn_layers"):
            Session.start(large, **begin)
        return
    with Session.start(large, **begin) as session:
        for mine, theirs in zip(session.model.predict(asked), before, strict=True):
            assert mine == pytest.approx(theirs, abs=1e-4)
