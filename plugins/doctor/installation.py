"""Checks of an installation: versions, back end, compiled code, processor, disk, GPU, speed of the network."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
import tempfile
import time
from importlib import metadata

import numpy as np

from config import VERSION, with_overrides
from memory import Memory, learns_ownership
from network.backend import BACKENDS, chosen_backend, requirements_file
from network.choose_predictor import gpus, make_predictor, openvino_installed
from network.cpu_features import native_bfloat16
from network.predictor import STEADY, TOLERANCE, cores, measure_raw
from plugins.doctor.examination import Found, Patient
from system.machine import free_memory, nvidia_cards
from system.place import HERE, requirements
from training.device_plan import measured_plan
from training.estimate import memory_needs

PYTHON = (3, 11), (3, 14)
OPTIONAL = {"openvino", "matplotlib", "ipykernel", "notebook"}
"""Packages that training and play do not need."""
READ_BY_LIBRARIES = ("KERAS_", "TF_", "JAX_", "XLA_", "TORCH", "PYTORCH_", "CUDA_", "OMP_", "KMP_", "MKL_", "OPENBLAS_",
                     "NUMBA_")  # fmt: skip
OTHER_NAMES = {"tensorflow": ("tensorflow-cpu", "tensorflow-macos", "tensorflow-intel")}
LEAST_DISK = 2**30
SLOW = 0.2
"""Fraction of the rate of numpy's matrix product below which the network is slow: a tenth of what was measured."""


def program(patient: Patient) -> Found:
    return Found(True, VERSION)


def python(patient: Patient) -> Found:
    low, high = PYTHON
    return Found(
        low <= sys.version_info[:2] <= high, platform.python_version(),
        f"{low[0]}.{low[1]} to {high[0]}.{high[1]}",
        "install Python 3.13, then `python3.13 -m venv --clear .venv` and ./train.sh",
    )  # fmt: skip


def backend(patient: Patient) -> Found:
    """The library that Keras computes with."""
    if installed_version("keras") is None:
        return Found(True, "no Keras: play needs none")
    name = chosen_backend()
    others = [other for other in BACKENDS if other != name and installed_version(other)]
    more = f"; KERAS_BACKEND may also be {' or '.join(others)}" if others else ""
    return Found(True, f"Keras on {name} {installed_version(name) or ''}{more}")


def applies(marker: str) -> bool:
    """Return whether a line of requirements with such a marker is for this machine and Python."""
    if match := re.fullmatch(r'python_version (<|>=) "3\.([0-9]+)"', marker):
        return (sys.version_info[1] < int(match[2])) == (match[1] == "<")
    return not marker or platform.machine() in marker


def libraries(patient: Patient) -> Found:
    plays = installed_version("keras") is None and installed_version("numba") is not None
    file = "requirements-play.txt" if plays else requirements_file(chosen_backend())
    what = "; training needs requirements.txt" if plays else ""
    wrong: list[str] = []
    missing: list[str] = []
    seen = 0
    for line in (HERE / file).read_text(encoding="utf-8").splitlines():
        text, _, marker = line.split("#")[0].strip().partition(";")
        if not text or not applies(marker.strip()):
            continue
        name, bounds = re.split("(?=>=)", text.strip(), maxsplit=1)
        version = installed_version(name)
        seen += 1
        if version is None:
            (missing if name in OPTIONAL else wrong).append(f"{name} (not installed)")
        elif not within(version, bounds):
            wrong.append(f"{name} {version} ({bounds} wanted)")
    without = f"; without: {', '.join(missing)}" if missing else ""
    return Found(
        not wrong, ", ".join(wrong) or f"{seen - len(missing)} within the bounds of {file}{without}{what}",
        f"the versions of {file}", f"pip install -r {requirements(file)}",
    )  # fmt: skip


def within(version: str, bounds: str) -> bool:
    """Return whether a version is within bounds as the requirements files have them.

    >>> within("2.10.1", ">=2.9,<3"), within("3.0rc1", ">=2.9,<3")
    (True, False)
    """
    low, high = bounds.removeprefix(">=").split(",<")
    return _numbers(low) <= _numbers(version) < _numbers(high)


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.match(r"[0-9]+(\.[0-9]+)*", version)[0].split(".")]  # type: ignore[index]


def installed_version(name: str) -> str | None:
    """Return the version of a library, None when it is not installed."""
    for known in (name, *OTHER_NAMES.get(name, ())):
        try:
            return metadata.version(known)
        except metadata.PackageNotFoundError:
            continue
    return None


def environment(patient: Patient) -> Found:
    """What is set outside and could have changed this program; by name, as a value may be a secret. It is no fault."""
    from compiling.environment import ENVIRONMENT
    from network.keras_import import VARIABLES, settings_elsewhere

    others = {name for name in os.environ if name.startswith(READ_BY_LIBRARIES)} - VARIABLES.keys()
    parts = {
        "replaced or removed": sorted(ENVIRONMENT),
        "not used, of keras.json or a notebook": settings_elsewhere(),
        "left as they are": sorted(others),
    }
    found = "; ".join(f"{title}: {', '.join(texts)}" for title, texts in parts.items() if texts)
    return Found(True, found or "no variable that these libraries read")


def openvino(patient: Patient) -> Found:
    """OpenVINO evaluates as Keras does."""
    if patient.config.backend in ("keras", "onnxruntime") or gpus():
        return Found(True, "not used with this backend or GPU")
    expected = "an OpenVINO that answers as Keras does"
    if not openvino_installed():
        return Found(False, "not installed", expected, "pip install openvino: answers several times faster on a CPU")
    planes = np.stack([state.planes() for state in patient.positions])
    values, logits = (a.copy() for a in make_predictor(patient.model, backend="openvino")(planes))
    keras_values, keras_logits = patient.model.predict(planes)
    centred = (logits - logits.mean(1, keepdims=True)) - (keras_logits - keras_logits.mean(1, keepdims=True))
    value_error, logit_error = float(np.abs(values - keras_values).max()), float(np.abs(centred).max())
    most = TOLERANCE["float32"]
    return Found(
        value_error <= most[0] and logit_error <= most[1],
        f"differs from Keras by {value_error:.1e} in values, {logit_error:.1e} in logits",
        f"{expected} (at most {most[0]:g} and {most[1]:g})", "pip install --upgrade openvino, or --backend keras",
    )  # fmt: skip


def compiled_code(patient: Patient) -> Found:
    """Compiled code is kept, so that the next start compiles nothing."""
    from compiling.cache_folder import FOLDER
    from MCTS import MCTS

    mcts = MCTS(patient.game, sims=8)
    mcts.set_root(patient.game.start())
    mcts.search(lambda p: (np.zeros(len(p), np.float32), np.zeros((len(p), patient.game.action_size), np.float32)), 8)
    expected, remedy = "a folder that keeps compiled code", f"make {FOLDER} writable, or set NUMBA_CACHE_DIR"
    try:
        with tempfile.TemporaryFile(dir=FOLDER):
            kept = len(list(FOLDER.rglob("*.nbc")))
    except OSError as error:
        return Found(False, f"{FOLDER}: cannot be written ({error.strerror})", expected, remedy)
    return Found(kept > 0, f"{kept} functions kept in {FOLDER.name}", expected, remedy)


def processor(patient: Patient) -> Found:
    native = native_bfloat16()
    words = f"{cores()} of {os.cpu_count()} processors, bfloat16 {'in' if native else 'not in'} hardware"
    return Found(
        native or patient.config.precision != "bfloat16" or bool(gpus()), words,
        "bfloat16 only where the processor computes it", "--precision auto",
    )  # fmt: skip


def memory(patient: Patient) -> Found:
    c, game = patient.config, patient.game
    window = Memory(game, 1, ownership=learns_ownership(c, game))
    need = c.memory_size * window.bytes_per_position + memory_needs(game, c).most
    free = free_memory()
    return Found(
        free is None or free > need, f"{gib(need)} needed, {gib(free) if free is not None else 'unknown'} free",
        "as much as window, search and network need", "a smaller --memory-size, --games-in-flight or --mcts-sims",
    )  # fmt: skip


def disk(patient: Patient) -> Found:
    place = next(p for p in (patient.folder, *patient.folder.absolute().parents) if p.exists())
    free = shutil.disk_usage(place).free
    writable = os.access(place, os.W_OK)
    words = f"{gib(free)} free in {place}{'' if writable else ', which cannot be written'}"
    elsewhere = "ALPHAZERO_RUNS=FOLDER keeps runs elsewhere"
    return Found(
        free >= LEAST_DISK and writable, words, f"a folder with {gib(LEAST_DISK)} for runs",
        f"make room there or delete old runs; {elsewhere}" if writable else f"make it writable; {elsewhere}",
    )  # fmt: skip


def gib(count: float) -> str:
    return f"{count / 2**30:.1f} GiB"


def gpu(patient: Patient) -> Found:
    present, used = nvidia_cards(), gpus()
    plan = ""
    if used:
        predictor = make_predictor(patient.model, backend=patient.config.backend, streams=cores(), smallest=STEADY)
        plan = f"; {measured_plan(patient.game, patient.config, predictor).words()}"
    return Found(
        bool(used) or not present, f"{present} in the machine, {len(used)} used by {chosen_backend()}{plan}",
        "every graphics card used",
        "pip install 'tensorflow[and-cuda]' (or 'jax[cuda13]', torch) and a driver that fits it; see nvidia-smi",
    )  # fmt: skip


def speed(patient: Patient) -> Found:
    """The network computes at a good fraction of the processor's matrix product, in turns and each at its best."""
    from model import make_network

    settings = {"network": None, "hidden_cnn_layers": ("64x3",) * 4, "precision": "float32", "normalisation": "fixed",
                "ownership_weight": 0.0, "soft_policy_weight": 0.0}  # fmt: skip
    model = make_network(with_overrides(patient.config, **settings), patient.game)
    predictor = make_predictor(model, backend=patient.config.backend)
    work = operations(model.get_weights(), patient.game.grid_shape)
    rate, multiplied = 0.0, 0.0
    for _ in range(3):
        rate = max(rate, measure_raw(predictor, patient.game.input_shape, 256, 1, seconds=0.3))
        multiplied = max(multiplied, multiplications())
    share = rate * work / multiplied
    told = f"{100 * share:.0f} % of" if share < 1 else f"{share:.1f} times"  # by libraries faster than numpy's
    words = f"{rate:,.0f} evaluations/s by {predictor.name}, {told} the rate of numpy's matrix product"
    return Found(
        share >= SLOW, f"{words} ({multiplied / 1e9:,.0f} billion operations/s)", f"at least {100 * SLOW:.0f} %",
        "`python main.py bench`; --backend auto, and no other work on the processor",
    )  # fmt: skip


def operations(weights: list[np.ndarray], board: tuple[int, int]) -> float:
    """Return multiplications and additions of an evaluation: kernels at every point of the board, matrices once."""
    return float(sum(2 * w.size * (np.prod(board) if w.ndim == 4 else 1) for w in weights if w.ndim >= 2))


def multiplications(size: int = 1024, seconds: float = 0.2) -> float:
    """Return operations per second of float32 matrix products in numpy, at their fastest."""
    a = np.random.default_rng(0).normal(size=(size, size)).astype(np.float32)
    out = a @ a
    count, began = 0, time.perf_counter()
    while (spent := time.perf_counter() - began) < seconds or not count:
        np.matmul(a, a, out=out)
        count += 1
    return 2.0 * size**3 * count / max(spent, 1e-9)


CHECKS = {
    "program": program, "python": python, "back end": backend, "libraries": libraries, "environment": environment,
    "openvino": openvino, "compiled code": compiled_code, "processor": processor, "memory": memory, "disk": disk,
    "gpu": gpu, "network speed": speed,
}  # fmt: skip
