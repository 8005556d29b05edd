"""The network is the same whatever keras.json and the environment set for Keras, TensorFlow and numba."""

import pytest

from benchmarks import surroundings
from support.systems import needs_tensorflow


@pytest.fixture(scope="module")
def usual():
    return surroundings.outcome({}, None)


@needs_tensorflow
def test_variables_and_keras_json_change_no_digit(usual):
    assert usual[0] == 0 and usual[1].count("\n") == 3, usual
    assert surroundings.verdict(surroundings.outcome(*surroundings.together()), usual) == "equal"


@pytest.mark.parametrize("row", ["keras.json: no object", "KERAS_BACKEND of no meaning", "NUMBA_DISABLE_JIT"])
def test_what_cannot_be_served_is_refused_in_one_line(row):
    assert surroundings.verdict(surroundings.outcome(*surroundings.TABLE[row]), (0, "", "")) == "refused"
