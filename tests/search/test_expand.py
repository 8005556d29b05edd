"""The priors of a node: the softmax of its legal moves' logits, however large these are, and nothing from NaN."""

import math

import numpy as np
import pytest

import games
from MCTS import MCTS
from search import expand
from search.speed import fast_exp


def test_e_to_the_x_is_that_of_the_library_to_the_last_bits():
    numbers = np.concatenate([-np.random.default_rng(0).exponential(20, 5000), np.arange(-700, 1), [-1e-300, -0.0]])
    for x in numbers:
        if x >= -700:
            assert math.isclose(fast_exp.exp(float(x)), math.exp(x), rel_tol=5e-16), x
    assert fast_exp.exp(0.0) == 1.0
    for x in (-700.1, -1e9, -np.inf):
        assert 0 <= fast_exp.exp(x) < 1e-300
    assert math.isnan(fast_exp.exp(np.nan))


def outcome(spec, logits):
    game = games.make(spec)
    mcts = MCTS(game, sims=10, cache_size=0)
    mcts.set_root(game.start())
    sound = expand.expand(mcts.forest, 0, np.float32(0.25), np.asarray(logits, np.float32))
    return sound, np.array([edge.stats["P"] for _, edge in mcts.root.edges])


@pytest.mark.parametrize("spec", ["connect4", "gomoku(size=15)", "go"])
@pytest.mark.parametrize("scale, shift", [(1, 0), (1e-3, 5), (40, -1000), (1e4, 1e30), (300, 0)])
def test_priors_are_the_softmax_of_the_logits(spec, scale, shift):
    logits = (np.random.default_rng(1).normal(size=games.make(spec).action_size) * scale + shift).astype(np.float32)
    odds = np.exp(logits.astype(np.float64) - logits.max())
    sound, found = outcome(spec, logits)
    assert sound and np.allclose(found, odds / odds.sum(), rtol=1e-6, atol=1e-40)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_an_answer_that_is_not_finite_gives_equal_priors_and_is_told(bad):
    for place in range(7):
        logits = np.zeros(7)
        logits[place] = bad
        sound, found = outcome("connect4", logits)
        assert not sound and np.allclose(found, 1 / 7)
    sound, found = outcome("connect4", [-np.inf] * 7)
    assert not sound and np.allclose(found, 1 / 7)


def test_a_logit_of_minus_infinity_beside_others_is_a_prior_of_zero():
    sound, found = outcome("connect4", [-np.inf, 0, 0, 0, 0, 0, 0])
    assert sound and found[0] == 0 and np.allclose(found[1:], 1 / 6)
