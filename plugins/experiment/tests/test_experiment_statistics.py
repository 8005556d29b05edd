"""What the seeds prove, by simulation: no difference where there is none, the right sign where there is one."""

import math

import numpy as np
import pytest

from plugins.experiment.statistics import (
    MOST_SEEDS,
    effect,
    elo_of_seed,
    seed_error,
    seeds_for,
    spread_of,
    t_quantile,
    t_share,
    visible,
)


def simulated(rng, elo, spread, seeds, games, draws=0.3):
    """Return (Elo, variance) of each seed of an experiment: seeds differ, and each pair of games has one opening."""
    found = []
    for _ in range(seeds):
        expected = 1 / (1 + 10 ** (-rng.normal(elo, spread) / 400))
        bias = rng.normal(0, 0.15, games // 2)  # an opening's, for the side that begins
        shares = np.clip(expected + np.stack([bias, -bias], 1).ravel(), 0.01, 0.99)
        drawn = rng.random(games) < draws * 2 * np.minimum(shares, 1 - shares)
        won = rng.random(games) < (shares - draws * np.minimum(shares, 1 - shares)) / (
            1 - draws * 2 * np.minimum(shares, 1 - shares)
        )
        found.append(elo_of_seed(np.where(drawn, 0.5, won).tolist()))
    return found


def found_in(repetitions, **what):
    rng = np.random.default_rng(1)
    return [effect(*zip(*simulated(rng, **what), strict=True)) for _ in range(repetitions)]


@pytest.mark.parametrize("seeds, spread", [(2, 20), (3, 0), (3, 20), (3, 60), (3, 150), (6, 20)])
def test_equals_are_found_equal_in_19_of_20_experiments(seeds, spread):
    found = found_in(1500, elo=0, spread=spread, seeds=seeds, games=100)
    share = np.mean([not e.sure for e in found])
    assert share >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / 1500), share


def test_an_improvement_and_a_fault_are_told_by_their_sign():
    for elo in (150, -150):
        found = found_in(200, elo=elo, spread=20, seeds=3, games=200)
        assert np.mean([e.sure and (e.mean > 0) == (elo > 0) for e in found]) > 0.9
        assert not any(e.sure and (e.mean > 0) != (elo > 0) for e in found)
        assert abs(np.mean([e.mean for e in found]) - elo) < 8


def test_the_power_that_is_promised_is_kept():
    error = seed_error(20, 200)
    seeds = seeds_for(60, error)
    found = found_in(600, elo=60, spread=20, seeds=seeds, games=200, draws=0.0)
    assert 0.75 < np.mean([e.low > 0 for e in found]) < 0.97
    assert visible(error, seeds) <= 60 < visible(error, seeds - 1)


def test_intervals_of_several_variants_hold_together():
    rng = np.random.default_rng(2)
    wrong = 0
    for _ in range(600):
        runs = [simulated(rng, 0, 150, 3, 100) for _ in range(4)]  # so that the floor by the games does not help
        wrong += any(effect(*zip(*run, strict=True), comparisons=4).sure for run in runs)
    assert wrong / 600 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 600)


def test_seeds_that_look_alike_by_chance_are_no_surer_than_their_games():
    same = effect([10.0, 10.0, 10.0], [400.0, 400.0, 400.0])
    assert same.error == pytest.approx(t_quantile(0.975, 2) * 20 / math.sqrt(3))
    assert not same.sure and spread_of(same) == pytest.approx(20)
    drawn = [elo_of_seed([0.5] * 100)] * 3  # not one game was won
    assert effect(*zip(*drawn, strict=True)).error > 10


def test_one_seed_proves_nothing():
    alone = effect([500.0], [1.0])
    assert alone.mean == 500 and not alone.sure and math.isinf(alone.high)
    assert visible(30, 1) == math.inf


def test_students_t_is_that_of_the_tables():
    table = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 10: 2.228, 30: 2.042}
    for freedom, expected in table.items():
        assert t_quantile(0.975, freedom) == pytest.approx(expected, abs=5e-4)
        assert t_share(0.0, freedom) == pytest.approx(0.5)
        assert t_share(-expected, freedom) == pytest.approx(0.025, abs=1e-4)


def test_all_games_won_leave_a_finite_difference():
    elo, variance = elo_of_seed([1.0] * 100)
    assert 700 < elo < 1000 and 0 < variance < math.inf
    assert elo_of_seed([0.0] * 100)[0] == pytest.approx(-elo)
    assert seeds_for(0.001, 100) == MOST_SEEDS
