"""Starts the program where POSIX is not: what is hidden, and from whom, is in other_system/sitecustomize.py."""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parents[2]


def start(runs, *argv, **more):
    """Start Python on the other system."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")} | {
        "PYTHONPATH": os.pathsep.join((str(HERE / "tests" / "support" / "other_system"), str(HERE))),
        "ALPHAZERO_RUNS": str(runs), "PYTHONIOENCODING": "cp1252",
    }  # fmt: skip
    return subprocess.Popen([sys.executable, *argv], cwd=HERE, env=environment, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="cp1252", **more)  # fmt: skip
