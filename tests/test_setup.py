"""train.sh, play.sh and tests/run.sh make a virtual environment, and make it again when its making was interrupted."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from support.systems import needs_posix

pytestmark = needs_posix

HERE = Path(__file__).parent.parent
PYTHON = """#!/bin/sh
echo "$@" >> {log}
here=$(dirname "$0")
case "$*" in
"-m venv "*)
    for last in "$@"; do :; done
    case "$*" in *--clear*) rm -r "$last" ;; esac
    mkdir -p "$last/bin" && touch "$last/pyvenv.cfg" "$last/bin/pip" && cp "$0" "$last/bin/python" ;;
"-m pip "*) [ -f "$here/pip" ] ;;
esac
"""
"""Stands for python3 and for that of the environment: notes what it is asked, and has pip where a file says so."""


@pytest.fixture(params=["train.sh", "play.sh", "tests/run.sh"])
def desk(request, tmp_path):
    """Return (a folder with the script, what runs it and returns what it asked of Python).

    `asked.venv`: the name of the environment.
    """
    (tmp_path / "tests").mkdir()
    (tmp_path / "distribution").mkdir()
    shutil.copy(HERE / "distribution" / "environment.sh", tmp_path / "distribution")
    for file in HERE.glob("requirements*.txt"):
        shutil.copy(file, tmp_path)
    script = shutil.copy(HERE / request.param, tmp_path / request.param)
    (tmp_path / "path").mkdir()
    (tmp_path / "path" / "python3").write_text(PYTHON.format(log=tmp_path / "log"))
    (tmp_path / "path" / "python3").chmod(0o755)
    path = f"{tmp_path / 'path'}:{os.environ['PATH']}"
    environment = {**{k: v for k, v in os.environ.items() if k != "VENV"}, "PATH": path}

    def asked(*arguments):
        (tmp_path / "log").write_text("")
        command = ["bash", script, *(arguments or ["--x"])]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        return (tmp_path / "log").read_text().splitlines()

    asked.venv = ".venv-play" if request.param == "play.sh" else ".venv"
    return tmp_path, asked


def test_the_environment_is_made_once(desk):
    folder, asked = desk
    first, second = asked(), asked()
    assert first[0] == f"-m venv {asked.venv}" and "pip install" in first[1] and first[2].endswith("--x")
    assert len(first) == 3
    assert second == first[2:], "what was installed is not looked for"


def test_what_changed_in_the_list_is_installed(desk):
    folder, asked = desk
    whole = asked()
    for file in folder.glob("requirements*.txt"):
        file.write_text(file.read_text() + "six\n")
    assert asked() == ["-m pip --version", *whole[1:]]
    assert asked() == whole[2:]


@pytest.mark.parametrize("desk", ["play.sh"], indirect=True)
def test_the_page_is_one_command_too(desk):
    folder, asked = desk
    for arguments, needed, command in (("--x",), "play", "play"), (("--page", "--x"), "page", "serve"):
        *_, installed, started = asked(*arguments)
        assert installed.endswith(f"-r requirements-{needed}.txt") and started == f"main.py {command} --x"


def test_an_environment_whose_making_was_interrupted_is_made_again(desk):
    folder, asked = desk
    whole = asked()
    (folder / asked.venv / "bin" / "pip").unlink()
    for file in (folder / asked.venv).glob("installed-*"):
        file.unlink()
    (folder / asked.venv / "left").touch()
    assert asked() == ["-m pip --version", f"-m venv --clear {asked.venv}", *whole[1:]]
    assert not (folder / asked.venv / "left").exists()


def test_an_environment_whose_python_is_gone_is_made_again(desk):
    folder, asked = desk
    whole = asked()
    (folder / asked.venv / "bin" / "python").unlink()
    assert asked() == [f"-m venv --clear {asked.venv}", *whole[1:]]


def test_a_folder_that_is_no_environment_is_not_cleared(desk):
    folder, asked = desk
    (folder / asked.venv).mkdir()
    (folder / asked.venv / "mine").touch()
    assert asked()[0] == f"-m venv {asked.venv}" and (folder / asked.venv / "mine").exists()
