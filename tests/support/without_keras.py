"""Runs code in new processes that may load no Keras, or in which some packages are not installed."""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parents[2]
HEAVY = ["keras", "tensorflow", "jax", "torch", "matplotlib", "starlette", "notebook", "IPython"]
COMMAND = "from interface.cli import run\nassert run(sys.argv[1:]) == 0"
WITHOUT = """
from importlib import metadata
from importlib.machinery import PathFinder
find, version = PathFinder.find_spec, metadata.version
hidden = {"keras", "tensorflow", "matplotlib", "starlette", "uvicorn", "packaging", "notebook", "ipykernel"}
PathFinder.find_spec = lambda name, *rest: None if name.split(".")[0] in hidden else find(name, *rest)
metadata.version = lambda name: version("nothing of this name" if name in hidden else name)
from interface.cli import run
sys.exit(run(sys.argv[1:]))
"""
"""Runs a command line as where only the packages of requirements-play.txt are installed."""


def python(code, *argv, cwd):
    """Run code in a new process, in which a run's folder `cwd`/runs is the user's."""
    return subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}", *argv], cwd=cwd, input="", capture_output=True, text=True,
        timeout=1100, env={**os.environ, "PYTHONPATH": str(HERE), "ALPHAZERO_RUNS": str(cwd / "runs")}, check=False,
    )  # fmt: skip


def loaded(code, *argv, cwd):
    """Return (the output, the modules out of HEAVY that are loaded after `code`) of a new process."""
    done = python(f"{code}\nprint('\\nloaded:', *(sys.modules.keys() & set({HEAVY!r})))", *argv, cwd=cwd)
    assert done.returncode == 0, done.stderr
    out, _, names = done.stdout.rpartition("loaded:")
    return out, names.split()
