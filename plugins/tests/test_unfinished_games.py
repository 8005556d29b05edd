"""A game of your own that lacks a method is refused by the plugins' commands as by the core's, in one line."""

import io

import pytest

from support.command_line import output_of


@pytest.mark.parametrize(
    "argv", [["serve", "--port", "1", "--no-open"], ["export-page"], ["gtp", "random"]], ids=lambda argv: argv[0]
)
def test_an_unfinished_game_is_refused_with_what_a_match_says(argv, tmp_path, monkeypatch, place, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    assert output_of(capsys, "new-game", "mine")[0] == 0
    file, game = tmp_path / "mine.py", ["--game", "mine.py:Mine(size=3)"]
    file.write_text(file.read_text().replace("def takeAction(", "def take_action("))
    code, out, line = output_of(capsys, "match", "random", "random", *game)
    assert (code, out) == (2, "") and line.endswith(" lists all faults\n") and line.count("\n") == 1
    assert output_of(capsys, *argv, *game) == (2, "", line)
