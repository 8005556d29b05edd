"""Ctrl-C and SIGTERM end the program in time, also while native code keeps Python from calling its handlers."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from interface.cli import run
from support.systems import needs_posix

pytestmark = needs_posix
HERE = Path(__file__).parents[3]
STUCK = """
import hashlib, signal
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda *_: None)
print("begun", flush=True)
hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)
"""
"""Half an hour in one call into native code; the handlers do nothing, should the signal come before it."""
SHORT = "from training import stop_signals; stop_signals.end_in_time.__defaults__ = (0.2,)"
"""The program as it is, with little grace."""
PROGRAM = f'{SHORT}; import runpy, sys; sys.argv[:1] = ["main.py"]; runpy.run_path("main.py", run_name="__main__")'


def ended(script, argv, signals, **more):
    """Run a script until it prints a line, send it signals; return (exit code, what it printed as errors)."""
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # a shell's `&` has it ignored
    environment = {**os.environ, **more}
    command = [sys.executable, "-c", f"{heard}; {script}", *argv]
    process = subprocess.Popen(command, cwd=HERE, env=environment, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
    try:
        while "begun" not in (line := process.stdout.readline()):
            assert line, process.stderr.read()
        for number in signals:
            process.send_signal(number)
        out, err = process.communicate(timeout=900)
    finally:
        process.kill()
    return process.returncode, err


@pytest.mark.parametrize("signals", [[signal.SIGINT], [signal.SIGTERM, signal.SIGINT]])
def test_the_program_ends_in_time_while_native_code_keeps_it(tmp_path, signals):
    own = tmp_path / "own.py"
    own.write_text(STUCK)
    assert ended(PROGRAM, ["check", f"{own}:Own"], signals) == (130, "\nstopped\n")


def test_a_second_signal_ends_it_at_once(tmp_path):
    own = tmp_path / "own.py"
    own.write_text(STUCK)
    patient = PROGRAM.replace("(0.2,)", "(600.0,)")
    assert ended(patient, ["check", f"{own}:Own"], [signal.SIGTERM, signal.SIGINT]) == (130, "\nstopped\n")


def test_a_process_that_is_ended_says_how_its_work_goes_on():
    words = f"{SHORT}; stop_signals.end_in_time(); stop_signals.last_words('stopped; `this` resumes it')\n{STUCK}"
    assert ended(words, [], [signal.SIGINT]) == (130, "\nstopped; `this` resumes it\n")


def test_it_ends_where_nobody_reads_what_it_prints():
    words = f"{SHORT}; stop_signals.end_in_time()\n{STUCK}"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    process = subprocess.Popen([sys.executable, "-c", words], cwd=HERE, text=True, **pipes)
    try:
        while "begun" not in process.stdout.readline():
            assert process.poll() is None
        process.stdout.close()
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=900) == 130
    finally:
        process.kill()


def test_once_a_signal_came_the_exit_does_not_wait_for_libraries(tmp_path):
    """Nor does it change the exit code, and what is registered for the exit is done."""
    own = tmp_path / "own.py"
    own.write_text(
        "import atexit, signal, sys, time\n"
        "class Stuck:\n    def __del__(self, pause=signal.pause): pause()\n"
        "sys.stuck = Stuck()\natexit.register(lambda: sys.stderr.write('registered\\n'))\nprint('begun', flush=True)\n"
        "while True: time.sleep(0.01)\n"  # a signal just before `pause` would not end it
    )
    patient = PROGRAM.replace("(0.2,)", "(600.0,)")
    code, err = ended(patient, ["check", f"{own}:Own"], [signal.SIGINT])
    assert (code, err) == (130, "\nstopped\nregistered\n")


def test_an_interrupt_that_python_drops_is_raised_again(tmp_path):
    own = tmp_path / "own.py"
    own.write_text(
        "import os, signal, time, weakref\nclass Owner: pass\nowner = Owner()\n"
        "def callback(reference):\n    os.kill(os.getpid(), signal.SIGINT)\n    time.sleep(1)\n"
        "reference = weakref.ref(owner, callback)\nprint('begun', flush=True)\ndel owner\n"
        "while True: time.sleep(0.01)\n"
    )
    assert ended(PROGRAM.replace("(0.2,)", "(600.0,)"), ["check", f"{own}:Own"], []) == (130, "\nstopped\n")


def test_an_error_after_a_signal_is_a_stop(monkeypatch, capsys):
    def interrupted(argv):
        raise RuntimeError("no compiled object yet")

    monkeypatch.setattr("interface.cli.module", lambda name: SimpleNamespace(run=interrupted))
    monkeypatch.setattr("training.stop_signals._heard", SimpleNamespace(is_set=lambda: True))
    assert run(["match"]) == 130 and capsys.readouterr().err == "\nstopped\n"
    monkeypatch.undo()
    monkeypatch.setattr("interface.cli.module", lambda name: SimpleNamespace(run=interrupted))
    with pytest.raises(RuntimeError):
        run(["match"])


def test_other_signals_end_nothing():
    waits = (
        f"import signal, sys, time; signal.signal(signal.SIGUSR1, lambda *_: None); {SHORT}; "
        "stop_signals.end_in_time(); print('begun', flush=True); time.sleep(1); sys.exit(7)"
    )
    assert ended(waits, [], [signal.SIGUSR1]) == (7, "")
