"""What the code of somebody's own game raises in the midst of a game is one line with the place, in every command."""

import io
from pathlib import Path

import pytest

import games
from support.command_line import output_of
from support.own_games import changed

GAMES = Path(games.__file__).parent


@pytest.fixture
def template(tmp_path, monkeypatch, place, capsys):
    """The file that new-game writes, mine.py."""
    monkeypatch.chdir(tmp_path)
    assert output_of(capsys, "new-game", "mine")[0] == 0
    return tmp_path / "mine.py"


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


@pytest.mark.parametrize(
    "name, sign", [("counted", "COUNT"), ("arranged", "ARRANGE"), ("legal", "LEGAL"), ("evaluate", "EVALUATE")]
)
def test_a_rule_with_the_signature_of_another_is_refused(tmp_path, capsys, name, sign):
    text = (GAMES / "othello.py").read_text()
    before = f"@rule({sign})\ndef {name}("
    assert before in text
    (tmp_path / "mine.py").write_text(text.replace(before, before.replace(sign, "KEY")))
    code, out, err = output_of(capsys, "check", f"{tmp_path / 'mine.py'}:Othello")
    assert (code, out) == (2, "")
    assert err == f"error: mine.py: expected {name} to be made by @rule({sign}), see game.{sign}\n"


def test_a_rule_that_lacks_an_argument_is_named_with_its_line(tmp_path, capsys):
    text, head = (GAMES / "othello.py").read_text(), "def legal(row, out):\n"
    number = text[: text.index(head)].count("\n")
    (tmp_path / "mine.py").write_text(text.replace(head, head.replace(", out", "")))
    code, out, err = output_of(capsys, "check", f"{tmp_path / 'mine.py'}:Othello")
    assert (code, out) == (2, "")
    expected = "expected legal to take 2 arguments, see game.LEGAL, got legal(row)"
    assert err == f"error: mine.py, line {number}: {expected}\n"


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


COMMANDS = {
    "check": ["check", "mine.py:Mine(size=3)", "--games", "3"],
    "a match of the compiled search": ["match", "rollout:8", "random", "--games", "2"],
    "a match in Python": ["match", "greedy", "random", "--games", "2"],
    "puzzle": ["puzzle"],
    "play": ["play", "--against", "random"],
}


def in_commands(capsys, name, typed=""):
    """Return the exit code and error lines of a command on your own game."""
    argv = COMMANDS[name]
    code, out, err = output_of(capsys, *argv, *(["--game", "mine.py:Mine(size=3)"] if argv[0] != "check" else []))
    assert "Traceback" not in err + out
    return code, err.splitlines()[-1:], out


@pytest.mark.parametrize("name", COMMANDS)
def test_legal_moves_in_no_order_are_refused_in_every_command(template, capsys, name):
    """A set of few small numbers is in order by chance."""
    changed(
        template,
        (
            "[i for i in range(len(cells)) if self._may_be_played(i)]",
            "{i for i in range(len(cells)) if self._may_be_played(i)}",
        ),
    )
    code, err, _ = in_commands(capsys, name)
    words = "expected allowedActions to be a list or a tuple in ascending order, got {0, 1, 2, 3, 4, 5, 6, 7, 8}"
    assert code == 2 and err == [f"error: mine: {words}"]


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("end", ["sys.exit('bye')", "raise SystemExit(0)"])
def test_a_rule_that_ends_the_program_is_a_fault_of_the_game(template, unchecked, capsys, monkeypatch, name, end):
    early = f"if self.cells.count(0) < 9:\n            {end}\n        cells = (*self.cells"
    changed(template, ("import numpy as np\n", "import sys\n\nimport numpy as np\n"), ("cells = (*self.cells", early))
    if name == "play":
        monkeypatch.setattr("sys.stdin", io.StringIO("b2\na1\na3\nc1\nc3\n"))
    code, err, out = in_commands(capsys, name)
    said = out if name == "check" else err[0]
    assert code == (4 if name == "check" else 2) and "SystemExit" in said and "mine.py" in said, said


UNFINISHED = {
    "a move without a name": ("return point_name(action, *self.grid_shape)", "pass"),
    "names that are numbers": ("return point_name(action, *self.grid_shape)", "return action"),
    "no takeAction": ("def takeAction(", "def take_action("),
    "a position alone": ("return state, state.value, state.isEndGame", "return state"),
    "no board": ("def render(", "def draw("),
}
PLAYING = {
    "play": ["play", "--against", "random"],
    "explain": ["explain", "--moves", "b2"],
    "puzzle": ["puzzle"],
    "replay": ["replay", "game.txt"],
    "review": ["review", "game.txt"],
    "milestones": ["milestones"],
}


@pytest.mark.parametrize("fault", UNFINISHED)
def test_each_command_that_plays_says_of_an_unfinished_game_what_a_match_says(template, capsys, fault):
    changed(template, UNFINISHED[fault])
    (template.parent / "game.txt").write_text("b2 a1")
    game = ["--game", "mine.py:Mine(size=3)"]
    code, out, line = output_of(capsys, "match", "random", "random", *game)
    assert (code, out) == (2, "") and line.endswith(" lists all faults\n") and line.count("\n") == 1
    for name, argv in PLAYING.items():
        assert output_of(capsys, *argv, *game) == (2, "", line), name


def test_an_error_of_the_program_itself_keeps_its_traceback(failing, place, monkeypatch, capsys):
    failing(10**6)
    monkeypatch.setattr("interface.commands.match.run", lambda argv: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        output_of(capsys, "match", "random", "random", "--game", "mine.py:Mine")
