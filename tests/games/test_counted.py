"""The rule `counted` says what `score` and `owners` say, in all games that count points."""

import numpy as np
import pytest

import games
from compiled import call, compiled
from game import CompiledState

SPECS = [
    "go",
    "go(size=9,komi=7)",
    "go(size=4,komi=0.5,suicide=yes)",
    "littlego",
    "othello",
    "othello(size=10)",
    "metasquares",
    "metasquares(size=7,rule=race)",
]


@compiled
def count(fn, row, out):
    fn(row, out)


@pytest.mark.parametrize("spec", SPECS)
def test_points_and_owners(spec):
    game, rng = games.make(spec), np.random.default_rng(0)
    for _ in range(5):
        state = game.start()
        while not state.isEndGame:
            state = state.takeAction(int(rng.choice(state.allowedActions)))[0]
            check(game, state)


def check(game, state):
    assert isinstance(state, CompiledState)
    points = int(np.prod(game.grid_shape)) if game.scored_by_area else 0
    out = np.zeros(2 + points, np.float32)
    call(count, game.counted, state.row.copy(), out)
    own, other = state.score
    assert out[:2].tolist() == ([own, other] if state.playerTurn == 1 else [other, own])
    if game.scored_by_area:
        assert np.array_equal(out[2:].reshape(game.grid_shape), state.owners)


def test_games_that_count_have_the_rule():
    assert {name for name in games.names() if games.make(name).counted} == {"go", "littlego", "metasquares", "othello"}
