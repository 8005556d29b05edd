"""The script that measures the levels of the players that ship."""

from benchmarks import measure_levels as measure_again
from evaluation.level_games import LADDER


def test_a_player_that_ships_without_levels_gets_those_of_a_new_player(monkeypatch):
    measured = []
    for name in ("write_levels", "write_card"):
        monkeypatch.setattr(measure_again, name, lambda *given: None)
    monkeypatch.setattr(measure_again, "read_levels", lambda spec: [])
    monkeypatch.setattr(measure_again, "measure_levels", lambda game, *, ladder, **more: measured.extend(ladder) or [])
    monkeypatch.setattr("sys.argv", ["measure_levels.py", "tictactoe"])
    measure_again.main()
    assert measured == list(LADDER)
