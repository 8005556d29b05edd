"""The doctor in an environment for play, where only the packages of requirements-play.txt are installed."""

import json

from support.without_keras import WITHOUT, python


def test_the_doctor_finds_an_environment_for_play_in_order(tmp_path):
    done = python(WITHOUT, "doctor", "--game", "tictactoe", "--json", cwd=tmp_path)
    found = {each["name"]: each for each in json.loads(done.stdout)["findings"]}
    assert "requirements-play.txt" in found["libraries"]["measured"]
    assert "not checked without keras; `pip install -r requirements.txt`" in found["overfitting"]["measured"]
    assert found["libraries"]["good"] and found["overfitting"]["good"]
