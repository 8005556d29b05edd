"""The network is the same whatever a notebook has set for Keras; where memory is too little one line says so."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from compiling.environment import need_address_space
from config import UserError
from network.choose_predictor import make_predictor
from network.keras_import import keras, own_settings, settings_elsewhere
from support.small_networks import make
from support.systems import needs_posix, needs_tensorflow

MAIN = str(Path(__file__).parents[3] / "main.py")
CHANGES = {
    "floatx": "float16", "epsilon": 0.01, "image_data_format": "channels_first", "max_epochs": 1,
    "max_steps_per_epoch": 1,
}  # fmt: skip


@pytest.fixture
def of_a_notebook():
    """Return a function that changes Keras' global settings as a notebook's first cell may; they are undone after."""
    before = {name: getattr(keras.config, name)() for name in CHANGES}
    policy = keras.config.dtype_policy()

    def change():
        for name, value in CHANGES.items():
            getattr(keras.config, f"set_{name}")(value)
        keras.config.set_dtype_policy("mixed_float16")

    yield change
    for name, value in before.items():
        getattr(keras.config, f"set_{name}")(value)
    keras.config.set_dtype_policy(policy)


def answers(backend, **settings):
    """Return what a network answers before and after a training, its losses and its weights."""
    model, rng = make("tictactoe", hidden_cnn_layers=("8x3",) * 2, batch_size=16, **settings), np.random.default_rng(0)
    planes = rng.integers(0, 2, (16, *model.game.input_shape)).astype(np.uint8)
    policy = np.eye(9, dtype=np.float32)[rng.integers(0, 9, 16)]
    batch = planes, rng.uniform(-1, 1, 16).astype(np.float32), policy, np.zeros((16, 3, 3), np.int8)
    asked = [*make_predictor(model, backend=backend)(planes)]
    losses = model.fit(lambda step: batch, 3)
    return [*asked, *model.predict(planes), np.array(list(losses.values())), *model.get_weights()]


@pytest.mark.parametrize("backend, settings", [
    ("keras", {"precision": "float32", "normalisation": "batch", "optimizer": "sgd"}),
    ("openvino", {"precision": "bfloat16", "normalisation": "fixed", "optimizer": "muon"}),
])  # fmt: skip
def test_a_network_is_the_same_after_a_notebook_has_changed_keras(of_a_notebook, backend, settings):
    if backend == "openvino":
        pytest.importorskip("openvino")
    usual = answers(backend, **settings)
    of_a_notebook()
    found = answers(backend, **settings)
    assert all(map(np.array_equal, found, usual)) and len(found) == len(usual)
    assert {name: getattr(keras.config, name)() for name in CHANGES} == CHANGES, "the notebook keeps its own"
    assert keras.config.dtype_policy().name == "mixed_float16" and len(settings_elsewhere()) == 6


def test_keras_settings_return_when_the_last_of_several_has_left(of_a_notebook):
    of_a_notebook()
    first, second = own_settings(), own_settings()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert keras.config.floatx() == "float32" and keras.config.image_data_format() == "channels_last"
    second.__exit__(None, None, None)
    assert keras.config.floatx() == "float16" and keras.config.image_data_format() == "channels_first"


@needs_tensorflow
def test_a_keras_that_was_loaded_on_something_else_is_refused(tmp_path):
    """A notebook may have loaded Keras with KERAS_BACKEND=jax."""
    (tmp_path / "keras.py").write_text(
        "class config:\n    backend = staticmethod(lambda: 'jax')\n\nlayers = ops = None\n"
    )
    (tmp_path / "tensorflow.py").touch()
    code = f"import sys; sys.path[:0] = [{str(tmp_path)!r}, '.']; import network.keras_import"
    done = subprocess.run([sys.executable, "-c", code], cwd=Path(MAIN).parent, capture_output=True, text=True)
    assert done.stderr.splitlines()[-1] == (
        "config.UserError: expected Keras on tensorflow, it was loaded on jax: restart without that, or with "
        "KERAS_BACKEND=jax"
    )


@pytest.mark.parametrize("backend", [name for name in ("tensorflow", "torch") if find_spec(name)])
def test_keras_loads_no_library_that_nothing_here_uses(tmp_path, backend):
    """They are there: packages of these names, which say that they were loaded."""
    for name in ("jax", "matplotlib", "sklearn"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f"print({name!r})\n")
    code = "import sys, network.keras_import as of; print([n for n in of.UNUSED if n in sys.modules], len(of.UNUSED))"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "KERAS_BACKEND": backend}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=Path(MAIN).parent, env=environment, capture_output=True, text=True)
    *loaded, said = done.stdout.splitlines()
    assert (loaded, said) == ([], "[] 3") if backend == "tensorflow" else (loaded, said) == (["sklearn"], "[] 2")


# ---- memory


@needs_posix
@pytest.mark.parametrize("limit, argv", [
    (400_000, ["match", "random", "rollout:8", "--game", "tictactoe"]),
    (1_300_000, ["play", "--game", "tictactoe"]),
    (2_300_000, ["--game", "tictactoe", "--preset", "tiny", "--new"]),
])  # fmt: skip
def test_where_memory_is_too_little_one_line_says_so(tmp_path, limit, argv):
    """A library that gets no more of it would end the process."""
    command = ["sh", "-c", f'ulimit -v {limit}; exec "$0" "$@"', sys.executable, MAIN, *argv]
    done = subprocess.run(command, env={**os.environ, "ALPHAZERO_RUNS": str(tmp_path)}, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=300)  # fmt: skip
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("error: not enough memory: ") and "`ulimit -v` leaves" in done.stderr


def test_memory_without_a_limit_is_enough(monkeypatch):
    resource = pytest.importorskip("resource")
    limits = iter([resource.RLIM_INFINITY, 2**60, 2**30])
    monkeypatch.setattr(resource, "getrlimit", lambda what: (next(limits), 0))
    need_address_space(5.0, "a network")
    need_address_space(5.0, "a network")
    with pytest.raises(UserError, match="a network needs 5.0 GiB of address space, `ulimit -v` leaves"):
        need_address_space(5.0, "a network")
