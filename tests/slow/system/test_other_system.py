"""The program where POSIX is not: no fcntl, no resource, no folders that can be opened, few signals, spawn only.

What is hidden, and from whom, is in tests/support/other_system/sitecustomize.py; child processes inherit it.
"""

import re
import shutil
import signal
from pathlib import Path

import pytest

from compiling.prepared import FOLDER
from support.command_line import TINY
from support.systems import needs_posix
from support.without_posix import start
from system.processes import user
from test_rooms import SOURCES

pytestmark = [needs_posix, pytest.mark.timeout(3600)]  # the program is started again and again

SETTINGS = [*TINY, "--json"]
MOVES = "".join(f"{column}{row}\n" for column in "abc" for row in "123")
"""What a person types in a game: moves that are taken are refused and the next is read."""


@pytest.fixture(scope="module", autouse=True)
def compiled_before():
    """Give the other system, whose user has no number, what is compiled for this one."""
    shutil.copytree(FOLDER, FOLDER.with_name(FOLDER.name.replace(f"-{user()}-", "-None-")), dirs_exist_ok=True)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Return the folder of runs that the tests of this file share, one after the other."""
    return tmp_path_factory.mktemp("runs")


def finish(runs, *argv, typed=""):
    """Run a command of the program to its end; return (exit code, output, errors)."""
    process = start(runs, "main.py", *argv)
    try:
        said, errors = process.communicate(typed)
    finally:
        process.kill()
    return process.returncode, said, errors


def test_the_names_are_hidden_from_the_program_and_from_nobody_else(tmp_path):
    script = (
        "import os, fcntl, signal\n"
        "from system import files, processes\n"
        "print(files.FOLDERS_OPEN, files.LOCK, processes.user(), processes.exists(1), processes.KILLED)\n"
        "print(hasattr(files.os, 'O_NOFOLLOW'), hasattr(processes.signal, 'SIGKILL'), hasattr(os, 'fork'))\n"
        "from system.machine import free_memory; print(free_memory(), os.path.exists('/proc/meminfo'))\n"
        "from training.worker_process import multiprocessing; print(multiprocessing.get_start_method())\n"
    )
    said, errors = start(tmp_path, "-c", script).communicate()
    proc = Path("/proc/meminfo").exists()
    assert errors == "" and said.splitlines() == [
        "False lock.held None None 1", "False False True", f"None {proc}", "spawn",
    ]  # fmt: skip


def test_every_module_can_be_imported(tmp_path):
    modules = [path.removesuffix(".py").replace("/", ".").removesuffix(".__init__") for path in SOURCES]
    script = f"import importlib\nfor name in {modules!r}:\n    importlib.import_module(name)\nprint('all')"
    said, errors = start(tmp_path, "-c", script).communicate()
    assert said.splitlines()[-1:] == ["all"], errors


def test_a_run_is_trained_locked_stopped_resumed_verified_and_played_against(runs):
    learning = start(runs, "main.py", *SETTINGS, "--iterations", "1000")
    assert '"iteration": 1' in learning.stdout.readline(), learning.stderr.read()
    code, _, errors = finish(runs, *SETTINGS)
    assert (code, errors.count("\n")) == (3, 1)
    assert errors.startswith(f"error: run0001 is in use by process {learning.pid}; stop that first")
    learning.send_signal(signal.SIGINT)
    said, errors = learning.communicate()
    done = 1 + said.count('"iteration":')
    assert learning.returncode == 130 and "--run 1` resumes it" in errors

    code, said, errors = finish(runs, *SETTINGS, "--iterations", str(done + 1), "--workers", "1")
    assert code == 0 and f'"iteration": {done + 1}' in said and "Traceback" not in errors, errors
    assert '"workers": 1' in (runs / "tictactoe" / "run0001" / "config.json").read_text(encoding="utf-8")
    assert sorted(path.name for path in (runs / "tictactoe" / "run0001").glob("lock*")) == ["lock", "lock.held"]

    code, said, errors = finish(runs, "verify", "--game", "tictactoe")
    assert (code, errors) == (0, "")

    against = ["--against", "run0001:current", "--sims", "8", "--first", "human"]
    code, said, errors = finish(runs, "play", "--game", "tictactoe", *against, typed=MOVES)
    assert (code, errors) == (0, "") and re.search("You win|You lose|draw", said), said
