"""What a set of games proves: score, Elo difference with its interval, and a sequential test.

A score counts a win 1, a draw 1/2, a loss 0. Games come in pairs, one opening with both colours; the pair is the
unit of all statistics, because its two games are not independent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Score(NamedTuple):
    """The result of a match, for the first player named."""

    wins: int
    draws: int
    losses: int
    elo: float
    """Elo difference; infinite when all games have one result."""
    low: float
    high: float
    """Ends of its 95 % interval."""

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def mean(self) -> float:
        """Points a game, in [0, 1]."""
        return (self.wins + self.draws / 2) / max(self.games, 1)

    def __str__(self) -> str:
        return (
            f"{self.wins} won, {self.draws} drawn, {self.losses} lost: {100 * self.mean:.1f} %, "
            f"Elo {self.elo:+.0f} [{self.low:+.0f}, {self.high:+.0f}]"
        )


def elo(score: float) -> float:
    """Return the Elo difference at which a player scores so much.

    >>> round(elo(0.64))
    100
    """
    if score <= 0 or score >= 1:
        return math.copysign(math.inf, score - 0.5)
    return -400 * math.log10(1 / score - 1)


def rate(scores: Sequence[float]) -> Score:
    """Sum up a match from its game scores, pairs adjacent; the interval is Wilson's with the pairs' variance."""
    games = np.asarray(scores, float)
    wins, draws, losses = int((games == 1).sum()), int((games == 0.5).sum()), int((games == 0).sum())
    mean = float(games.mean())
    low, high = wilson(mean, len(games) / _relative_variance(games, mean))
    return Score(wins, draws, losses, elo(mean), elo(low), elo(high))


def _relative_variance(games: np.ndarray, mean: float) -> float:
    """Return the variance of a game's score, judged by pairs, over that of a game won or lost by chance."""
    pairs = games[: len(games) // 2 * 2].reshape(-1, 2).mean(axis=1)
    if len(pairs) < 2 or not 0 < mean < 1:
        return 1.0
    return float(np.clip(2 * pairs.var(ddof=1) / (mean * (1 - mean)), 0.1, 2.0))


def wilson(mean: float, n: float, z: float = 1.96) -> tuple[float, float]:
    """Return Wilson's interval of a share found in n trials; 95 % with the default z."""
    centre = (mean + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(mean * (1 - mean) / n + z * z / (4 * n * n))
    return max(centre - half, 0.0), min(centre + half, 1.0)


def log_likelihood_ratio(pairs: Sequence[float], s0: float, s1: float) -> float:
    """Return log P(data | score s1) / P(data | score s0) for pair means in [0, 1].

    Normal approximation with the variance found, as in the generalised sequential test of chess engines (Van den
    Bergh 2020). One win and one loss are added to the variance, so that equal results do not make it vanish.
    """
    x = np.asarray(pairs, float)
    if not len(x):
        return 0.0
    mean = float(x.mean())
    variance = (float(((x - mean) ** 2).sum()) + 0.5) / (len(x) + 2)
    return len(x) * (s1 - s0) * (2 * mean - s0 - s1) / (2 * variance)


def sprt_bounds(error: float = 0.05) -> tuple[float, float]:
    """Return (lower, upper): the ratio below which s0 and above which s1 is accepted (Wald)."""
    return math.log(error / (1 - error)), math.log((1 - error) / error)
