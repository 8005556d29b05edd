"""What JAX compiles is kept: a later start compiles nothing, computes the same, and no damage shows."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).parents[3]
PROGRAM = """
import json
import numpy as np
import jax
from jax import monitoring
from network import kept_programs
kept_programs.keep_programs()
events = []
monitoring.register_event_listener(lambda event, **more: events.append(event.rpartition("/")[2]))
answer = jax.jit(lambda x: np.float32(3) * x @ x + 1)(np.arange(9, dtype=np.float32).reshape(3, 3))
found = {name: events.count(f"cache_{name}") for name in ("hits", "misses")}
print(json.dumps({**found, "answer": answer.tolist(), "folder": jax.config.jax_compilation_cache_dir}))
"""

pytestmark = pytest.mark.skipif(
    find_spec("jax") is None, reason="jax is not installed; `pip install -r requirements-dev.txt` brings it"
)


def computed(folder, **environment):
    """Return what a new process found that keeps its programs in a folder; nothing is said on its error stream."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": str(HERE), **environment}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def test_a_later_start_compiles_nothing_and_computes_the_same_and_what_is_damaged_is_compiled_again(tmp_path):
    first = computed(tmp_path)
    files = sorted(Path(first["folder"]).iterdir())
    assert first["hits"] == 0 and first["misses"] == len(files) > 0
    assert not any(file.name.startswith(".") for file in files), "no temporary file is left"
    for file in files[::2]:
        file.write_bytes(file.read_bytes()[:-7])
    damaged = len(files[::2])
    assert computed(tmp_path) == {**first, "hits": len(files) - damaged, "misses": damaged}
    assert computed(tmp_path) == {**first, "hits": len(files), "misses": 0}


def test_a_folder_that_the_environment_names_for_this_stays(tmp_path):
    own = str(tmp_path / "own")
    assert computed(tmp_path / "ours", JAX_COMPILATION_CACHE_DIR=own)["folder"] == own


def test_what_is_not_whole_is_not_found(tmp_path):
    from network.kept_programs import KeptPrograms

    kept = KeptPrograms(tmp_path / "new" / "folder")
    assert kept.get("one") is None
    kept.put("one", b"machine code")
    assert kept.get("one") == b"machine code"
    file = tmp_path / "new" / "folder" / "one"
    content = file.read_bytes()
    for damaged in (b"", content[:5], content[:-1], content + b"x", bytes([content[0] ^ 1]) + content[1:]):
        file.write_bytes(damaged)
        assert kept.get("one") is None, damaged
    kept.put("one", b"machine code")
    assert file.read_bytes() == content


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path):
    from network.kept_programs import KeptPrograms

    (tmp_path / "file").write_bytes(b"")  # in the place of the folder, so that not even root can write there
    kept = KeptPrograms(tmp_path / "file")
    kept.put("one", b"machine code")
    assert kept.get("one") is None


def test_a_folder_that_has_become_too_large_is_emptied(tmp_path, monkeypatch):
    from network import kept_programs

    kept_programs.KeptPrograms(tmp_path).put("one", bytes(100))
    assert kept_programs.KeptPrograms(tmp_path).get("one") is not None
    monkeypatch.setattr(kept_programs, "MOST_BYTES", 99)
    assert kept_programs.KeptPrograms(tmp_path).get("one") is None and tmp_path.is_dir()
