"""Every line of a game at the console fits a small terminal, in both languages."""

import io
import sys

import pytest

import games
from interface.console import outlook
from interface.review_words import percent
from languages import translate
from support.command_line import told
from system.terminal import columns_of


@pytest.mark.parametrize("tongue", ["en", "zh"])
@pytest.mark.parametrize("spec", ["gomoku(size=15)", "othello", "connect4", "go"])
def test_a_game_against_the_strongest_player_has_no_line_over_80_columns(capsys, monkeypatch, spec, tongue):
    monkeypatch.setenv("COLUMNS", "80")
    game = games.make(spec)
    first = game.move_name(game.start().allowedActions[0])
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{first}\nhelp\nwrong\nundo\n"))
    token = translate.chosen.set(tongue)
    try:
        aim = game.aim
        _, out, err = told(capsys, "play", "--game", spec, "--against", "shipped", "--sims", "30")
    finally:
        translate.chosen.reset(token)
    lines = (out + err).splitlines()
    assert any("30" in line and {"en": "simulations", "zh": "次模拟"}[tongue] in line for line in lines), out
    assert [line for line in lines if columns_of(line) > 80] == []
    assert aim[:15] in out, "what wins is said"


@pytest.mark.parametrize("share, text", [(100.0, "100"), (99.6, "99"), (0.0, "0"), (0.3, "1"), (54.5, "54")])
def test_only_what_is_certain_is_100_percent(share, text):
    assert percent(share) == text
    value = share / 50 - 1
    assert abs(value) == 1 or f" {text} %" in outlook(value) and "1.00" not in outlook(value)
