"""The ladder finds the rung of simulated players of known strength, within its budget; real matches are seeded."""

import math

import numpy as np
import pytest

import games
from evaluation.ladder import FIRST, TOP, Rung, Strength, climb, rollout_match, strength
from players.simple import RandomPlayer


def simulated(true, rng, slope=0.6):
    """Return the `play` of a player who scores half against `true` simulations."""

    def play(sims, before, count):
        odds = 1 / (1 + math.exp(slope * (math.log2(sims) - math.log2(true))))
        return [float(x) for x in rng.random(count) < odds]

    return play


@pytest.mark.parametrize("true", [3, 40, 700, 20_000])
@pytest.mark.parametrize("slope", [0.35, 1.2])
def test_the_right_rung_is_found_for_players_of_known_strength(true, slope):
    found = [climb(simulated(true, np.random.default_rng(i), slope), 160).strength for i in range(40)]
    assert np.median([s.sims for s in found]) == pytest.approx(true, rel=0.35)
    covered = [s.low <= true <= s.high for s in found]
    assert np.mean(covered) >= 0.85, "a 95 % interval, 40 times: under 34 of them has odds of 1 in 2,000"


def test_more_games_make_the_interval_narrower():
    few, many = (climb(simulated(300, np.random.default_rng(1)), n).strength for n in (60, 600))
    assert many.high / many.low < 0.7 * few.high / few.low


def test_games_beyond_the_climb_are_played_near_the_strength():
    found = climb(simulated(700, np.random.default_rng(0)), 400)
    near = sum(r.games for r in found.rungs if 250 <= r.sims <= 2100)
    assert near > 280 and [r.sims for r in found.rungs] == sorted(r.sims for r in found.rungs)


@pytest.mark.parametrize("games_allowed", [2, 9, 50, 161])
def test_no_more_games_are_played_than_allowed_and_never_a_pair_torn(games_allowed):
    asked = []

    def play(sims, before, count):
        asked.append((sims, before, count))
        return [1.0, 0.0] * (count // 2)

    found = climb(play, games_allowed)
    assert sum(count for *_, count in asked) == sum(r.games for r in found.rungs) == games_allowed // 2 * 2
    assert all(before % 2 == 0 and count % 2 == 0 for _, before, count in asked)
    for sims in {s for s, *_ in asked}:
        starts = [(before, count) for s, before, count in asked if s == sims]
        assert [b for b, _ in starts] == list(np.cumsum([0] + [c for _, c in starts])[:-1]), "no game twice"


def test_who_wins_all_is_above_the_ladder_and_who_loses_all_below():
    top = climb(lambda sims, before, count: [1.0] * count, 1000, top=64)
    assert top.ended == "bound" and top.strength.outside == "above" and top.strength.low > 64
    assert [r.sims for r in top.rungs] == [16, 32, 64] and str(top.strength).startswith("more than ")
    bottom = climb(lambda sims, before, count: [0.0] * count, 1000)
    assert bottom.ended == "bound" and bottom.strength.outside == "below" and bottom.strength.high < 1
    assert [r.sims for r in bottom.rungs] == [1, 2, 4, 8, 16] and str(bottom.strength) == "fewer than 1 simulations"


def test_the_climb_doubles_and_stops_when_told():
    asked = []

    def play(sims, before, count):
        asked.append(sims)
        return [1.0] * count

    found = climb(play, 10_000, stop=lambda: "time" if len(asked) == 5 else "")
    assert asked == [FIRST * 2**i for i in range(5)] and found.ended == "time" and TOP > asked[-1]


def test_strength_of_known_counts():
    even = strength([Rung(256, 20.0, 40)])
    assert even.sims == pytest.approx(256, rel=0.05) and even.low < 256 < even.high and even.outside == ""
    between = strength([Rung(64, 30.0, 40), Rung(256, 10.0, 40)])
    assert between.sims == pytest.approx(128, rel=0.05)
    draws = strength([Rung(64, 20.0, 40)])
    assert draws.sims == pytest.approx(64, rel=0.05), "draws are half"


def test_strength_is_told_with_two_digits():
    assert str(Strength(1234.0, 567.0, 98_765.0, "")) == "1,200 simulations [570, 99,000]"


def test_a_match_is_a_function_of_its_seed_and_games_can_be_had_one_part_after_the_other():
    game = games.make("tictactoe")
    options = {"seed": 3, "plies": 2, "pairs": 6}
    whole = games_of(game, 8, range(12), **options)
    parts = [*games_of(game, 8, range(4), **options), *games_of(game, 8, range(4, 12), **options)]
    assert whole == parts
    assert whole != games_of(game, 8, range(12), **{**options, "seed": 4})


def games_of(game, sims, indices, **options):
    played = rollout_match(game, RandomPlayer(game), sims, indices, **options)
    return [(g.index, g.opening, g.first_began, g.score) for g in played]


def test_a_random_player_scores_about_half_against_one_simulation_and_little_against_many():
    game = games.make("tictactoe")
    alike, weak = (
        np.mean([g[-1] for g in games_of(game, sims, range(count), seed=0, plies=2, pairs=count // 2)])
        for sims, count in ((1, 120), (200, 60))
    )
    assert 0.35 < alike < 0.65 and weak < 0.25
