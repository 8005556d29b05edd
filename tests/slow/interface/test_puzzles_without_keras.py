"""Puzzles in a process of their own load no Keras."""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parents[3]


def test_in_a_process_of_its_own_without_keras():
    code = (
        "import sys\nfrom interface.cli import run\nassert run(sys.argv[1:]) == 0\n"
        "print('loaded:', *(sys.modules.keys() & {'keras', 'tensorflow', 'starlette', 'bitbully'}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "puzzle"], cwd=HERE, input="hint\nnext\n", capture_output=True, text=True,
        timeout=1100, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Puzzle 1" in done.stdout and "Puzzle 2" in done.stdout and done.stdout.endswith("loaded:\n")
