"""Whether variables of the environment and keras.json change what is answered.

    python benchmarks/surroundings.py [WORD ...]    # only the rows whose names have one of these words

Each row starts the program in other surroundings. It has to answer a search and two trainings to the last digit as it
does without them, or to be refused in one line with exit code 2. Exit code 1: a row does neither.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent.parent
Row = tuple[dict[str, str | None], Any]
TABLE: dict[str, Row] = {
    "keras.json: channels_first": ({}, {"image_data_format": "channels_first"}),
    "keras.json: float16": ({}, {"floatx": "float16"}),
    "keras.json: float64, epsilon": ({}, {"floatx": "float64", "epsilon": 0.01}),
    "keras.json: JAX": ({}, {"backend": "jax"}),
    "keras.json: of no meaning": ({}, {"floatx": "float99"}),
    "keras.json: no object": ({}, [1]),
    "KERAS_HOME that cannot be written": ({"KERAS_HOME": "/proc/nowhere"}, None),
    "KERAS_BACKEND=tensorflow": ({"KERAS_BACKEND": "tensorflow"}, None),
    "KERAS_BACKEND of no meaning": ({"KERAS_BACKEND": "nonsense", "KERAS_NNX_ENABLED": "1"}, None),
    "KERAS_MAX_STEPS_PER_EPOCH": ({"KERAS_MAX_STEPS_PER_EPOCH": "1", "KERAS_MAX_EPOCHS": "x"}, None),
    "JAX_, TORCH_: other numbers": ({"JAX_ENABLE_X64": "1", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE": "1"}, None),
    "TF_USE_LEGACY_KERAS": ({"TF_USE_LEGACY_KERAS": "1", "TF2_BEHAVIOR": "0"}, None),
    "TF_ENABLE_ONEDNN_OPTS=0": ({"TF_ENABLE_ONEDNN_OPTS": "0"}, None),
    "TF_XLA_FLAGS": ({"TF_XLA_FLAGS": "--tf_xla_auto_jit=2 --tf_xla_cpu_global_jit"}, None),
    "TF_XLA_FLAGS of no meaning": ({"TF_XLA_FLAGS": "--nonsense", "XLA_FLAGS": "--nonsense"}, None),
    "TF_DETERMINISTIC_OPS of no meaning": ({"TF_DETERMINISTIC_OPS": "nonsense"}, None),
    "TF_NUM_..._THREADS of no meaning": ({"TF_NUM_INTEROP_THREADS": "x", "TF_NUM_INTRAOP_THREADS": "y"}, None),
    "TF_NUM_..._THREADS=1": ({"TF_NUM_INTEROP_THREADS": "1", "TF_NUM_INTRAOP_THREADS": "1"}, None),
    "TF_CPP_MIN_LOG_LEVEL of no meaning": ({"TF_CPP_MIN_LOG_LEVEL": "x"}, None),
    "CUDA_VISIBLE_DEVICES of no meaning": ({"CUDA_VISIBLE_DEVICES": "nonsense"}, None),
    "oneDNN: another processor": ({"ONEDNN_MAX_CPU_ISA": "SSE41"}, None),
    "oneDNN: less exact, and a log": ({"ONEDNN_DEFAULT_FPMATH_MODE": "BF16", "ONEDNN_VERBOSE": "1"}, None),
    "OMP, KMP, MKL of no meaning": ({"OMP_NUM_THREADS": "abc", "KMP_AFFINITY": "x", "MKL_NUM_THREADS": "-1"}, None),
    "OMP and OpenBLAS: one thread": ({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}, None),
    "NUMBA_DISABLE_JIT": ({"NUMBA_DISABLE_JIT": "1"}, None),
    "numba: threads, levels, places": (
        {"NUMBA_NUM_THREADS": "0", "NUMBA_OPT": "9", "NUMBA_CACHE_LOCATOR_CLASSES": "Nonsense"}, None),
    "numba: other code": ({"NUMBA_DEBUG": "1", "NUMBA_BOUNDSCHECK": "1", "NUMBA_CPU_NAME": "generic"}, None),
    "Turkish": ({"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"}, None),
    "ASCII": ({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}, None),
    "hashes, another time zone": ({"PYTHONHASHSEED": "123", "TZ": "nonsense"}, None),
    "PYTHONOPTIMIZE": ({"PYTHONOPTIMIZE": "2"}, None),
    "warnings are errors": ({"PYTHONWARNINGS": "error"}, None),
    "a terminal of no meaning": ({"TERM": "nonsense", "COLUMNS": "x", "LINES": "-3"}, None),
    "no HOME": ({"HOME": None}, None),
    "HOME and TMPDIR that are nowhere": ({"HOME": "/proc/nowhere", "TMPDIR": "/proc/nowhere"}, None),
}  # fmt: skip
"""{name: (variables, content of keras.json or None)}; a variable that is None is not set."""


def answers() -> None:
    """Print what a search and two trainings give, with all digits."""
    from config import UserError

    try:
        from network import keras_import  # noqa: F401
    except UserError as error:
        sys.exit(print(f"error: {error}", file=sys.stderr) or 2)
    from interface.cli import run

    if code := run(["explain", "--game", "tictactoe", "--moves", "b2", "--sims", "50", "--json"]):
        sys.exit(code)
    import numpy as np

    from config import Config
    from games import make
    from model import make_network

    game, rng = make("tictactoe"), np.random.default_rng(0)
    planes = rng.integers(0, 2, (16, *game.input_shape)).astype(np.uint8)
    values, policy = rng.uniform(-1, 1, 16).astype(np.float32), np.eye(9, dtype=np.float32)[rng.integers(0, 9, 16)]
    owners = np.zeros((16, *game.grid_shape), np.int8)
    for precision, optimizer, normalisation in (("float32", "sgd", "batch"), ("bfloat16", "muon", "fixed")):
        network = make_network(Config(
            game="tictactoe", hidden_cnn_layers=("8x3",) * 2, precision=precision, optimizer=optimizer,  # type: ignore[arg-type]
            normalisation=normalisation, batch_size=16), game)  # type: ignore[arg-type] # fmt: skip
        losses = network.fit(lambda step: (planes, values, policy, owners), 3)  # type: ignore[arg-type,return-value]
        print(losses, [array.tolist() for array in network.predict(planes)])


ALL_SERVED = (
    "keras.json: channels_first", "KERAS_BACKEND=tensorflow", "KERAS_MAX_STEPS_PER_EPOCH", "TF_USE_LEGACY_KERAS",
    "TF_ENABLE_ONEDNN_OPTS=0", "TF_XLA_FLAGS of no meaning", "TF_DETERMINISTIC_OPS of no meaning",
    "TF_NUM_..._THREADS=1", "oneDNN: another processor", "OMP, KMP, MKL of no meaning",
    "numba: threads, levels, places", "hashes, another time zone", "warnings are errors", "a terminal of no meaning",
    "HOME and TMPDIR that are nowhere",
)  # fmt: skip
"""Rows that a test has all at once in one process."""


def together() -> Row:
    """Return the row of all these."""
    variables = {name: value for row in ALL_SERVED for name, value in TABLE[row][0].items()}
    return variables, {"image_data_format": "channels_first", "floatx": "float16", "epsilon": 0.01, "backend": "jax"}


def outcome(variables: dict[str, str | None], keras_json: Any) -> tuple[int, str, str]:
    """Return (exit code, output, errors) of `answers` in other surroundings."""
    with tempfile.TemporaryDirectory() as home:
        wanted = {**os.environ, "KERAS_HOME": home, **variables}
        if keras_json is not None:
            Path(home, "keras.json").write_text(json.dumps(keras_json))
        done = subprocess.run(
            [sys.executable, str(Path(__file__)), "--answers"], cwd=HERE, stdin=subprocess.DEVNULL, capture_output=True,
            env={name: value for name, value in wanted.items() if value is not None},
        )  # fmt: skip
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def verdict(found: tuple[int, str, str], usual: tuple[int, str, str]) -> str:
    """Return "equal", "refused" or what is wrong."""
    code, out, err = found
    if (code, out) == usual[:2] and "Traceback" not in err:
        return "equal"
    if code == 2 and not out and err.startswith("error: ") and err.count("\n") == 1:
        return "refused"
    return f"WRONG: exit code {code}, {err[-300:] or 'other numbers'}"


def main() -> int:
    usual, wrong = outcome({}, None), 0
    for name, row in TABLE.items():
        if sys.argv[1:] and not any(word in name for word in sys.argv[1:]):
            continue
        word = verdict(outcome(*row), usual)
        wrong += word.startswith("WRONG")
        print(f"{word:<8} {name}", flush=True)
    return int(usual[0] != 0 or wrong > 0)


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    if sys.argv[1:] != ["--answers"]:
        sys.exit(main())
    answers()
