"""TensorFlow, JAX and Torch, each in a process of its own: the same answers and steps from the same weights."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from network.backend import BACKENDS
from network.cpu_features import native_bfloat16
from network.predictor import TOLERANCE
from support.systems import needs_tensorflow

HERE = Path(__file__).parents[3]


CLOSE = {"sgd": 1e-5, "muon": 2e-4, "adamw": 2e-3}
"""Largest difference of a weight after up to four steps at rates up to 0.02; AdamW enlarges the smallest gradients."""


def needs(name):
    reason = f"{name} is not installed; `pip install -r requirements-dev.txt` brings it"
    return pytest.param(name, marks=pytest.mark.skipif(find_spec(name) is None, reason=reason))


OTHERS = [needs(name) for name in BACKENDS if name != "tensorflow"]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Return a function: the arrays of support/backend_run.py on a back end, computed once."""
    known, folder = {}, tmp_path_factory.mktemp("backends")

    def of(name):
        if name not in known:
            path = folder / f"{name}.npz"
            command = [sys.executable, "-m", "support.backend_run", str(path)]
            environment = {**os.environ, "KERAS_BACKEND": name, "JAX_ENABLE_X64": "1",
                           "PYTHONPATH": os.pathsep.join([str(HERE), str(HERE / "tests")])}  # fmt: skip
            done = subprocess.run(command, cwd=HERE, env=environment, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr[-3000:]
            with np.load(path, allow_pickle=False) as arrays:
                known[name] = {key: arrays[key] for key in arrays.files}
        return known[name]

    return of


def centred(name, array):
    return array - array.mean(axis=1, keepdims=True) if "logits" in name else array


@needs_tensorflow
@pytest.mark.parametrize("name", [needs(name) for name in BACKENDS])
def test_the_compiled_predictor_answers_as_keras_does_and_as_on_tensorflow(results, name):
    found, reference = results(name), results("tensorflow")
    limits = dict(zip(("value", "logits"), TOLERANCE["float32"], strict=True))
    compared = [key for key in found if key.startswith("ours ")]
    assert len(compared) == 8
    for key in compared:
        limit = limits[key.split()[1]]
        for right in (found, reference):
            expected = right[key.replace("ours", "keras")]
            assert np.abs(centred(key, found[key]) - centred(key, expected)).max() <= limit, key
    assert np.abs(found["ours value 0 70"] - found["ours value 1 70"]).max() > 0.1, "new weights, new answers"


@needs_tensorflow
@pytest.mark.parametrize("optimizer", ["sgd", "adamw", "muon"])
@pytest.mark.parametrize("name", OTHERS)
def test_a_training_is_that_of_tensorflow_step_by_step(results, name, optimizer):
    found, reference = results(name), results("tensorflow")
    keys = [key for key in reference if key.startswith(f"{optimizer} ")]
    assert [key for key in found if key.startswith(f"{optimizer} ")] == keys, "the same arrays in the same order"
    first = [key for key in keys if " step1 " in key]
    assert len(first) > 10
    for key in keys:
        assert found[key].shape == reference[key].shape, key
        if not key.endswith("policy_points.bias"):  # it moves all logits alike: a gradient of rounding errors only
            assert np.abs(found[key] - reference[key]).max() <= CLOSE[optimizer], key
    for key in first:  # the second step has rate 0, the third has not; only momentum goes on without a rate
        one, two, three = (found[key.replace("step1", f"step{step}")] for step in (1, 2, 3))
        assert optimizer == "sgd" or "bn." in key or np.array_equal(one, two), key
        assert not np.array_equal(two, three), key


@pytest.mark.parametrize("name", OTHERS)
def test_steps_are_those_of_keras(results, name):
    found = results(name)
    keys = [key for key in found if key.startswith("step ")]
    assert len(keys) > {"jax": 50, "torch": 100}[name]
    for key in keys:
        other = found[key.replace("step", "keras", 1)]
        assert found[key] == pytest.approx(other, abs=2e-3 if "bfloat16" in key else 1e-5), key


@pytest.mark.parametrize("name", [needs(name) for name in BACKENDS])
def test_each_step_draws_other_random_numbers(results, name):
    assert len(set(results(name)["losses of noise"].tolist())) == 3


@needs_tensorflow
@pytest.mark.parametrize("name", OTHERS)
def test_bfloat16_is_trained_as_well(results, name):
    assert results(name)["bfloat16"] == pytest.approx(results("tensorflow")["bfloat16"], rel=0.05)


@needs_tensorflow
@pytest.mark.parametrize("name", [needs(name) for name in BACKENDS])
def test_what_moves_all_logits_alike_has_the_gradient_of_float32_in_bfloat16(results, name):
    """Added up in bfloat16, it was wrong by two thirds of its size on JAX, and training diverged within 200 steps.

    What the layers below round leaves 3 to 5 %, but 19 % with TensorFlow on a processor that has bfloat16.
    """
    right, found = results("tensorflow")["float32 gradient"], results(name)["bfloat16 gradient"]
    most = 0.3 if name == "tensorflow" and native_bfloat16() else 0.1
    assert np.linalg.norm(found - right) < most * np.linalg.norm(right)
