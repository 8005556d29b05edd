"""What stands in for POSIX on other systems, each part by itself."""

import io
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from support.systems import needs_posix
from system import files, processes, shell, terminal
from system.pipes import PipeReader

# ---- files


@pytest.fixture
def no_folders(monkeypatch):
    """The system opens no folders, and follows every link."""
    monkeypatch.setattr(files, "FOLDERS_OPEN", False)
    monkeypatch.setattr(files, "_NO_FOLLOW", 0)


def test_a_file_that_another_reads_is_replaced_when_that_has_ended(tmp_path, monkeypatch, no_folders):
    replace, refused = os.replace, iter([True, True, False])

    def busy(*args, **words):
        if next(refused):
            raise PermissionError
        replace(*args, **words)

    monkeypatch.setattr(files.os, "replace", busy)
    (tmp_path / "new").write_bytes(b"new")
    (tmp_path / "old").write_bytes(b"old")
    files.replace(tmp_path / "new", tmp_path / "old")
    assert (tmp_path / "old").read_bytes() == b"new" and next(refused, "all") == "all"


def test_a_file_that_is_never_let_go_is_an_error_in_the_end(tmp_path, monkeypatch, no_folders):
    monkeypatch.setattr(files, "PATIENCE", 0.0)
    monkeypatch.setattr(files.os, "replace", lambda *args, **words: os.open(tmp_path / "gone" / "x", os.O_RDONLY))
    with pytest.raises(FileNotFoundError):
        files.replace(tmp_path / "new", tmp_path / "old")

    def busy(*args, **words):
        raise PermissionError

    monkeypatch.setattr(files.os, "replace", busy)
    with pytest.raises(PermissionError):
        files.replace(tmp_path / "new", tmp_path / "old")


def test_a_file_that_is_open_here_is_no_reason_to_wait(tmp_path, monkeypatch):
    calls = []

    def refuse(*args, **words):
        calls.append(args)
        raise PermissionError

    monkeypatch.setattr(files, "FOLDERS_OPEN", True)
    monkeypatch.setattr(files.os, "replace", refuse)
    with pytest.raises(PermissionError):
        files.replace(tmp_path / "new", tmp_path / "old")
    assert len(calls) == 1


@needs_posix
def test_a_link_is_refused_where_the_system_would_follow_it(tmp_path, no_folders):
    (tmp_path / "precious").write_bytes(b"kept")
    (tmp_path / "link").symlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match="link|symbolic"):
        files.open_no_link(tmp_path / "link", os.O_RDWR | os.O_TRUNC)
    assert (tmp_path / "precious").read_bytes() == b"kept"
    os.close(files.open_no_link(tmp_path / "precious", os.O_RDWR))


def test_a_folder_that_cannot_be_opened_needs_no_flush(tmp_path, no_folders):
    assert files.open_folder(tmp_path) is None and files.place_of(None) == ""
    files.sync_folder(tmp_path / "not there")


def test_a_lock_is_held_once_and_free_after_its_end(tmp_path):
    first, second = (os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT) for _ in range(2))
    try:
        assert files.lock(first) and not files.lock(second)
        files.unlock(first)
        assert files.lock(second) and not files.lock(first)
    finally:
        os.close(second)
    assert files.lock(first)
    os.close(first)
    files.unlock(first)  # nothing to do, and no error


def test_a_disk_without_locks_is_an_error_of_the_system(tmp_path, monkeypatch):
    import portalocker

    def fails(*args):
        raise portalocker.LockException("No locks available")

    monkeypatch.setattr(portalocker, "lock", fails)
    with pytest.raises(OSError) as raised:
        files.lock(0)
    assert raised.value.strerror == "cannot be locked: No locks available"


# ---- processes


def test_processors_are_counted_where_the_system_lists_none(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.delattr(os, "sched_setaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert processes.processors() == [0, 1, 2]
    processes.keep_to([1])
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert processes.processors() == [0]


def test_users_without_numbers_own_what_they_use(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "geteuid", raising=False)
    tmp_path.chmod(0o777)
    assert processes.user() is None and processes.owns(tmp_path) and not processes.others_write(tmp_path)


def test_a_process_is_known_until_its_end():
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert processes.exists(child.pid) in (True, None)
    child.communicate(b"\n")
    assert processes.exists(child.pid) in (False, None)


def test_a_group_ends_with_all_that_it_started():
    script = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'input()']).wait()"
    child = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, **processes.own_group())
    processes.kill_group(child)
    assert child.wait() == processes.KILLED
    child.stdin.close()


def test_a_process_is_killed_where_there_are_no_groups(monkeypatch):
    monkeypatch.delattr(os, "killpg", raising=False)
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, **processes.own_group())
    processes.kill_group(child)
    assert child.wait() != 0
    child.stdin.close()


@pytest.mark.parametrize("signals", [True, False])
def test_ctrl_c_comes_from_any_thread(monkeypatch, signals):
    came = threading.Event()
    before = signal.signal(signal.SIGINT, lambda *_: came.set())
    try:
        if not signals:
            monkeypatch.setattr(processes, "_KILL", None)
        thread = threading.Thread(target=processes.interrupt_self)
        thread.start()
        while not came.is_set():  # the handler runs between two of these steps
            time.sleep(0.001)
        thread.join()
    finally:
        signal.signal(signal.SIGINT, before)


def test_where_signals_cannot_be_held_back_the_new_process_ignores_them(monkeypatch):
    monkeypatch.delattr(signal, "pthread_sigmask", raising=False)
    before = signal.getsignal(signal.SIGINT)
    try:
        with processes.interrupts_held_back():
            assert signal.getsignal(signal.SIGINT) == before
        processes.ignore_interrupts()
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


# ---- command lines, terminals, pipes


def test_command_lines_are_quoted_as_the_shell_reads_them(monkeypatch):
    words = ["python", r"C:\My games\main.py", "--game", "connect4(rows=5)"]
    monkeypatch.setattr(shell, "POSIX", False)
    assert shell.join(words) == r'python "C:\My games\main.py" --game connect4(rows=5)'
    assert shell.split(shell.join(words)) == words
    assert shell.split(r"C:\go\katago.exe 'g t p'") == [r"C:\go\katago.exe", "g t p"]
    assert shell.quoted("connect4(rows=5)") == '"connect4(rows=5)"'
    monkeypatch.setattr(shell, "POSIX", True)
    assert shell.quoted("connect4(rows=5)") == "'connect4(rows=5)'"
    assert shell.split(shell.join(words)) == words
    for posix in (True, False):
        monkeypatch.setattr(shell, "POSIX", posix)
        with pytest.raises(ValueError, match="No closing quotation"):
            shell.split('katago "gtp')


class Screen(io.StringIO):
    def isatty(self):
        return True


@needs_posix
def test_a_line_is_redrawn_in_a_terminal_only(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    assert terminal.redraws(Screen()) and not terminal.redraws(io.StringIO())
    monkeypatch.setenv("TERM", "dumb")
    assert not terminal.redraws(Screen())


def test_a_pipe_gives_what_comes_then_nothing_then_its_end():
    ours, theirs = os.pipe()
    reader = PipeReader(open(ours, "rb", buffering=0))
    assert reader.read(0.0) is None
    os.write(theirs, b"one")
    assert reader.read(600.0) == b"one" and reader.read(0.0) is None
    os.write(theirs, b"two")
    os.close(theirs)
    assert [reader.read(600.0), reader.read(600.0)] == [b"two", b""]


def test_the_thread_of_a_pipe_ends_and_closes_it_in_the_midst_of_a_flood():
    ours, theirs = os.pipe()
    pipe = open(ours, "rb", buffering=0)
    before = set(threading.enumerate())
    reader = PipeReader(pipe)
    (thread,) = set(threading.enumerate()) - before
    os.write(theirs, b"x" * 3 * 4096)
    assert reader.read(600.0)
    reader.close()
    thread.join(600.0)
    assert not thread.is_alive() and pipe.closed
    os.close(theirs)
