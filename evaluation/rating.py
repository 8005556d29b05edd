"""The evidence of a set of games: score, Elo difference with its interval, and a sequential test.

A score counts a win 1, a draw 1/2, a loss 0. Games come in pairs, one opening with both colours; the pair is the unit
of all statistics, because its two games are not independent.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

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
        """The mean points of a game, in [0, 1]."""
        return (self.wins + self.draws / 2) / max(self.games, 1)

    def __str__(self) -> str:
        return (
            f"{self.wins} won, {self.draws} drawn, {self.losses} lost: {100 * self.mean:.1f} %, "
            f"Elo {self.elo:+.0f} [{self.low:+.0f}, {self.high:+.0f}]"
        )


def elo(score: float) -> float:
    """Return the Elo difference at which a player has this score.

    >>> round(elo(0.64))
    100
    """
    if score <= 0 or score >= 1:
        return math.copysign(math.inf, score - 0.5)
    return 400 * math.log10(score / (1 - score))


def score_of(elo: float) -> float:
    """Return the score that a player with this Elo difference has, the inverse of `elo`.

    >>> round(score_of(100), 2), score_of(-math.inf)
    (0.64, 0.0)
    """
    return 1 / (1 + 10 ** (-elo / 400))


def rate(scores: Sequence[float]) -> Score:
    """Rate a match from its game scores, pairs adjacent; the interval is Wilson's with the pairs' variance."""
    games = np.asarray(scores, float)
    wins, draws, losses = int((games == 1).sum()), int((games == 0.5).sum()), int((games == 0).sum())
    mean = float(games.mean())
    low, high = wilson(mean, len(games) / _relative_variance(games, mean))
    return Score(wins, draws, losses, elo(mean), elo(low), elo(high))


def _relative_variance(games: np.ndarray, mean: float) -> float:
    """Return the variance of a game's score, estimated from pairs, over that of games won or lost at random.

    Two pairs of random games are added, as the variance of a few pairs is often next to none; it is 2 at most.
    """
    pairs = games[: len(games) // 2 * 2].reshape(-1, 2).mean(axis=1)
    if len(pairs) < 2 or not 0 < mean < 1:
        return 1.0
    spread = 2 * float(((pairs - pairs.mean()) ** 2).sum()) / (mean * (1 - mean))
    return min((spread + 2) / (len(pairs) + 1), 2.0)


def wilson(mean: float, n: float, z: float = 1.96) -> tuple[float, float]:
    """Return Wilson's interval of a share found in n trials; 95 % with the default z."""
    centre = (mean + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(mean * (1 - mean) / n + z * z / (4 * n * n))
    return 0.0 if mean == 0 else max(centre - half, 0.0), 1.0 if mean == 1 else min(centre + half, 1.0)


def log_likelihood_ratio(pairs: Sequence[float] | np.ndarray, s0: float, s1: float) -> float:
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


class Rating(NamedTuple):
    """A player's strength in a league."""

    elo: float
    error: float
    """Half of its 95 % interval, against the player at 0."""
    games: float


def fit_ratings(results: Iterable[tuple[str, str, float, float]], anchor: str) -> dict[str, Rating]:
    """Return the maximum-likelihood Elo of all players who are connected by games with `anchor`, which is at 0.

    results: (player, other, points of the player, games). Bradley and Terry 1952 (Zermelo 1929), a draw counted as half
    a win. Half a drawn game is added to every pair that met, so that a player who won all games stays finite. The error
    comes from the likelihood's curvature; draws and openings with both colours make it too large, not too small.
    """
    met: dict[tuple[str, str], tuple[float, float]] = {}
    for player, other, points, games in results:
        if player == other or games <= 0:
            continue
        first, second = sorted((player, other))
        points = points if player == first else games - points
        before = met.get((first, second), (0.25, 0.5))
        met[first, second] = before[0] + points, before[1] + games
    names = _connected(met, anchor)
    pairs = [(names[a], names[b], *sums) for (a, b), sums in met.items() if a in names]
    if not pairs:
        return {}
    strengths, variances = _bradley_terry(len(names), names[anchor], pairs)
    played = np.zeros(len(names))
    for a, b, _, games in pairs:
        played[[a, b]] += games - 0.5
    scale = 400 / math.log(10)
    return {
        name: Rating(scale * float(strengths[i]), 1.96 * scale * math.sqrt(variances[i]), float(played[i]))
        for name, i in names.items()
    }


def _connected(met: Iterable[tuple[str, str]], anchor: str) -> dict[str, int]:
    """Return {name: number} of all players connected by games with the anchor."""
    edges = list(met)
    found = {anchor: 0}
    growing = True
    while growing:
        growing = False
        for a, b in edges:
            for known, other in ((a, b), (b, a)):
                if known in found and other not in found:
                    found[other] = len(found)
                    growing = True
    return found


def _bradley_terry(
    count: int, anchor: int, pairs: Sequence[tuple[int, int, float, float]]
) -> tuple[np.ndarray, np.ndarray]:
    """Return (strengths in natural logarithms of odds, their variances), by Newton's method with damped steps."""
    first, second = (np.array([p[k] for p in pairs]) for k in (0, 1))
    points, games = (np.array([p[k] for p in pairs], float) for k in (2, 3))
    free = np.arange(count) != anchor
    strengths = np.zeros(count)
    for _ in range(200):
        expected = 1 / (1 + np.exp(strengths[second] - strengths[first]))
        slope = np.bincount(first, points - games * expected, count) - np.bincount(
            second, points - games * expected, count
        )
        weight = games * expected * (1 - expected)
        curvature = np.zeros((count, count))
        np.add.at(curvature, (first, first), weight)
        np.add.at(curvature, (second, second), weight)
        np.add.at(curvature, (first, second), -weight)
        np.add.at(curvature, (second, first), -weight)
        step = np.linalg.solve(curvature[np.ix_(free, free)], slope[free])
        strengths[free] += np.clip(step, -1.0, 1.0)
        if np.abs(step).max() < 1e-9:
            break
    variances = np.zeros(count)
    variances[free] = np.diag(np.linalg.inv(curvature[np.ix_(free, free)]))
    return strengths, variances


ANCHOR = "rollout:16"
"""Elo 0: the weakest of the fixed opponents. Every run meets it, so runs can be compared."""


def version_name(version: int) -> str:
    """Return the name of a version in the league."""
    return f"version{version:04}"


def results(lines: Sequence[dict[str, Any]]) -> Iterator[tuple[str, str, float, float]]:
    """Yield (player, other, points of the player, games) of tournaments and of matches against fixed opponents."""
    best = 0
    for line in lines:
        name = version_name(line["version"])
        played = line.get("tournament_played", 0)
        if played:
            yield name, version_name(best), line["tournament_score"] * played, played
        for match in line.get("score_matches", ()):
            yield name, match["opponent"], match["score"] * match["games"], match["games"]
        best = line["best_version"]


def league(lines: Sequence[dict[str, Any]]) -> dict[str, Rating]:
    """Return {name: rating} of the versions and fixed opponents that are connected by games with `ANCHOR`.

    A run that never met a fixed opponent is rated relative to its version 0.
    """
    games = list(results(lines))
    met = {name for game in games for name in game[:2]}
    return fit_ratings(games, ANCHOR if ANCHOR in met else version_name(0))


def rated_versions(lines: Sequence[dict[str, Any]]) -> tuple[list[tuple[dict[str, Any], Rating]], dict[str, Rating]]:
    """Return ([(first line of a version, its rating)] in order, the ratings of all players as in `league`)."""
    lines = [line for line in lines if "version" in line and "best_version" in line]
    ratings = league(lines)
    first: dict[str, dict[str, Any]] = {}
    for line in lines:
        first.setdefault(version_name(line["version"]), line)
    found = [(line, ratings[name]) for name, line in first.items() if name in ratings]
    return found, ratings
