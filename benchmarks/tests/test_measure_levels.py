"""The script that measures the levels of the players that ship."""

import pytest

from benchmarks import measure_levels as measure_again
from evaluation.level_games import LADDER
from players.levels import read_levels

CLUB = [level for level in read_levels("connect4") if level.name in ("Club", "Master")]


@pytest.mark.parametrize(
    "known, options, candidates",
    [([], [], [*LADDER]), (CLUB, [], CLUB), (CLUB, ["--afresh"], [*LADDER])],
)
def test_candidates_are_the_levels_that_ship_or_those_of_a_new_player(known, options, candidates, monkeypatch):
    measured = []
    for name in ("write_levels", "write_card"):
        monkeypatch.setattr(measure_again, name, lambda *given: None)
    monkeypatch.setattr(measure_again, "read_levels", lambda spec: known)
    monkeypatch.setattr(measure_again, "measure_levels", lambda game, *, ladder, **more: measured.extend(ladder) or [])
    monkeypatch.setattr("sys.argv", ["measure_levels.py", "tictactoe", *options])
    measure_again.main()
    assert measured == candidates
