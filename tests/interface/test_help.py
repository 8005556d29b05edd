"""`--help` of every command on one screen, `--help-all` with every option; examples that can be typed."""

import dataclasses
import re
import shlex
from pathlib import Path

import pytest

from config import FIELDS
from interface.arguments import base_of, parse
from interface.cli import run
from interface.commands import COMMANDS, module
from players.names import NETWORKS, PLAYERS

PLACES = {
    "check": ["GAME"],
    "evaluate": ["[PLAYER]"],
    "experiment": ["[FILE]"],
    "export-games": ["FILE"],
    "export-network": ["FILE"],
    "export-page": ["[PLAYER]"],
    "import-games": ["FILE"],
    "match": ["PLAYER1", "PLAYER2"],
    "new-game": ["NAME"],
    "replay": ["FILE"],
    "report": ["[WHAT]"],
    "sweep": ["FILE"],
    "review": ["FILE"],
    **dict.fromkeys(("gtp", "gomocup", "analysis"), ["[PLAYER]"]),
}
"""{command: what it takes without an option}; those of plugins are commands only where these are."""
SETTINGS = ("train", "bench")


@pytest.fixture
def shown(capsys, monkeypatch):
    """Return f(*argv) -> what is printed on a terminal of 80 columns."""

    def show(*argv):
        monkeypatch.setenv("COLUMNS", "80")
        capsys.readouterr()
        try:
            assert run([*argv]) == 0
        except SystemExit as end:
            assert end.code == 0
        return capsys.readouterr().out

    return show


def rows(text):
    """Return {option: its help in one line} of a help, examples left out."""
    joined = re.sub(r"\n {24}", " ", text.split("\noptions:\n")[1])
    found = [re.match(r"  (\[?[A-Z0-9]+\]?|--[a-z0-9-]+)((?: (?:N|TEXT|GAME|\.\.\.|\S+\|\S+))*) +(.*)", line)
             for line in joined.splitlines()]  # fmt: skip
    return {match[1]: match[3] for match in found if match}


def arguments_of(command):
    """Return the dataclass of a command's arguments."""
    found = vars(module(command)).values()
    return next(v for v in found if dataclasses.is_dataclass(v) and v.__module__ == module(command).__name__)


def options(command):
    """Return the options of a command as they are typed, with and without settings."""
    own = {f.name for f in dataclasses.fields(arguments_of(command))} - {"config"}
    return own | (set(FIELDS) if command in SETTINGS else set())


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_a_screen(shown, command):
    lines = shown(command, "--help").splitlines()
    assert lines[0].startswith(f"usage: python main.py {command}") and lines[2].rstrip()
    assert len(lines) <= 40 and all(len(line) <= 80 or line.startswith("  python") for line in lines)


@pytest.mark.parametrize("words", [[], *([command] for command in COMMANDS)], ids=" ".join)
@pytest.mark.parametrize("option", ["--help", "--help-all"])
def test_no_line_of_a_help_is_wider_than_the_terminal(shown, words, option):
    assert [line for line in shown(*words, option).splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_help_all_explains_every_option(shown, command):
    found = rows(shown(command, "--help-all"))
    typed = {name.strip("[]").lower() if not name.startswith("--") else name[2:].replace("-", "_") for name in found}
    typed = {name.removeprefix("no_") if name not in options(command) else name for name in typed}
    assert typed == options(command)
    assert [name for name in found if not name.startswith("--")] == PLACES.get(command, [])
    for name, text in found.items():
        assert re.search(r"\.( \(default: .+\))?$", text), (name, text)
        assert "...." not in text and "Do not:" not in text


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_can_be_typed(command):
    lines = list(module(command).EXAMPLES)
    assert len(lines) == 3 and lines[0].startswith(f"python main.py {command}".removesuffix(" train"))
    for line in lines:
        argv = shlex.split(line)[2:]
        name = argv.pop(0) if argv and not argv[0].startswith("-") else "train"
        kind = arguments_of(name)
        parse(kind, argv, kind(base_of(argv)) if name in SETTINGS else None)


NAMED = [
    ("play", "--against", PLAYERS), ("match", "PLAYER1", PLAYERS), ("evaluate", "[PLAYER]", PLAYERS),
    ("book", "--player", PLAYERS), ("littlego", "--player", PLAYERS), ("explain", "--player", NETWORKS),
]  # fmt: skip


@pytest.mark.parametrize("command, option, names", [line for line in NAMED if line[0] in COMMANDS])
def test_the_players_of_the_list_are_in_every_help_all(shown, command, option, names):
    assert names in rows(shown(command, "--help-all"))[option]
    assert "best, " in rows(shown(command, "--help"))[option]


def test_the_defaults_shown_are_those_of_the_preset_that_is_named(shown):
    assert "(default: 1024)" in rows(shown("bench", "--help-all"))["--episodes"]
    for words in (["tiny"], ["gpu", "--preset", "tiny"]):
        found = rows(shown("bench", "--preset", *words, "--help-all"))
        assert "(default: 256)" in found["--episodes"] and "(default: tictactoe)" in found["--game"]


def test_help_is_a_word_as_well(shown):
    assert shown("help") == shown("--help") and "python main.py explain --moves 4453" in shown("help")
    assert shown("help", "play") == shown("play", "--help")


def test_of_an_option_given_twice_the_last_counts_and_hosts_are_added():
    def parsed(command, *argv):
        kind = arguments_of(command)
        return parse(kind, list(argv), kind(base_of(list(argv))) if command in SETTINGS else None)

    layers = "--hidden-cnn-layers", "8x3", "8x3", "--hidden-cnn-layers", "16x3"
    assert parsed("train", *layers).config.hidden_cnn_layers == ("16x3",)
    assert parsed("curves", "-o", "a.png", "--output", "b.png").output == Path("b.png")
    if "serve" in COMMANDS:
        assert parsed("serve", "--allow-host", "a", "b", "--allow-host", "c").allow_host == ("a", "b", "c")
