"""Games of self-play are handed out some at a time, and none that ended is lost when something goes wrong."""

import pytest

from support.search_cases import GAMES, Projection
from support.tiny_runs import jobs, tiny
from training.selfplay import PAUSE, SelfPlay


class Failing(Projection):
    """A network that fails at its n-th question."""

    def __init__(self, game, n):
        super().__init__(game)
        self.left = n

    def __call__(self, planes):
        self.left -= 1
        if self.left == 0:
            raise RuntimeError("no answer")
        return super().__call__(planes)


def test_games_that_ended_before_an_error_are_handed_out_before_it(monkeypatch):
    game, found = GAMES["tictactoe"], []
    monkeypatch.setattr("training.selfplay.PAUSE", 1e9)
    selfplay = SelfPlay(game, tiny(games_in_flight=4, cache_size=0))
    with pytest.raises(RuntimeError, match="no answer"):
        for record in selfplay.play(Failing(game, 60), jobs(500)):
            found.append(record.index)
    assert 4 < len(found) == len(set(found)) < 500


def test_all_games_are_handed_out_at_the_end_whatever_the_pause(monkeypatch):
    assert 0 < PAUSE < 1
    game = GAMES["tictactoe"]
    for pause in (0.0, 1e9):
        monkeypatch.setattr("training.selfplay.PAUSE", pause)
        found = [r.index for r in SelfPlay(game, tiny(games_in_flight=4), threads=2).play(Projection(game), jobs(50))]
        assert sorted(found) == list(range(50))
