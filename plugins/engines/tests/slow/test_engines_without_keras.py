"""Engines load no Keras: a program that starts one waits a few seconds at most."""

import pytest

from support.without_keras import COMMAND, loaded


@pytest.mark.parametrize("command", ["gtp", "gomocup", "analysis"])
def test_an_engine_loads_no_keras(tmp_path, command):
    assert loaded(COMMAND, command, cwd=tmp_path)[1] == []
