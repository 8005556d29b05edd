"""The choice of Keras's back end, and what a run says of a change."""

import pytest

from config import UserError
from network import backend
from network.backend import chosen_backend, last_of, requirements_file, with_backend


def installed(monkeypatch, *names):
    monkeypatch.setattr(backend, "find_spec", lambda name: object() if name in (*names, "keras") else None)


@pytest.mark.parametrize("here, named, chosen", [
    (("tensorflow", "jax", "torch"), None, "tensorflow"), (("jax", "torch"), None, "jax"), (("torch",), "", "torch"),
    (("tensorflow", "jax"), "jax", "jax"), (("tensorflow", "torch"), "torch", "torch"),
])  # fmt: skip
def test_the_variable_decides_and_else_the_first_that_is_installed(monkeypatch, here, named, chosen):
    installed(monkeypatch, *here)
    monkeypatch.delenv("KERAS_BACKEND", raising=False)
    if named is not None:
        monkeypatch.setenv("KERAS_BACKEND", named)
    assert chosen_backend() == chosen


@pytest.mark.parametrize("here, named, told", [
    (("tensorflow",), "jax", "KERAS_BACKEND: jax is not installed; `pip install -r requirements-jax.txt`"),
    (("jax",), "torch", "KERAS_BACKEND: torch is not installed; `pip install -r requirements-torch.txt`"),
    (("jax",), "tensorflow", "KERAS_BACKEND: tensorflow is not installed; `pip install -r requirements.txt`"),
    ((), "", "tensorflow, jax and torch are not installed; `pip install -r requirements.txt`"),
    (("jax",), "theano", "KERAS_BACKEND: expected tensorflow, jax or torch, got 'theano'"),
    (("jax",), "openvino", "KERAS_BACKEND: expected tensorflow, jax or torch, got 'openvino'"),
])  # fmt: skip
def test_what_cannot_be_is_refused_in_one_line_with_what_to_do(monkeypatch, here, named, told):
    installed(monkeypatch, *here)
    monkeypatch.setenv("KERAS_BACKEND", named)
    with pytest.raises(UserError) as raised:
        chosen_backend()
    assert str(raised.value) == told


def test_each_back_end_has_its_file_of_packages():
    names = [requirements_file(name) for name in backend.BACKENDS]
    assert names == ["requirements.txt", "requirements-jax.txt", "requirements-torch.txt"]


def test_a_run_keeps_the_order_of_its_back_ends():
    history = ""
    for version, name in enumerate(["tensorflow", "tensorflow", "jax", "torch", "torch", "tensorflow"], 1):
        history = with_backend(history, name, version)
        assert last_of(history) == name
    assert history == "tensorflow, jax from version 3, torch from version 4, tensorflow from version 6"
