"""The folder of compiled code is the user's alone, and damaged files in it are compiled again."""

import importlib.util
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from compiling import cache_folder, environment
from compiling.cache_folder import make_folder
from config import UserError
from support.systems import needs_posix

MAIN = str(Path(__file__).parents[1] / "main.py")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder of its own for compiled code."""
    monkeypatch.setattr(cache_folder, "FOLDER", tmp_path / "kept")
    (tmp_path / "toy.py").write_text("from compiled import compiled\n\n@compiled\ndef f(x):\n    return x + 1\n")
    return tmp_path / "kept"


def compiled_again(folder):
    """Call a compiled function as a new process would; return (its value, whether its code came from the folder)."""
    spec = importlib.util.spec_from_file_location("toy", folder.parent / "toy.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f(1), bool(module.f.stats.cache_hits)


def one_bit_wrong(data):
    return data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 1]) + data[len(data) // 2 + 1 :]


DAMAGES = {
    "emptied": lambda data: b"",
    "cut in half": lambda data: data[: len(data) // 2],
    "one byte short": lambda data: data[:-1],
    "one bit wrong": one_bit_wrong,
    "noise": lambda data: random.Random(1).randbytes(len(data)),
    "a pickle of others": lambda data: b"cos\n_exit\n(I7\ntR.",  # ends the process when it is unpickled
}


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_file_of_compiled_code_is_made_again(folder, damage, suffix):
    assert compiled_again(folder) == (2, False)
    assert compiled_again(folder) == (2, True)
    (path,) = folder.rglob(f"*.{suffix}")
    path.write_bytes(damage(path.read_bytes()))
    assert compiled_again(folder) == (2, False)
    assert compiled_again(folder) == (2, True)


@pytest.mark.parametrize("what", ["a file that is a folder", "a folder that is a file"])
def test_code_that_cannot_be_kept_is_compiled_each_time_and_one_line_says_so(folder, caplog, what):
    assert compiled_again(folder) == (2, False)
    (path,) = folder.rglob("*.nbi")
    place = path if what == "a file that is a folder" else path.parent
    place.rename(folder / "away")
    place.mkdir() if place == path else place.touch()
    assert [compiled_again(folder), compiled_again(folder)] == [(2, False)] * 2
    assert len(caplog.messages) == 1 and "every start compiles it again" in caplog.text


def test_a_full_disk_keeps_no_code_and_one_line_says_so(folder, caplog, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("numba.core.caching.os.replace", full)
    assert [compiled_again(folder), compiled_again(folder)] == [(2, False)] * 2
    assert "keeps no compiled code (No space left on device)" in "\n".join(caplog.messages)
    assert len(caplog.messages) == 1 and not [path for path in folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize("path, counts", [
    ("top.py", True), ("search/deep/code.py", True), ("plugins/littlego/code.py", True),
    ("plugins/littlego/tests/code.py", False), ("tests/code.py", False), ("venv/lib/numba/code.py", False),
])  # fmt: skip
def test_compiled_code_in_any_package_names_the_folder(tmp_path, path, counts):
    program = tmp_path / "program"
    for package in ("search", "plugins/littlego", "venv/lib/numba"):
        (program / package).mkdir(parents=True)
        (program / package / "__init__.py").touch()
    before = make_folder(program, str(tmp_path / "kept"))
    (program / path).parent.mkdir(parents=True, exist_ok=True)
    (program / path).write_text("@compiled\ndef f():\n    return 1\n")
    assert (make_folder(program, str(tmp_path / "kept")) != before) == counts


@needs_posix
def test_where_users_have_no_numbers_a_start_removes_only_older_code_of_its_own(tmp_path, monkeypatch):
    """There every folder seems to be this user's."""
    (tmp_path / "top.py").write_text("@compiled\n")
    ours = make_folder(tmp_path, str(tmp_path / "kept"))
    monkeypatch.setattr("system.processes.user", lambda: None)
    older = make_folder(tmp_path, str(tmp_path / "kept"))
    (tmp_path / "top.py").write_text("@compiled\n\n")
    assert make_folder(tmp_path, str(tmp_path / "kept")).is_dir() and not older.exists() and ours.is_dir()


@needs_posix
def test_the_folder_of_compiled_code_is_its_owner_s_alone(tmp_path):
    before = os.umask(0)
    try:
        found = make_folder(tmp_path, str(tmp_path / "a" / "b"))
    finally:
        os.umask(before)
    assert [f"{path.stat().st_mode & 0o777:o}" for path in (found, *found.parents[:2])] == ["700"] * 3


@needs_posix
def test_code_in_a_folder_that_others_could_write_is_not_used(tmp_path):
    found = make_folder(tmp_path, str(tmp_path / "kept"))
    (found / "planted").touch()
    assert make_folder(tmp_path, str(tmp_path / "kept")) == found and (found / "planted").exists()
    found.chmod(0o770)
    assert make_folder(tmp_path, str(tmp_path / "kept")) == found
    assert f"{found.stat().st_mode & 0o777:o}" == "700" and not (found / "planted").exists()


@needs_posix
@pytest.mark.parametrize("mode", [0o777, 0o775, 0o757])
def test_a_folder_where_others_can_put_code_is_refused(tmp_path, mode):
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(mode)
    with pytest.raises(UserError, match=f"NUMBA_CACHE_DIR: {tmp_path}/shared can be written by other users"):
        make_folder(tmp_path, str(tmp_path / "shared" / "kept"))
    (tmp_path / "shared").chmod(mode | 0o1000)  # as /tmp, where one's own folder is safe
    assert make_folder(tmp_path, str(tmp_path / "shared" / "kept")).is_dir()


@needs_posix
def test_a_folder_of_another_user_is_refused_and_a_link_is_too(tmp_path, monkeypatch):
    place = str(tmp_path / "kept")
    found = make_folder(tmp_path, place)
    found.rename(tmp_path / "elsewhere")
    found.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="is not this user's alone"):
        make_folder(tmp_path, place)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.raises(UserError, match="can be written by other users|is not this user's alone"):
        make_folder(tmp_path, place)


def test_a_checkout_that_cannot_be_written_keeps_its_code_in_the_user_s_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "__pycache__").touch()
    assert make_folder(tmp_path, "").parent == tmp_path / "cache" / "alphazero-keras"
    (tmp_path / "cache" / "alphazero-keras").rename(tmp_path / "away")
    (tmp_path / "cache" / "alphazero-keras").touch()
    with pytest.raises(UserError, match=r"__pycache__ cannot be written .*; NUMBA_CACHE_DIR=FOLDER names a place"):
        make_folder(tmp_path, "")


@pytest.mark.parametrize("variables, words", [
    ({"NUMBA_DISABLE_JIT": "1"}, "NUMBA_DISABLE_JIT: expected 0"),
    ({"NUMBA_CACHE_DIR": "/proc/nowhere"}, "NUMBA_CACHE_DIR: /proc/nowhere cannot be written"),
])  # fmt: skip
def test_what_cannot_be_compiled_or_kept_is_refused_in_one_line(variables, words):
    command = [sys.executable, MAIN, "match", "random", "random", "--game", "tictactoe"]
    done = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, timeout=300)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and done.stderr.startswith(f"error: {words}"), done.stderr


def test_numba_s_other_variables_change_nothing(monkeypatch):
    """They would print, keep slower code for later starts, or fail: NUMBA_NUM_THREADS=0."""
    for name in ("NUMBA_OPT", "NUMBA_DEBUG", "NUMBA_NUM_THREADS"):
        monkeypatch.setenv(name, "0")
    monkeypatch.setenv("NUMBA_CACHE_DIR", "somewhere")
    monkeypatch.setattr(environment, "ENVIRONMENT", {})
    environment.take_numba_over()
    assert [n for n in os.environ if n.startswith("NUMBA_")] == ["NUMBA_CACHE_DIR"]
    assert environment.ENVIRONMENT == dict.fromkeys(("NUMBA_OPT", "NUMBA_DEBUG", "NUMBA_NUM_THREADS"), "0")
