"""The only import of Keras on TensorFlow. It prints nothing, and the network is the same whatever the environment says.

Variables of the environment and `keras.json` change how Keras and TensorFlow compute. Those that would are replaced
before they load, and `own_settings` replaces Keras' global settings while a network is built, traced or trained.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from compiled import need_address_space, take_over
from config import UserError
from loggers import quiet_stderr
from network.predictor import cores

VARIABLES = {"KERAS_BACKEND": "tensorflow", "TF_ENABLE_ONEDNN_OPTS": "1"}
"""Variables of the environment that this program sets. Others that libraries of networks read change steps, numbers or
what is printed, or end the process where they are not understood: they are removed, but for KEPT."""
KEPT = ("KERAS_HOME", "TF_CPP_", "TF_FORCE_GPU_", "TF_GPU_")
"""How those begin that only say where things are, how much is logged, or how a GPU is used."""

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # 2 still warns of a missing GPU; failures are raised
if not {"keras", "tensorflow"} & set(sys.modules):  # otherwise they have read them
    take_over("KERAS_", "TF_", "TF2_", "ONEDNN_", "DNNL_", keep=KEPT, **VARIABLES)

need_address_space(2.6 + 0.2 * cores(), "a network")
try:
    with quiet_stderr():  # TensorFlow prints on import, below every log level
        import keras
        import tensorflow as tf
        from keras import layers, ops
except MemoryError:
    raise
except Exception as error:
    reason = (str(error).splitlines() or [""])[-1][:200]
    hint = "`python main.py doctor` examines the installation; Keras also reads ~/.keras/keras.json (or KERAS_HOME)"
    raise UserError(f"Keras on TensorFlow cannot be loaded ({type(error).__name__}: {reason}); {hint}") from error

if keras.config.backend() != "tensorflow":  # loaded before this module, as in a notebook
    raise UserError(f"expected Keras on TensorFlow, it was loaded on {keras.config.backend()}: restart without that")

_OWN: list[tuple[Any, Any, Any]] = [
    (keras.config.floatx, keras.config.set_floatx, "float32"),
    (keras.config.epsilon, keras.config.set_epsilon, 1e-7),
    (keras.config.image_data_format, keras.config.set_image_data_format, "channels_last"),
    (keras.config.max_epochs, keras.config.set_max_epochs, None),
    (keras.config.max_steps_per_epoch, keras.config.set_max_steps_per_epoch, None),
]
"""(read, write, the value here) of each of Keras' global settings; the dtype policy is each thread's."""
_LOCK = threading.Lock()
_INSIDE: list[list[Any]] = []
"""For each thread inside `own_settings`, the settings to which the last one to leave returns."""


@contextmanager
def own_settings() -> Iterator[None]:
    """Let Keras use this program's settings, in this block or function, whatever a notebook or keras.json has set."""
    policy = keras.config.dtype_policy()
    with _LOCK:
        _INSIDE.append(_INSIDE[0] if _INSIDE else [read() for read, _, _ in _OWN])
        for _, write, value in _OWN:
            write(value)
    keras.config.set_dtype_policy("float32")
    try:
        yield
    finally:
        keras.config.set_dtype_policy(policy)
        with _LOCK:
            before = _INSIDE.pop()
            if not _INSIDE:
                for (_, write, _), value in zip(_OWN, before, strict=True):
                    write(value)


def settings_elsewhere() -> list[str]:
    """Return Keras' global settings outside `own_settings` that differ from those inside, as texts."""
    pairs = [(read.__name__, read(), value) for read, _, value in _OWN]
    pairs.append(("dtype_policy", keras.config.dtype_policy().name, "float32"))
    return [f"{name} {found}" for name, found, value in pairs if found != value]


__all__ = ["keras", "layers", "ops", "own_settings", "settings_elsewhere", "tf"]
