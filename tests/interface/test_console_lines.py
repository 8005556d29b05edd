"""Every line of a game at the console fits a small terminal, in both languages."""

import io
import re
import sys

import pytest

import games
from agent import Agent
from interface import console
from interface.console import outlook
from interface.explain import as_text
from interface.review_words import percent
from languages import translate
from support.command_line import output_of
from system.terminal import columns_of


@pytest.mark.parametrize("tongue", ["en", "zh"])
@pytest.mark.parametrize("spec", ["othello", "connect4", "go"])
def test_a_game_against_the_strongest_player_has_no_line_over_80_columns(capsys, monkeypatch, spec, tongue):
    monkeypatch.setenv("COLUMNS", "80")
    game = games.make(spec)
    first = game.move_name(game.start().allowedActions[0])
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{first}\nhelp\nwrong\nundo\n"))
    token = translate.chosen.set(tongue)
    try:
        aim = game.aim
        _, out, err = output_of(capsys, "play", "--game", spec, "--against", "shipped", "--sims", "30")
    finally:
        translate.chosen.reset(token)
    lines = (out + err).splitlines()
    assert any("30" in line and {"en": "simulations", "zh": "次模拟"}[tongue] in line for line in lines), out
    assert [line for line in lines if columns_of(line) > 80] == []
    assert aim[:15] in out, "what wins is said"


def test_a_game_of_points_ends_with_the_points_and_names_the_sides_that_the_rules_name(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("c3\npass\npass\n"))
    out = output_of(capsys, "play", "--game", "go", "--against", "human")[1]
    assert "you are X (Black)" in out and "White gets 2.5 points" in out
    assert out.splitlines()[-3:] == [
        "X (Black): 25 points (1 stone, 24 territory)", "O (White): 2.5 points (0 stones, 0 territory, 2.5 komi)",
        "X wins. Moves: c3 pass pass",
    ]  # fmt: skip


def test_the_move_that_ends_a_game_has_no_outlook(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("c1\n"))
    out = output_of(capsys, "play", "--game", "tictactoe", "--against", "shipped", "--moves", "a1 b1 a2 b2")[1]
    assert "plays b3\n" in out and "You lose." in out and "it expects" not in out and "proven" not in out


@pytest.mark.parametrize(
    "spec, opponent, said",
    [("tictactoe", "level:1", "; shipped:version"), ("metasquares(size=3)", "random", "random gives no hints.")],
)
def test_a_hint_against_an_opponent_without_a_search_is_that_of_a_network_if_there_is_one(
    capsys, monkeypatch, spec, opponent, said
):
    monkeypatch.setattr(sys, "stdin", io.StringIO("hint\nq\n"))
    out = output_of(capsys, "play", "--game", spec, "--against", opponent)[1]
    assert said in out and ("principal variation" in out) == (spec == "tictactoe")


def test_one_simulation_is_one():
    assert console._expected(1, ["a1"], 79) == "  1 simulation; it expects a1"


@pytest.mark.parametrize("share, text", [(100.0, "100"), (99.6, "99"), (0.0, "0"), (0.3, "1"), (54.5, "54")])
def test_only_what_is_certain_is_100_percent(share, text):
    assert percent(share) == text
    value = share / 50 - 1
    assert abs(value) == 1 or f" {text} %" in outlook(value) and "1.00" not in outlook(value)


def test_a_hint_leaves_the_best_moves_in_sight(monkeypatch):
    """A table of all moves of a large board is longer than a terminal, and the best come first."""
    game = games.make("gomoku")
    numbers = {"N": 1, "share": 0.5, "P": 0.1, "Q": 0.0, "U": 0.1, "V": 0.0, "proven": ""}
    lines = [{"move": game.move_name(a), "pv": [game.move_name(a)], **numbers} for a in range(game.action_size)]
    found = {"to_move": "X", "player": "it", "simulations": 20, "nodes": 21, "network_value": 0.0, "search_value": 0.0,
             "proven": "", "moves": lines}  # fmt: skip
    monkeypatch.setattr(console, "explain", lambda agent, state: found)
    text = console._hint(Agent("it", game, lambda planes: None), game.start())
    table = text.partition("principal variation\n")[2].splitlines()
    assert len(table) == 10 and table[0].split()[0] == game.move_name(0)
    found["moves"] = [line | {"N": int(number < 3)} for number, line in enumerate(lines)]
    rows = as_text(found, game.start()).partition("principal variation\n")[2].splitlines()
    assert len(rows) == 4 and rows[-1] == "and 78 moves without a visit"
    found["moves"] = lines[:1] + [line | {"N": 0} for line in lines[1:11]]
    assert as_text(found, game.start()).count("\n") == as_text(found | {"moves": lines[:11]}, game.start()).count("\n")


def test_a_long_line_of_play_is_cut_to_the_terminal_between_its_moves():
    game = games.make("connect4")
    row = {"move": "4", "pv": ["4"] * 30, "N": 1, "share": 0.5, "P": 0.1, "Q": 0.0, "U": 0.1, "V": 0.0}
    found = {
        "to_move": "X",
        "player": "it",
        "simulations": 20,
        "nodes": 21,
        "network_value": 0.0,
        "search_value": 0.0,
        "proven": "",
        "moves": [row | {"proven": "won"}, row | {"proven": ""}],
    }
    assert [line.count(" 4") for line in as_text(found, game.start()).splitlines()[-2:]] == [31, 31]
    rows = as_text(found, game.start(), 80).splitlines()[-2:]
    assert all(75 < len(line) <= 80 for line in rows) and rows[0].endswith(" 4 ...  won") and rows[1].endswith(" 4 ...")
    assert as_text(found, game.start(), 20).splitlines()[-1].endswith("  4 ..."), "the first move is always there"


def test_a_hint_in_chinese_has_no_english_words_and_its_columns_stand_below_each_other():
    game = games.make("connect4")
    row = {"N": 150, "share": 0.75, "P": 0.1, "Q": 0.25, "U": 0.1, "V": 1.0}
    lines = [{"move": "4", "pv": ["4", "4"], "proven": "won", **row}, {"move": "5", "pv": ["5"], "proven": "", **row}]
    found = {"to_move": "X", "player": "it", "simulations": 200, "nodes": 1, "network_value": 0.5, "search_value": 1.0,
             "proven": "won", "win_in_plies": 3, "moves": lines}  # fmt: skip
    token = translate.chosen.set("zh")
    try:
        text = as_text(found, game.start()).split("\n\n", 1)[1]
    finally:
        translate.chosen.reset(token)
    assert set(re.findall("[A-Za-z]+", text)) == {"X", "it", "N", "P", "Q", "U", "V"}
    head, first, _ = text.split("\n\n")[1].splitlines()
    ends = [[columns_of(line[: word.end()]) for word in re.finditer(r"\S+", line)][:7] for line in (head, first)]
    assert ends[0] == ends[1]
