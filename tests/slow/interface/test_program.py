"""The program itself, as a process that is stopped and killed by signals, refused, or without a connection.

Its network learns in NumPy where only the process is looked at.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from storage.run_folders import RunBusy, find_run, lock_folder, runs_of
from storage.verify import verify
from support.command_line import TINY
from support.systems import needs_posix
from support.tiny_runs import IN_NUMPY

pytestmark = needs_posix

MAIN = Path(__file__).parents[3] / "main.py"
GAME = "tictactoe"


def start(root, fail="", more=(), keras=False, **options):
    environment = {**os.environ, "ALPHAZERO_RUNS": str(root), "ALPHAZERO_FAIL": fail, "PYTHONUNBUFFERED": "1"}
    if not keras:
        environment["PYTHONPATH"] = IN_NUMPY
    argv = [sys.executable, str(MAIN), "train", *TINY, "--iterations", "3"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([*argv, *more], env=environment, **pipes, **options)


def begun(root, **options):
    """Start a run; return its process when it has begun."""
    process = start(root, **options)
    while "new run" not in (line := process.stdout.readline()):
        assert line, process.stderr.read()
    return process


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
    process = begun(tmp_path)
    second = start(tmp_path)
    code, _, err = ended(second)
    assert code == 3 and f"in use by process {process.pid}" in err
    process.send_signal(signal.SIGINT)
    code, out, err = ended(process)
    assert code == 130 and "--run 1` resumes it" in out and "stopping; once more stops at once" in err
    assert ended(start(tmp_path, "fit.step:7"))[0] == -signal.SIGKILL
    assert ended(start(tmp_path, "promote.in_tx:1"))[0] == -signal.SIGKILL
    assert ended(start(tmp_path))[0] == 0
    report = verify(runs_of(GAME, tmp_path)[-1])
    assert report.damage == [] and report.state == undisturbed


def test_asked_to_end_while_it_starts_it_ends_and_twice_ends_at_once(tmp_path):
    process = start(tmp_path, "start.before:1", keras=True)  # should it get so far
    process.send_signal(signal.SIGTERM)
    assert ended(process)[0] in (130, -signal.SIGTERM, -signal.SIGKILL)
    process = begun(tmp_path, keras=True)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    code, out, err = ended(process)
    assert code == 130 and "resumes" in out + err
    assert verify(runs_of(GAME, tmp_path)[-1]).damage == []


def test_ctrl_c_that_the_parent_ignores_is_ignored(tmp_path):
    """As in the background of a script, also by nohup."""
    process = begun(tmp_path, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    for _ in range(3):
        process.send_signal(signal.SIGINT)
    code, _, err = ended(process)
    assert code == 0 and "stopping" not in err


def test_ctrl_c_while_workers_start_reaches_them_all_and_ends_in_order(undisturbed, tmp_path):
    """A terminal sends it to all processes of its group, so also to those that are just importing."""
    process = begun(tmp_path, more=["--workers", "2"], start_new_session=True)
    while not list_of_children(process.pid):
        assert process.poll() is None
        time.sleep(0.05)
    workers = list_of_children(process.pid)
    os.killpg(process.pid, signal.SIGINT)
    code, out, err = ended(process)
    assert code == 130 and "--run 1` resumes it" in out + err
    assert all(gone(pid) for pid in workers)
    assert ended(start(tmp_path, more=["--workers", "0"]))[0] == 0
    report = verify(runs_of(GAME, tmp_path)[-1])
    assert report.damage == [] and report.state == undisturbed


def gone(pid):
    """Wait until a process is no more; how long that may take is not what is tested."""
    for _ in range(6000):
        if not Path(f"/proc/{pid}").exists():
            return True
        time.sleep(0.05)
    return False


def list_of_children(pid):
    """Return the process ids of a process's children, of whichever thread; threads may end while this looks."""
    children = []
    for task in Path(f"/proc/{pid}/task").glob("*"):
        with suppress(FileNotFoundError, ProcessLookupError):
            children += [int(child) for child in (task / "children").read_text().split()]
    return children


def python(code, root, way=()):
    """Run a script; return (exit code, the last line it printed, error)."""
    environment = {**os.environ, "ALPHAZERO_RUNS": str(root)}
    done = subprocess.run([*way, sys.executable, "-c", code], cwd=MAIN.parent, env=environment, capture_output=True,
                          text=True, timeout=900, check=False)  # fmt: skip
    return done.returncode, (done.stdout.splitlines() or [""])[-1], done.stderr


def test_a_second_process_is_refused_before_anything_slow_is_loaded(root):
    lock = lock_folder(find_run(GAME, root=root))
    code = f"""
import sys
from interface.cli import run
code = run(["--game", "{GAME}", "--run", "1"])
print(code, [name for name in ("initialise", "model", "tensorflow", "openvino") if name in sys.modules])
"""
    try:
        _, said, err = python(code, root)
    finally:
        lock.close()
    assert said == "3 []" and err.startswith(f"error: run0001 is in use by process {os.getpid()}; ")


def test_the_lock_of_a_process_that_was_killed_is_free_at_once_though_its_workers_live_on(root):
    folder = find_run(GAME, root=root)
    code = f"""
import multiprocessing, sys, time
from pathlib import Path
from storage.run_folders import lock_folder
if __name__ == "__main__":
    lock = lock_folder(Path({str(folder)!r}))
    worker = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(600,), daemon=True)
    worker.start()
    print(worker.pid, flush=True)
    sys.stdin.read()
"""
    holder = subprocess.Popen([sys.executable, "-c", code], cwd=MAIN.parent, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)  # fmt: skip
    worker = int(holder.stdout.readline())
    with pytest.raises(RunBusy, match=f"process {holder.pid}"):
        lock_folder(folder)
    holder.kill()
    holder.wait()
    assert Path(f"/proc/{worker}").exists()
    lock_folder(folder).close()
    os.kill(worker, signal.SIGKILL)


WATCHED = """
import sys
def watch(event, args):
    if event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.bind"):
        raise PermissionError(f"{event} {args}")
    if event == "socket.connect" and not isinstance(args[1], (str, bytes)):
        raise PermissionError(f"{event} {args}")
sys.addaudithook(watch)
"""
"""Python refuses whatever would ask another machine; sockets of files on this one are not meant."""


def without_network():
    """Return the command that takes the network away from a process, [] where the system forbids it."""
    way = ["unshare", "--user", "--map-root-user", "--net"]
    able = shutil.which("unshare") and subprocess.run([*way, "true"], capture_output=True, check=False).returncode == 0
    return way if able else []


def test_it_learns_and_plays_without_a_network_and_asks_for_none(tmp_path):
    learn = ["train", *TINY, "--iterations", "1"]
    match = ["match", "best", "random", "--game", GAME, "--games", "2"]
    code = f"""{WATCHED}
from interface.cli import run
print([run(argv) for argv in ({learn}, {match})])
"""
    assert python(code, tmp_path, without_network())[1] == "[0, 0]"


@pytest.mark.parametrize("ask", ["socket.create_connection(('127.0.0.1', 9))", "urllib.request.urlopen('http://localhost')"])
def test_the_watch_for_questions_to_a_network_notices_one(tmp_path, ask):
    code = f"""{WATCHED}
import socket, urllib.request
{ask}
"""
    assert "PermissionError: socket." in python(code, tmp_path)[2]
