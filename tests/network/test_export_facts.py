"""What an exported network says of itself: the rules that it learned, whatever rules it was asked for with."""

import games
from interface.cli import run
from network.export import learned_rules


def test_the_rules_are_those_that_the_network_learned_on_the_board_that_was_asked_for(tmp_path, capsys):
    """The network that ships for 7x7 to 9x9 learned a komi of 7, and plays every other."""
    file = tmp_path / "go.onnx"
    assert run(["export-network", str(file), "--game", "go(komi=0.5,size=9)", "--player", "shipped"]) == 0
    assert "go(komi=7,size=9)" in capsys.readouterr().out
    data = file.read_bytes()
    assert b"go(komi=7,size=9)" in data and b"komi=0.5" not in data


def test_rules_without_a_range_are_the_games_own():
    cases = [
        ("go", "go", "go"),
        ("go(komi=7,size=7..9)", "go(komi=60,size=11,ko=superko)", "go(komi=7,size=11)"),
        ("gomoku(rule=renju,size=7..15)", "gomoku(size=10)", "gomoku(rule=renju,size=10)"),
    ]
    for spec, asked, learned in cases:
        assert learned_rules(spec, games.make(asked)).spec == learned
