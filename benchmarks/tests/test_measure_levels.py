"""The script that measures the levels of the players that ship."""

import pytest

from benchmarks import measure_levels as measure_again
from evaluation.level_games import GAMES_FILE, LADDER
from players.levels import read_levels

CLUB = [level for level in read_levels("connect4") if level.name in ("Club", "Master")]


@pytest.fixture
def stored(monkeypatch, tmp_path):
    """Let nothing be measured or written for a player; return its file of games."""
    for name in ("write_levels", "write_card"):
        monkeypatch.setattr(measure_again, name, lambda *given: None)
    monkeypatch.setattr(measure_again, "file_on", lambda folder, game, name="levels.json": tmp_path / name)
    path = tmp_path / GAMES_FILE
    path.write_text("games of a player before", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "known, options, candidates",
    [([], [], [*LADDER]), (CLUB, [], CLUB), (CLUB, ["--afresh"], [*LADDER])],
)
def test_candidates_are_the_levels_that_ship_or_those_of_a_new_player(known, options, candidates, stored, monkeypatch):
    measured = []
    monkeypatch.setattr(measure_again, "read_levels", lambda spec: known)
    monkeypatch.setattr(measure_again, "measure_levels", lambda game, *, ladder, **more: measured.extend(ladder) or [])
    monkeypatch.setattr("sys.argv", ["measure_levels.py", "tictactoe", *options])
    measure_again.main()
    assert measured == candidates


@pytest.mark.parametrize("options, stays", [([], False), (["--resume"], True)])
def test_games_of_another_program_or_player_count_only_where_one_says_so(options, stays, stored, monkeypatch):
    monkeypatch.setattr(measure_again, "measure_levels", lambda game, *, file, **more: [])
    monkeypatch.setattr("sys.argv", ["measure_levels.py", "tictactoe", *options])
    measure_again.main()
    assert stored.exists() == stays
