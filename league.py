"""Ratings of all versions of a run, from the games that the lines of its metrics.jsonl tell of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from evaluation.rating import Rating, fit_ratings

ANCHOR = "rollout:16"
"""Elo 0: the weakest of the fixed opponents, met by every run, so that runs can be compared."""


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
    """Return {name: rating} of the versions and fixed opponents that games connect with `ANCHOR`.

    A run that never met a fixed opponent is rated over its version 0.
    """
    games = list(results(lines))
    met = {name for game in games for name in game[:2]}
    return fit_ratings(games, ANCHOR if ANCHOR in met else version_name(0))
