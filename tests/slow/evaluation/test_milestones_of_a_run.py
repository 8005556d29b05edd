"""What each stored version of a run has learned: the command's table and JSON."""

import json

import games
from evaluation.milestones import (
    network_of,
    probes,
    shares,
)
from support.command_line import output_of


def test_each_stored_version_is_looked_at(trained):
    game = games.make("tictactoe")
    asked = probes(game)
    found = {number: shares(network_of(trained, number, game), asked) for number in (0, 4)}
    assert set(found[0]) == {"win", "stop", "three", "reply", "solved"}
    assert all(0 <= share <= 1 for line in found.values() for share in line.values()) and found[0] != found[4]


def test_the_command_prints_a_table_and_json(trained_place, capsys):
    code, out, err = output_of(capsys, "milestones", "--game", "tictactoe", "--versions", "2")
    lines = out.splitlines()
    assert code == 0 and err == "" and lines[0].startswith("tictactoe/run0001: % of the positions")
    assert lines[1].split() == ["version", "win", "stop", "three", "reply", "solved"]
    assert [line.split()[0] for line in lines[2:5]] == ["of", "0", "4"]
    code, out, _ = output_of(capsys, "milestones", "--game", "tictactoe", "--json", "--versions", "1")
    found = json.loads(out)
    assert code == 0 and list(found["versions"]) == ["4"] and found["game"] == "tictactoe"
    code, out, err = output_of(capsys, "milestones", "--versions", "0")
    assert code == 2 and err == "error: versions: expected at least 1, got 0\n"
