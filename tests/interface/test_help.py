"""`--help` of every command: whole sentences, what each option takes, and the players of one list."""

import re

import pytest

from config import Config
from interface.cli import run
from interface.commands import COMMANDS
from players.names import NETWORKS, PLAYERS

POSITIONAL = {"match": ["PLAYER1", "PLAYER2"], "evaluate": ["[PLAYER]"], "check": ["GAME"], "replay": ["FILE"],
              "new-game": ["NAME"], "export-network": ["FILE"], "export-games": ["FILE"],
              "import-games": ["FILE"]}  # fmt: skip


@pytest.fixture
def shown(capsys, monkeypatch):
    """Return f(*argv) -> the lines printed where none is too long, without frames, each option's text behind it."""
    monkeypatch.setenv("COLUMNS", "3000")

    def show(*argv):
        capsys.readouterr()
        try:
            assert run([*argv]) == 0
        except SystemExit as end:
            assert end.code == 0
        lines = [" ".join(line.strip("│╭╮╰╯─ ").split()) for line in capsys.readouterr().out.splitlines()]
        text = "\n".join(line for line in lines if line.strip("-"))
        return re.sub(r"^(--\S+(, --\S+)?( \{\S+\}|[A-Z \[\].]*))\n", r"\1 ", text, flags=re.MULTILINE).splitlines()

    return show


def row(lines, option):
    """Return the line of an option."""
    (found,) = (line for line in lines if re.match(rf"{option}\b", line))
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_is_a_line_for_each_option_without_noise(shown, command):
    lines = shown(command, "--help")
    assert lines[0].startswith(f"usage: python main.py {command} [-h]") and lines[1].endswith(".")
    named = [line.split()[0] for line in lines[2:] if re.match(r"\[?[A-Z0-9]+\b", line)]
    assert named == POSITIONAL.get(command, [])
    for line in lines[2:]:
        if line not in ("options", "config options", "positional arguments", f"{Config.__doc__}"):
            assert re.match(r"--?[a-z]|\[?[A-Z]", line) and not line.startswith("STR"), "no line begins in mid-sentence"
            assert re.search(r"\. ?(\(default: .+\)|\(required\))?$|and exit$", line), "each is explained"
            assert not re.search(r"\{None|default: ''|default: None|default: \)|--no-json|--no-overwrite", line), line


@pytest.mark.parametrize(
    "command, option, names",
    [("play", "--against", PLAYERS), ("match", "PLAYER1", PLAYERS), ("evaluate", r"\[PLAYER", PLAYERS),
     ("book", "--player", PLAYERS), ("littlego", "--player", PLAYERS), ("explain", "--player", NETWORKS)],
)  # fmt: skip
def test_the_players_of_the_list_are_in_every_help(shown, command, option, names):
    assert names in row(shown(command, "--help"), option)


def test_the_defaults_shown_are_those_of_the_preset_that_is_named(shown):
    assert "(default: 1024)" in row(shown("bench", "--help"), "--episodes")
    for words in (["tiny"], ["gpu", "--preset", "tiny"]):
        lines = shown("bench", "--preset", *words, "--help")
        assert "(default: 256)" in row(lines, "--episodes") and "(default: tictactoe)" in row(lines, "--game")


def test_help_is_a_word_as_well(shown):
    assert shown("help") == shown("--help") and "python main.py explain --moves 4453" in shown("help")
    assert shown("help", "play") == shown("play", "--help")
