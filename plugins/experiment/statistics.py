"""What the seeds of an experiment prove. The seed is the unit: games of one seed's networks are within it.

Two runs of the very same settings and other seeds differ in strength, by more than the error of any number of games
between them. So a difference counts by how it repeats over seeds: an interval of Student's t over the seeds' Elo. Where
chance made the seeds look more alike than the games of each allow, the error of the games takes its place. Intervals of
several variants hold together with 95 % (Bonferroni). The number of seeds is fixed beforehand: an experiment that is
stopped, or gets more seeds, because of what it shows so far would find differences where there are none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evaluation.rating import elo, rate, score_of

SURE = 0.95
POWER = 0.8
"""Probability with which a difference that "is seen" gets an interval without 0."""
SPREAD = 20.0
"""Standard deviation over seeds of the Elo between two variants, without the error of the games: of five variants of
Connect 4 at six core-minutes (benchmarks/log/2026-11-connect4-techniques.md)."""
ELO_OF_GAME = 400 / math.log(10) / 0.5
"""Standard deviation of the Elo that one game between equals measures; n games have its n-th root."""
MOST_SEEDS = 1000


class Effect(NamedTuple):
    """The difference of a variant from the base."""

    mean: float
    low: float
    high: float
    """Ends of its interval; infinite with one seed."""
    seeds: tuple[float, ...]
    """The difference in each seed."""

    @property
    def sure(self) -> bool:
        """Whether the sign is certain."""
        return self.low > 0 or self.high < 0

    @property
    def error(self) -> float:
        """Half of the interval."""
        return (self.high - self.low) / 2


def t_share(t: float, freedom: int) -> float:
    """Return the probability that Student's t is at most `t` (Abramowitz, Stegun 26.7.3 and 26.7.4).

    >>> round(t_share(4.303, 2), 4)
    0.975
    """
    angle = math.atan(t / math.sqrt(freedom))
    term = math.cos(angle) if freedom % 2 else 1.0
    total = 0.0 if freedom == 1 else term
    for k in range(3 if freedom % 2 else 2, freedom - 1, 2):
        term *= (k - 1) / k * math.cos(angle) ** 2
        total += term
    inside = 2 / math.pi * (angle + math.sin(angle) * total) if freedom % 2 else math.sin(angle) * total
    return 0.5 + inside / 2


def t_quantile(share: float, freedom: int) -> float:
    """Return the value that Student's t stays below with this probability, at least a half.

    >>> round(t_quantile(0.975, 2), 3), round(t_quantile(0.975, 9), 3)
    (4.303, 2.262)
    """
    low, high = 0.0, 1.0
    while t_share(high, freedom) < share:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if t_share(middle, freedom) < share else (low, middle)
    return high


def _quantile(comparisons: int, freedom: int) -> float:
    """Return Student's t at the end of an interval that holds (SURE) together with the others."""
    return t_quantile(1 - (1 - SURE) / 2 / comparisons, freedom)


def effect(differences: Sequence[float], variances: Sequence[float], comparisons: int = 1) -> Effect:
    """Return the mean difference with its interval.

    differences: one of each seed. variances: of the error within each seed. comparisons: how many such intervals are
    to hold together.
    """
    seeds = np.asarray(differences, float)
    count, mean = len(seeds), float(seeds.mean())
    if count < 2:
        return Effect(mean, -math.inf, math.inf, tuple(seeds.tolist()))
    variance = max(float(seeds.var(ddof=1)), float(np.mean(variances)))
    half = _quantile(comparisons, count - 1) * math.sqrt(variance / count)
    return Effect(mean, mean - half, mean + half, tuple(seeds.tolist()))


def spread_of(found: Effect, comparisons: int = 1) -> float:
    """Return the standard deviation of one seed's difference that an interval was made with."""
    count = len(found.seeds)
    return found.error * math.sqrt(count) / _quantile(comparisons, count - 1)


def elo_of_seed(scores: Sequence[float]) -> tuple[float, float]:
    """Return (Elo of the first player, variance of its error) of the games of one seed, pairs adjacent.

    Half a game won and half a game lost are added, so that a player who won all games stays finite.
    """
    mean = (float(np.sum(scores)) + 0.5) / (len(scores) + 1)
    found = rate(scores)
    low, high = (elo(_inside(score_of(end))) for end in (found.low, found.high))
    return elo(mean), ((high - low) / 2 / 1.96) ** 2


def _inside(share: float) -> float:
    return min(max(share, 1e-3), 1 - 1e-3)


def seed_error(spread: float, games: int) -> float:
    """Return the standard deviation of one seed's Elo: of the seeds, and of its match of `games` games."""
    return math.hypot(spread, ELO_OF_GAME / math.sqrt(games))


def visible(error: float, seeds: int, comparisons: int = 1) -> float:
    """Return the difference that is seen (POWER) with `seeds` seeds; `error`: standard deviation of one seed's."""
    if seeds < 2:
        return math.inf
    edges = _quantile(comparisons, seeds - 1) + t_quantile(POWER, seeds - 1)
    return edges * error / math.sqrt(seeds)


def seeds_for(difference: float, error: float, comparisons: int = 1) -> int:
    """Return how many seeds it takes to see a difference; `MOST_SEEDS` if not even fewer than those would do."""
    low, high = 1, 2
    while visible(error, high, comparisons) > difference and high < MOST_SEEDS:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if visible(error, middle, comparisons) <= difference else (middle, high)
    return min(high, MOST_SEEDS)
