"""Matches and what they prove: the tournament and its two gates, ratings."""

import itertools
import math

import numpy as np
import pytest

from agent import Agent
from config import Config
from evaluation import rating
from evaluation.promotion import judge_sprt, judge_threshold, tournament
from evaluation.rating import elo, rate
from players.simple import RandomPlayer
from support.match_players import Drawn, Spy
from support.search_cases import GAMES, Projection, always
from support.tiny_runs import tiny

# ---- the tournament


def judged(scores, rule):
    return judge_sprt(scores, 0.55, True) if rule == "sprt" else judge_threshold(scores, 1.0)


@pytest.mark.parametrize("rule", ["sprt", "threshold"])
@pytest.mark.parametrize("count", [2, 40, 400, 10_000])
def test_draws_alone_never_promote(rule, count):
    assert not judged([0.5] * count, rule).promoted
    assert not judged([1.0, 0.0] * (count // 2), rule).promoted, "nor do pairs that each win with one colour"


@pytest.mark.parametrize("promotion", ["sprt", "threshold"])
def test_a_tournament_of_draws_promotes_nobody(promotion):
    game = Drawn()
    config = tiny(promotion=promotion, eval_episodes=40, scoring_threshold=1.0)
    verdict = tournament(game, Spy("A", game), Spy("B", game), config, seed=1)
    assert not verdict.promoted and verdict.words.startswith("not promoted")
    assert (verdict.score.wins, verdict.score.losses, verdict.score.mean) == (0, 0, 0.5)


def test_the_threshold_is_how_many_times_as_many_points_are_needed():
    for wins, promoted in ((23, True), (22, False)):
        assert judge_threshold([1.0] * wins + [0.0] * (40 - wins), 1.3).promoted == promoted, wins
    assert judge_threshold([1.0] * 10 + [0.5] * 20 + [0.0] * 2, 1.3).promoted
    assert not judge_threshold([0.0] * 40, 1.3).promoted


@pytest.mark.parametrize("promotion", ["sprt", "threshold"])
def test_a_far_better_player_is_promoted_and_a_far_worse_one_is_not(promotion):
    game = GAMES["connect4"]
    strong, weak = Agent("A", game, always(0.0, np.zeros(7)), mcts_sims=60), RandomPlayer(game)
    config = tiny(promotion=promotion, eval_episodes=64, opening_plies=2)
    up = tournament(game, strong, weak, config, seed=3)
    down = tournament(game, weak, strong, config, seed=3)
    assert up.promoted and up.score.mean > 0.9 and up.words.startswith("promoted")
    assert not down.promoted and down.score.mean < 0.1
    assert (up.score.games < 64) == (promotion == "sprt"), "the sequential test stops when it is clear"


def gate(rng, score, draws, budget, rule_score):
    """Play a gate with made-up games, judged when `tournament` does; return (promoted, games)."""
    luck = rng.random(budget)
    games = np.where(luck < score - draws / 2, 1.0, np.where(luck < score + draws / 2, 0.5, 0.0))
    for end in [*range(32, budget, 32), budget]:
        verdict = judge_sprt(games[:end].tolist(), rule_score, end == budget)
        if verdict is not None:
            return verdict.promoted, end
    raise AssertionError("no verdict after all games")


@pytest.mark.parametrize("draws", [0.0, 0.4, 0.9])
def test_equal_players_are_promoted_in_fewer_than_five_percent_of_gates(draws):
    rng, config = np.random.default_rng(1), Config()
    for budget in (config.eval_episodes, 400):
        found = [gate(rng, 0.5, draws, budget, config.sprt_score)[0] for _ in range(400)]
        assert np.mean(found) < 0.05 + 2 * (0.05 * 0.95 / 400) ** 0.5


@pytest.mark.parametrize("draws", [0.0, 0.4])
def test_sixty_to_forty_is_promoted_in_nine_gates_of_ten_within_400_games(draws):
    rng = np.random.default_rng(2)
    found = [gate(rng, 0.6, draws, 400, 0.55) for _ in range(400)]
    assert np.mean([promoted for promoted, _ in found]) > 0.9
    assert np.mean([games for _, games in found]) < 300, "and mostly earlier"


def test_games_already_known_are_not_played_again_and_the_verdict_is_the_same():
    game, config = GAMES["tictactoe"], tiny(promotion="threshold", eval_episodes=20, opening_plies=1)

    def run(known):
        new = []
        players = Agent("A", game, Projection(game), mcts_sims=10), RandomPlayer(game)
        verdict = tournament(game, *players, config, seed=9, known=known, keep=new.extend)
        return verdict, {g.index: g for g in new}

    verdict, whole = run({})
    assert sorted(whole) == list(range(20)) and verdict.score.games == 20
    known = {i: whole[i].score for i in (0, 1, 2, 7, 13, 19)}
    again, rest = run(known)
    assert sorted(rest) == sorted(set(range(20)) - set(known)) and again == verdict
    assert all(rest[i].moves == whole[i].moves for i in rest)
    last, none = run({i: whole[i].score for i in whole})
    assert none == {} and last == verdict
    assert run({i: 1.0 for i in range(20)})[0].score.wins == 20, "what is known counts"


def test_a_tournament_of_an_odd_number_of_games_plays_whole_pairs():
    game, new = GAMES["tictactoe"], []
    settings = tiny(eval_episodes=7, promotion="threshold")
    tournament(game, Spy("A", game), Spy("B", game), settings, seed=0, keep=new.extend)
    assert [g.index for g in new] == list(range(6)) and [g.first_began for g in new] == [True, False] * 3


# ---- ratings


def test_elo_is_the_logistic_scale():
    assert elo(0.5) == 0 and elo(10 / 11) == pytest.approx(400) and elo(0) == -math.inf and elo(1) == math.inf
    for score in np.linspace(0.01, 0.99, 23):
        assert elo(score) == pytest.approx(-elo(1 - score))
    assert list(map(elo, np.linspace(0, 1, 50))) == sorted(map(elo, np.linspace(0, 1, 50)))


MATCHES = [
    [1.0, 1.0, 0.0, 0.5], [1.0] * 10, [0.0] * 7, [0.5] * 20, [1.0, 0.0] * 10, [1.0, 0.5, 0.0] * 9, [1.0], [0.5],
    [*([1.0] * 30), *([0.0] * 20)],
]  # fmt: skip


@pytest.mark.parametrize("scores", MATCHES, ids=len)
def test_a_rating_seen_from_the_other_side_is_its_negative(scores):
    mine, theirs = rate(scores), rate([1 - s for s in scores])
    assert (mine.wins, mine.draws, mine.losses) == (theirs.losses, theirs.draws, theirs.wins)
    assert mine.elo == pytest.approx(-theirs.elo) and mine.mean == pytest.approx(1 - theirs.mean)
    assert mine.low == pytest.approx(-theirs.high) and mine.high == pytest.approx(-theirs.low)
    assert mine.games == len(scores) and f"{mine.wins} won" in str(mine)


@pytest.mark.parametrize("scores", MATCHES, ids=len)
def test_the_interval_contains_the_estimate_and_narrows_with_more_games(scores):
    few, many = rate(scores), rate(scores * 16)
    assert few.low <= few.elo <= few.high
    if 0 < few.mean < 1:
        assert few.low < few.elo < few.high
        assert many.high - many.low < few.high - few.low
        assert many.elo == pytest.approx(few.elo)
    else:
        assert math.isfinite(few.low) or math.isfinite(few.high), "some games do not prove everything"
        assert abs(many.low if few.mean == 1 else many.high) > abs(few.low if few.mean == 1 else few.high)


@pytest.mark.parametrize("score, draws", [(0.5, 0.0), (0.6, 0.3), (0.75, 0.1)])
def test_nineteen_of_twenty_intervals_contain_the_truth(score, draws):
    rng, inside = np.random.default_rng(3), []
    for _ in range(600):
        luck = rng.random(60)
        found = rate(
            np.where(luck < score - draws / 2, 1.0, np.where(luck < score + draws / 2, 0.5, 0.0)).tolist()
        )
        inside.append(found.low <= elo(score) <= found.high)
    assert 0.92 < np.mean(inside) <= 0.99


@pytest.mark.parametrize("pairs", [2, 3, 4, 6])
@pytest.mark.parametrize("score, draws", [(0.5, 0.0), (0.5, 0.5), (0.5, 0.9), (0.6, 0.3), (0.75, 0.1)])
def test_intervals_of_a_few_games_are_no_narrower_than_chance(pairs, score, draws):
    """All results of so many pairs with their probability; Wilson's own interval misses 12.5 % of 4 games, 7 % of 8."""
    chance = {1.0: score - draws / 2, 0.5: draws, 0.0: 1 - score - draws / 2}
    pair_of = {}
    for first, second in itertools.product(chance, repeat=2):
        key = (first, second) if first >= second else (second, first)
        pair_of[key] = pair_of.get(key, 0.0) + chance[first] * chance[second]
    missed = 0.0
    for kinds in itertools.combinations_with_replacement(pair_of, pairs):
        found = rate([result for pair in kinds for result in pair])
        if not found.low - 1e-9 <= elo(score) <= found.high + 1e-9:
            ways = math.factorial(pairs)
            for kind in set(kinds):
                ways //= math.factorial(kinds.count(kind))
            missed += ways * math.prod(pair_of[kind] for kind in kinds)
    assert missed <= (0.126 if pairs == 2 else 0.08)


def test_the_interval_is_wider_when_the_games_of_a_pair_go_the_same_way():
    same, split = rate([1.0, 1.0, 0.0, 0.0] * 10), rate([1.0, 0.0, 1.0, 0.0] * 10)
    assert same.elo == split.elo == 0 and same.high > 1.5 * split.high


def test_the_evidence_for_one_claim_is_the_evidence_against_the_other():
    rng = np.random.default_rng(4)
    for _ in range(20):
        pairs = rng.choice([0, 0.25, 0.5, 0.75, 1], 30)
        ratio = rating.log_likelihood_ratio(pairs, 0.5, 0.55)
        assert ratio == pytest.approx(-rating.log_likelihood_ratio(pairs, 0.55, 0.5))
        assert ratio == pytest.approx(-rating.log_likelihood_ratio(1 - pairs, 0.45, 0.5))
        assert (ratio > 0) == (pairs.mean() > 0.525)
    assert rating.log_likelihood_ratio([], 0.5, 0.55) == 0
    low, high = rating.sprt_bounds(0.05)
    assert low == -high and math.exp(high) == pytest.approx(19)
