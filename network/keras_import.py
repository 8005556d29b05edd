"""The only import of Keras. It prints nothing, and the network is the same whatever the environment says.

Variables of the environment and `keras.json` change how Keras and its back end compute. Those that would are replaced
before they load, and `own_settings` replaces Keras' global settings while a network is built, traced or trained.
"""

from __future__ import annotations

import os
import random
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from compiling.environment import Without, need_address_space, take_over
from config import UserError
from loggers import quiet_stderr
from network.backend import BACKENDS, chosen_backend
from network.predictor import cores
from system.collector import loading

BACKEND = chosen_backend()
"""The library that Keras computes with: tensorflow, jax or torch."""
_PLACES = ("--xla_gpu_cuda_data_dir=",)
"""How those of XLA_FLAGS begin that only say where things are; the others change numbers, or end the process."""
_FLAGS = [flag for flag in os.environ.get("XLA_FLAGS", "").split() if flag.startswith(_PLACES)]
VARIABLES = {"KERAS_BACKEND": BACKEND, "TF_ENABLE_ONEDNN_OPTS": "1", "XLA_FLAGS": " ".join(_FLAGS)}
"""Variables of the environment that this program sets. Others that libraries of networks read change steps, numbers
(JAX_ENABLE_X64, TORCH_ALLOW_TF32_CUBLAS_OVERRIDE) or what is printed, or end the process where they are not
understood: they are removed, but for KEPT."""
KEPT = ("KERAS_HOME", "KERAS_TORCH_DEVICE", "TF_CPP_", "TF_FORCE_GPU_", "TF_GPU_", "JAX_PLATFORM", "JAX_CUDA_VISIBLE_",
        "JAX_ROCM_VISIBLE_", "JAX_COMPILATION_CACHE_DIR", "XLA_PYTHON_CLIENT_", "TORCH_HOME",
        "TORCHINDUCTOR_CACHE_DIR")  # fmt: skip
"""How those begin that only say where things are, how much is logged, which device is used, or how its memory is."""
UNUSED = ["matplotlib", *({"tensorflow": ["jax", "sklearn"], "jax": ["sklearn"], "torch": ["jax"]}[BACKEND])]
"""What Keras and TensorFlow load where it is installed, for conversions, pictures and wrappers that are not used here:
up to a third of the time that they take to be imported. Torch asks where scikit-learn lies, and has to find it."""

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # 2 still warns of a missing GPU; failures are raised
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # JAX: workers share the GPU with the training
if BACKEND == "torch":  # threads that wait by spinning take the cores from self-play
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
if not {"keras", *BACKENDS} & set(sys.modules):  # otherwise they have read them
    take_over("KERAS_", "TF_", "TF2_", "ONEDNN_", "DNNL_", "JAX_", "XLA_", "TORCH", "ATEN_", keep=KEPT, **VARIABLES)

need_address_space({"tensorflow": 2.6, "jax": 3.2, "torch": 5.2}[BACKEND] + 0.2 * cores(), "a network")
try:
    with loading(), quiet_stderr(), Without(*UNUSED):  # TensorFlow prints on import, below every log level
        import keras
        from keras import layers, ops
except MemoryError:
    raise
except Exception as error:
    reason = (str(error).splitlines() or [""])[-1][:200]
    hint = "`python main.py doctor` examines the installation; Keras also reads ~/.keras/keras.json (or KERAS_HOME)"
    raise UserError(f"Keras on {BACKEND} cannot be loaded ({type(error).__name__}: {reason}); {hint}") from error

if keras.config.backend() != BACKEND:  # loaded before this module, as in a notebook
    raise UserError(f"expected Keras on {BACKEND}, it was loaded on {keras.config.backend()}: restart without that, "
                    f"or with KERAS_BACKEND={keras.config.backend()}")  # fmt: skip

if BACKEND == "jax":
    from network.kept_programs import keep_programs

    keep_programs()

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


def gpus() -> list[str]:
    """Return the names of the GPUs that the back end uses."""
    if BACKEND == "torch":  # the one on which Keras puts its arrays
        device = str(ops.zeros(1).device)
        return [] if device == "cpu" else [device]
    try:
        return [str(device) for device in keras.distribution.list_devices("gpu")]
    except RuntimeError:  # JAX without one
        return []


def set_seed(seed: int) -> None:
    """Let the weights of the networks made from now on follow from a seed, on one back end."""
    if BACKEND == "tensorflow":
        keras.utils.set_random_seed(seed)
    else:  # that would load TensorFlow where it is installed; layers draw their seeds from here
        random.seed(seed)


__all__ = ["BACKEND", "gpus", "keras", "layers", "ops", "own_settings", "set_seed", "settings_elsewhere"]
