"""The command `doctor`: what it prints, its exit code, and a run whose settings cannot be read."""

import json

import pytest

from plugins.doctor import installation, learning
from support.command_line import output_of

pytestmark = pytest.mark.keras


@pytest.fixture
def light(monkeypatch):
    """The command makes few checks of the machine: those have tests of their own."""
    monkeypatch.setattr(installation, "CHECKS", {"python": installation.python})
    monkeypatch.setattr(learning, "CHECKS", {"rules": learning.rules})


def test_the_command_finds_a_healthy_run_healthy(trained_place, light, capsys):
    code, out, err = output_of(capsys, "doctor", "--game", "tictactoe")
    assert (code, err) == (0, "") and out.endswith("all is well\n") and "WRONG" not in out
    assert "installation\n" in out and "learning tictactoe\n" in out and "tictactoe/run0001\n" in out


def test_the_command_names_what_is_wrong_and_ends_with_four(trained_place, light, capsys):
    file = trained_place / "tictactoe" / "run0001" / "metrics.jsonl"
    lines = file.read_text().splitlines()
    file.write_text("\n".join([lines[0], "{", lines[2], lines[3]]) + "\n")
    code, out, _ = output_of(capsys, "doctor", "--game", "tictactoe", "--run", "1")
    assert code == 4 and "WRONG  metrics: 1 lines that are no iteration's; iterations missing: 2\n" in out
    assert "remedy: " in out and out.endswith("checks found something: metrics\n")
    code, out, _ = output_of(capsys, "doctor", "--game", "tictactoe", "--json")
    values = json.loads(out)
    assert code == 4 and not values["healthy"] and values["wrong"] == ["metrics"] and out.count("\n") == 1
    assert {"part", "name", "good", "checked", "measured", "expected", "remedy"} == set(values["findings"][0])


def test_without_a_run_the_installation_is_examined_and_an_unknown_run_is_refused(place, light, capsys):
    assert output_of(capsys, "doctor", "--game", "tictactoe")[0] == 0
    code, out, err = output_of(capsys, "doctor", "--game", "tictactoe", "--run", "7")
    assert (code, out) == (2, "") and err.startswith("error: expected run0007 of tictactoe") and err.count("\n") == 1


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b'{"mcts_sims": -1}'])
def test_settings_that_cannot_be_read_are_a_finding_with_its_remedy(trained_place, light, capsys, text):
    (trained_place / "tictactoe" / "run0001" / "config.json").write_bytes(text)
    code, out, err = output_of(capsys, "doctor", "--game", "tictactoe")
    assert (code, err) == (4, "") and "ok     python" in out and "ok     rules" in out
    assert "WRONG  files: " in out and "config.json: " in out.split("WRONG")[1] and "main.py recover" in out
    assert json.loads(output_of(capsys, "doctor", "--game", "tictactoe", "--json")[1])["wrong"] == ["files"]
