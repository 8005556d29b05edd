"""A run that begins on TensorFlow and continues under JAX and Torch."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from network.backend import trained_by
from storage.run_folders import find_run
from storage.run_store import Store
from storage.verify import verify
from support.command_line import SMALL, output_of

pytestmark = pytest.mark.keras

HERE = Path(__file__).parents[3]
ABSENT = [name for name in ("jax", "torch") if find_spec(name) is None]


@pytest.mark.skipif(bool(ABSENT), reason=f"not installed: {', '.join(ABSENT)}; see requirements-dev.txt")
def test_a_run_goes_on_under_another_back_end_and_says_so(tmp_path, monkeypatch, capsys):
    def main(backend, *argv):
        environment = {**os.environ, "KERAS_BACKEND": backend, "ALPHAZERO_RUNS": str(tmp_path)}
        done = subprocess.run([sys.executable, "main.py", *argv], cwd=HERE, env=environment, capture_output=True,
                              text=True, check=False)  # fmt: skip
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        return done.stdout + done.stderr

    said = []
    for iteration, backend in enumerate(["tensorflow", "jax", "torch"], 1):
        begin = ["--new"] if iteration == 1 else ["--run", "1"]
        shown = main(backend, "--game", "tictactoe", *SMALL, "--backend", "keras", "--weight-average", "0.9",
                    "--iterations", str(iteration), *begin)  # fmt: skip
        assert f"keras {backend} float32" in shown
        said.append([line for line in shown.splitlines() if "is trained on" in line])
    assert [len(lines) for lines in said] == [0, 1, 1]
    assert "version 2 is trained on jax, those before on tensorflow" in said[1][0]
    folder = find_run("tictactoe", 1, tmp_path)
    log = (folder / "logs" / "logger_main.log").read_text()
    assert log.count("is trained on") == 2 and "version 3 is trained on torch, those before on jax" in log
    store = Store(folder / "run.db", read_only=True)
    history = "tensorflow, jax from version 2, torch from version 3"
    assert trained_by(store) == history and [v.version for v in store.versions()] == [0, 1, 2, 3]
    losses = [json.loads(version.losses)["loss"] for version in store.versions()[1:]]
    store.close()
    assert len(set(losses)) == 3 and all(0 < loss < 10 for loss in losses)
    found = verify(folder)
    assert found.damage == [] and found.backend == history and found.iterations == 3
    monkeypatch.setattr("storage.run_folders.RUNS", tmp_path)
    code, shown, _ = output_of(capsys, "verify", "--game", "tictactoe")
    assert code == 0
    assert shown.endswith(f"trained on {history}: a run on one back end alone has another state\n")
