"""The doctor in an environment for play, where only the packages of requirements-play.txt are installed."""

import json
import shutil

import pytest

from support.without_keras import WITHOUT, python


def examined(cwd, code=0):
    """Return {name: finding} of the doctor there, and what it says of all of them."""
    done = python(WITHOUT, "doctor", "--game", "tictactoe", "--json", cwd=cwd)
    assert done.returncode == code, done.stderr
    report = json.loads(done.stdout)
    return {each["name"]: each for each in report["findings"]}, report


@pytest.fixture
def run_folder(trained, tmp_path):
    """Return a trained run in the folder of the user's runs."""
    return shutil.copytree(trained, tmp_path / "runs" / "tictactoe" / trained.name)


def test_the_doctor_finds_an_environment_for_play_and_a_run_in_order(run_folder, tmp_path):
    found, report = examined(tmp_path)
    assert "requirements-play.txt" in found["libraries"]["measured"]
    words = "not checked without keras; `pip install -r requirements.txt`"
    for name in ("overfitting", "network"):
        assert words in found[name]["measured"] and not found[name]["checked"] and name in report["unchecked"]
    assert found["files"]["measured"].endswith("database and newest network can be read (its sha256 is right)")
    assert report["healthy"] and found["files"]["checked"] and found["duplicate games"]["checked"]


def test_a_damaged_network_is_found_without_keras(run_folder, tmp_path):
    newest = sorted((run_folder / "models").glob("version*.npz"))[-1]
    newest.write_bytes(newest.read_bytes()[:-9] + b"123456789")
    found, report = examined(tmp_path, code=4)
    assert report["wrong"] == ["files"] and "recover" in found["files"]["remedy"]
