"""Where this program is: in a checkout, whose modules lie at the top, or installed as the package alphazero_keras."""

from __future__ import annotations

import sys
from pathlib import Path

from system.shell import quoted

HERE = Path(__file__).resolve().parent.parent
PREFIX = __name__.rpartition("system.")[0]
"""What stands before the names of its modules: "" in a checkout, "alphazero_keras." where it is installed."""
START = [sys.executable, "-P", "-m", "alphazero_keras"] if PREFIX else [sys.executable, str(HERE / "main.py")]
"""The beginning of a command line that runs this program in a process of its own, in any folder."""


def requirements(file: str) -> str:
    """Return how a command line names a file of packages: in a checkout its name, else its path."""
    return quoted(str(HERE / file)) if PREFIX else file
