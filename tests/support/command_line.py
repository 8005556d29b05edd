"""Command lines run in this process, as tests of several files do."""

import re

from interface.cli import run
from support.tiny_runs import tree_of

SMALL = ["--preset", "tiny", "--hidden-cnn-layers", "8x3", "8x3", "--episodes", "16", "--mcts-sims", "8", "--fast-sims",
         "4", "--games-in-flight", "16", "--min-memory", "20", "--batch-size", "16", "--eval-episodes", "4",
         "--eval-sims", "4", "--precision", "float32"]  # fmt: skip
TINY = [
    "--preset", "tiny", "--episodes", "24", "--mcts-sims", "12", "--fast-sims", "6", "--games-in-flight", "16",
    "--memory-size", "150", "--min-memory", "50", "--batch-size", "32", "--hidden-cnn-layers", "8x3", "--value-units",
    "8", "--eval-every", "2", "--eval-episodes", "8", "--eval-sims", "8", "--warmup-steps", "3", "--cache-size", "1024",
    "--precision", "float32",
]  # fmt: skip
"""Settings of a run of seconds for the command `train`."""


def output_of(capsys, *argv):
    """Run a command line; return (exit code, output, error)."""
    capsys.readouterr()
    code = run([*argv])
    out, err = capsys.readouterr()
    return code, out, err


def refused_unchanged(place, capsys, *argv, code=2):
    before = tree_of(place)
    found, out, err = output_of(capsys, *argv)
    assert found == code and out == "" and re.fullmatch(r"error: [^\n]+\n", err), (found, err)
    assert tree_of(place) == before
    return err
