"""What the code of somebody's own game raises in the midst of a game is one line with the place, in every command."""

from pathlib import Path

import pytest

import games
from support.command_line import SMALL, output_of

GAMES = Path(games.__file__).parent

CALLS = "calls = [0]\n\n\ndef count():\n    calls[0] += 1\n    return 1 / (calls[0] < {})\n\n\n"


@pytest.fixture
def failing(tmp_path, monkeypatch, capsys):
    """Return a game of one's own whose takeAction fails after so many calls."""
    monkeypatch.chdir(tmp_path)
    assert output_of(capsys, "new-game", "mine")[0] == 0
    text = (tmp_path / "mine.py").read_text()
    head, name = "\nclass Mine", "def takeAction(self, action"
    assert head in text and name in text

    def make(calls):
        lines = text.replace(head, "\n" + CALLS.format(calls) + head.lstrip("\n"), 1).split("\n")
        at = next(i for i, line in enumerate(lines) if name in line)
        lines.insert(at + 1, "        count()")
        (tmp_path / "mine.py").write_text("\n".join(lines))
        return at + 2

    return make


@pytest.mark.parametrize("argv", [
    ["match", "greedy", "random", "--games", "4", "--opening-plies", "0"],
    ["match", "alphabeta:2", "random", "--games", "2", "--opening-plies", "0"],
    ["match", "rollout:50", "random", "--games", "2", "--opening-plies", "0"],
    ["train", "--new", *SMALL],
])  # fmt: skip
def test_an_error_in_the_rules_of_ones_own_is_told_with_its_place(failing, argv, place, quick, unchecked, capsys):
    failing(60)
    code, out, err = output_of(capsys, *argv, "--game", "mine.py:Mine")
    assert code == 2 and "Traceback" not in err
    assert err.splitlines()[-1].startswith("error: mine.py, line ") and "ZeroDivisionError" in err


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


def test_an_error_of_the_program_itself_keeps_its_traceback(failing, place, monkeypatch, capsys):
    failing(10**6)
    monkeypatch.setattr("interface.commands.match.run", lambda argv: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        output_of(capsys, "match", "random", "random", "--game", "mine.py:Mine")
