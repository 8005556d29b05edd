"""Maximum-likelihood ratings against simulated leagues of known strengths; the league of a run's metrics."""

import itertools

import numpy as np
import pytest

from evaluation.rating import ANCHOR, elo, fit_ratings, league, results


def played(strengths, games, rng, near=300, draws=0.0):
    """Return the results of everybody against all within `near` Elo."""
    found = []
    for a, b in itertools.combinations(strengths, 2):
        if abs(strengths[a] - strengths[b]) <= near:
            p = 1 / (1 + 10 ** ((strengths[b] - strengths[a]) / 400))
            points = np.where(rng.random(games) < draws, 0.5, rng.random(games) < p)
            found.append((a, b, float(points.sum()), games))
    return found


STRENGTHS = {f"p{i}": float(x) for i, x in enumerate(np.linspace(0, 800, 9))}


def test_known_strengths_are_found_again():
    found = fit_ratings(played(STRENGTHS, 4000, np.random.default_rng(0)), "p0")
    assert {name: r.elo for name, r in found.items()} == pytest.approx(STRENGTHS, abs=25)
    assert found["p0"] == (0.0, 0.0, pytest.approx(3 * 4000))


def test_the_intervals_cover_the_truth_as_often_as_they_say():
    hits = []
    for seed in range(60):
        found = fit_ratings(played(STRENGTHS, 30, np.random.default_rng(seed)), "p4")
        hits += [abs(r.elo - (STRENGTHS[n] - STRENGTHS["p4"])) <= r.error for n, r in found.items() if n != "p4"]
    assert 0.9 < np.mean(hits) < 0.99


def test_four_times_the_games_halve_the_error_and_distance_from_the_anchor_grows_it():
    few, many = (fit_ratings(played(STRENGTHS, n, np.random.default_rng(1)), "p0") for n in (100, 400))
    assert few["p5"].error / many["p5"].error == pytest.approx(2, rel=0.1)
    assert 0 < many["p1"].error < many["p4"].error < many["p8"].error


def test_two_players_differ_by_what_their_score_means():
    found = fit_ratings([("a", "b", 6400.0, 10_000.0)], "b")
    assert found["a"].elo == pytest.approx(elo(0.64), abs=0.2)
    p = 0.64  # the error of a share, through d elo / d p = 400 / (ln 10 p (1 - p))
    assert found["a"].error == pytest.approx(1.96 * 400 / np.log(10) / np.sqrt(10_000 * p * (1 - p)), rel=0.01)


def test_neither_the_order_of_results_nor_who_is_named_first_matters():
    games = played(STRENGTHS, 50, np.random.default_rng(2))
    turned = [(b, a, n - points, n) for a, b, points, n in reversed(games)]
    one, other = fit_ratings(games, "p3"), fit_ratings(turned, "p3")
    assert {n: r.elo for n, r in one.items()} == pytest.approx({n: r.elo for n, r in other.items()}, abs=1e-6)
    halves = [(a, b, points / 2, n / 2) for a, b, points, n in games for _ in range(2)]
    assert {n: r.elo for n, r in fit_ratings(halves, "p3").items()} == pytest.approx({n: r.elo for n, r in one.items()})


def test_another_anchor_shifts_all_alike():
    games = played(STRENGTHS, 50, np.random.default_rng(3))
    one, other = fit_ratings(games, "p0"), fit_ratings(games, "p6")
    shifts = [one[n].elo - other[n].elo for n in STRENGTHS]
    assert shifts == pytest.approx([one["p6"].elo] * 9, abs=1e-6)


def test_who_won_all_games_stays_finite_and_who_never_met_the_others_is_left_out():
    found = fit_ratings([("a", "b", 10, 10), ("c", "d", 3, 4), ("a", "a", 1, 2)], "b")
    assert set(found) == {"a", "b"} and 300 < found["a"].elo < 1200 and found["a"].error > 300
    assert fit_ratings([], "b") == {}


def line(version, best, **facts):
    return {"iteration": version, "version": version, "best_version": best, **facts}


def test_a_runs_games_are_those_of_its_metrics():
    lines = [
        line(1, 1, tournament_played=20, tournament_score=0.75, tournament_promoted=True,
             score_matches=[{"opponent": ANCHOR, "score": 0.25, "games": 16}]),
        line(2, 1, tournament_played=0),
        line(3, 1, tournament_played=10, tournament_score=0.5),
    ]  # fmt: skip
    assert list(results(lines)) == [
        ("version0001", "version0000", 15.0, 20),
        ("version0001", ANCHOR, 4.0, 16),
        ("version0003", "version0001", 5.0, 10),
    ]
    found = league(lines)
    assert set(found) == {"version0000", "version0001", "version0003", ANCHOR} and found[ANCHOR].elo == 0
    assert found["version0001"].elo < 0 and found["version0003"].elo == pytest.approx(found["version0001"].elo)
    assert found["version0003"].error > found["version0001"].error


def test_a_run_without_fixed_opponents_is_rated_over_its_first_version():
    found = league([line(1, 1, tournament_played=20, tournament_score=0.75)])
    assert found["version0000"].elo == 0 and found["version0001"].elo > 100
