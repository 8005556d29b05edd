"""Games of one's own for tests: the template, one whose rules fail in the midst of a game, and the hostile ones."""

import re
from pathlib import Path

import pytest

from interface.cli import run
from support.command_line import output_of

HERE = Path(__file__).parent
GUIDE, COMPILED = (
    (HERE.parents[1] / "docs" / name).read_text(encoding="utf-8") for name in ("add_a_game.md", "compiled_game.md")
)
CALLS = "calls = [0]\n\n\ndef count():\n    calls[0] += 1\n    return 1 / (calls[0] < {})\n\n\n"


def plain(fault):
    """Return the name of the hostile game in plain Python."""
    return f"{HERE / 'hostile_game.py'}:Hostile(fault={fault})"


def compiled(fault):
    """Return the name of the hostile game with compiled rules."""
    return f"{HERE / 'hostile_rules.py'}:HostileRules(fault={fault})"


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A folder to work in, away from the program."""
    (tmp_path / "desk").mkdir()
    monkeypatch.chdir(tmp_path / "desk")
    return tmp_path / "desk"


@pytest.fixture
def snort(desk):
    """The template as Snort."""
    assert run(["new-game", "snort"]) == 0
    return desk / "snort.py"


def listing():
    """The compiled game of the guide."""
    (code,) = re.findall(r"```python\n(.*?)```", COMPILED, re.DOTALL)
    return code


def changed(path, *pairs):
    """Change the code of a game; each old piece is there once."""
    text = path.read_text()
    for old, new in pairs:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path.write_text(text)
    return path


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
