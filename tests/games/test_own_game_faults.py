"""What the code of somebody's own game raises in the midst of a game is one line with the place, in every command."""

from pathlib import Path

import pytest

import games
from support.command_line import output_of

GAMES = Path(games.__file__).parent




@pytest.mark.parametrize("line, words", [
    ("nowhere(row)", "TypingError: NameError: name 'nowhere' is not defined"),
    ("row.nothing()", "TypingError: Unknown attribute 'nothing' of type array"),
])  # fmt: skip
def test_a_compiled_rule_that_cannot_be_compiled_is_told_with_its_line(tmp_path, capsys, line, words):
    text, head = (GAMES / "othello.py").read_text(), "def play(row, action):\n"
    (tmp_path / "mine.py").write_text(text.replace(head, f"{head}    {line}\n"))
    number = text[: text.index(head)].count("\n") + 2
    code, out, err = output_of(capsys, "check", f"{tmp_path / 'mine.py'}:Othello")
    assert (code, out) == (2, "") and err.startswith(f"error: mine.py, line {number}: {words}") and err.count("\n") == 1


@pytest.mark.parametrize("argv", [
    ["match", "greedy", "random", "--games", "4", "--opening-plies", "0"],
    ["match", "alphabeta:2", "random", "--games", "2", "--opening-plies", "0"],
    ["match", "rollout:50", "random", "--games", "2", "--opening-plies", "0"],
])  # fmt: skip
def test_an_error_in_the_rules_of_ones_own_is_told_with_its_place(failing, argv, place, unchecked, capsys):
    failing(60)
    code, out, err = output_of(capsys, *argv, "--game", "mine.py:Mine")
    assert code == 2 and "Traceback" not in err
    assert err.splitlines()[-1].startswith("error: mine.py, line ") and "ZeroDivisionError" in err


def test_an_error_of_the_program_itself_keeps_its_traceback(failing, place, monkeypatch, capsys):
    failing(10**6)
    monkeypatch.setattr("interface.commands.match.run", lambda argv: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        output_of(capsys, "match", "random", "random", "--game", "mine.py:Mine")
