"""The program itself, as a process that is stopped and killed by signals."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from runs import runs_of
from soak import GAME, SETTINGS
from verification import verify

MAIN = Path(__file__).parent.parent / "main.py"


def start(root, fail=""):
    environment = {**os.environ, "ALPHAZERO_RUNS": str(root), "ALPHAZERO_FAIL": fail, "PYTHONUNBUFFERED": "1"}
    argv = [sys.executable, str(MAIN), "train", *SETTINGS]
    argv[argv.index("--iterations") + 1] = "3"
    argv.remove("--json")
    return subprocess.Popen(argv, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(process):
    out, err = process.communicate(timeout=900)
    assert "Traceback" not in err, err
    return process.returncode, out, err


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    root = tmp_path_factory.mktemp("undisturbed")
    assert ended(start(root))[0] == 0
    return verify(runs_of(GAME, root)[-1]).state


def test_stopped_killed_and_stopped_again_it_is_the_same_run(undisturbed, tmp_path):
    process = start(tmp_path)
    while "new run" not in (line := process.stdout.readline()):
        assert line, process.stderr.read()
    second = start(tmp_path)
    code, _, err = ended(second)
    assert code == 3 and f"in use by process {process.pid}" in err
    process.send_signal(signal.SIGINT)
    code, out, err = ended(process)
    assert code == 130 and "--run 1` goes on" in out and "stopping; once more stops at once" in err
    assert ended(start(tmp_path, "fit.step:7"))[0] == -signal.SIGKILL
    assert ended(start(tmp_path, "promote.in_tx:1"))[0] == -signal.SIGKILL
    assert ended(start(tmp_path))[0] == 0
    report = verify(runs_of(GAME, tmp_path)[-1])
    assert report.damage == [] and report.state == undisturbed


def test_asked_to_end_while_it_starts_it_ends_and_twice_ends_at_once(tmp_path):
    process = start(tmp_path, "start.before:1")  # should it get so far
    process.send_signal(signal.SIGTERM)
    assert ended(process)[0] in (130, -signal.SIGTERM, -signal.SIGKILL)
    process = start(tmp_path)
    while "new run" not in (line := process.stdout.readline()):
        assert line, process.stderr.read()
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    code, out, err = ended(process)
    assert code == 130 and "goes on" in out + err
    assert verify(runs_of(GAME, tmp_path)[-1]).damage == []
