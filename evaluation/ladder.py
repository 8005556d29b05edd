"""The ladder: rollout players with more and more simulations, and how many it takes to score half against a player.

The opponent grows when it is beaten, so every player meets opponents of its own strength, and players that never met
can be compared. Matches are seeded openings with both colours.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from agent import Player
from evaluation.match import MatchGame, play_batch
from evaluation.openings import openings
from game import Game
from players.rollout import RolloutPlayer

FIRST, TOP = 16, 1 << 17
"""Simulations of the first rung of a climb, and of the highest."""
GAMES = 8
"""Games on a rung at a time: four openings with both colours."""
SLOPES = np.exp(np.linspace(math.log(0.15), math.log(3.0), 25))
"""Slopes considered for the log odds of a win per doubling, in natural logarithms; 0.58 is 100 Elo a doubling."""
STEPS = 16
"""Steps per doubling in the search for the strength."""
BEYOND = 3
"""Doublings considered above the highest and below the lowest rung."""


class Rung(NamedTuple):
    """Games against one opponent."""

    sims: int
    points: float
    games: int

    @property
    def score(self) -> float:
        return self.points / self.games


class Strength(NamedTuple):
    """Simulations of the rollout player that scores half, with the ends of the 95 % interval."""

    sims: float
    low: float
    high: float
    outside: str
    """"above" or "below" when it lies beyond all rungs played, so that only a bound is known; else ""."""

    def __str__(self) -> str:
        if self.outside:
            word, bound = ("more", self.low) if self.outside == "above" else ("fewer", self.high)
            return f"{word} than {_round(max(bound, 1))} simulations"
        return f"{_round(self.sims)} simulations [{_round(self.low)}, {_round(self.high)}]"


class Ladder(NamedTuple):
    """A climb."""

    strength: Strength
    rungs: list[Rung]
    """From the fewest simulations to the most."""
    ended: str
    """Why it ended: "games" (all played), "bound" (stronger than the highest or weaker than the lowest rung), or what
    `stop` returned."""


def _round(sims: float) -> str:
    """Return a number of simulations rounded to two significant digits."""
    digits = max(int(math.floor(math.log10(max(sims, 1)))) - 1, 0)
    return f"{round(sims / 10**digits) * 10**digits:,.0f}"


def strength(rungs: Sequence[Rung]) -> Strength:
    """Estimate the simulations at which a player scores half.

    The score against `sims` simulations is modelled as 1 / (1 + exp(b (log2 sims - x))), b > 0. Every x from `BEYOND`
    doublings below the lowest rung to as many above the highest, and every b of `SLOPES`, is weighted by its likelihood
    (a draw is half a win). Returned are the median of x and its central 95 %. They are finite even when all games are
    won; `outside` then says so.
    """
    played = [r for r in rungs if r.games]
    logs = np.log2([r.sims for r in played])
    points, games = np.array([r.points for r in played]), np.array([r.games for r in played])
    low, high = float(logs.min()), float(logs.max())
    x = np.arange(low - BEYOND, high + BEYOND + 0.5 / STEPS, 1 / STEPS)
    margin = SLOPES[None, :, None] * (x[:, None, None] - logs[None, None, :])
    likelihood = -(np.logaddexp(0, -margin) * points + np.logaddexp(0, margin) * (games - points)).sum(axis=2)
    weight = np.exp(likelihood - likelihood.max()).sum(axis=1)
    upto = np.cumsum(weight) / weight.sum()
    ends = [float(2 ** x[min(int(np.searchsorted(upto, q)), len(x) - 1)]) for q in (0.025, 0.5, 0.975)]
    outside = "above" if ends[1] > 2**high else "below" if ends[1] < 2**low else ""
    return Strength(ends[1], ends[0], ends[2], outside)


def climb(
    play: Callable[[int, int, int], Sequence[float]],
    games: int,
    *,
    first: int = FIRST,
    top: int = TOP,
    stop: Callable[[], str] = lambda: "",
    report: Callable[[list[Rung]], None] = lambda rungs: None,
) -> Ladder:
    """Play at most `games` games where they say most: double while the player scores above half, then stay near.

    play: (simulations of the opponent, games played on that rung before, games) -> the player's scores. stop: returns
    why to end early, or "".
    """
    found: dict[int, Rung] = {}

    def rungs() -> list[Rung]:
        return [found[sims] for sims in sorted(found)]

    sims, left, ended = first, games - games % 2, ""
    while left > 0 and not ended:
        before = found.get(sims, Rung(sims, 0.0, 0))
        scores = play(sims, before.games, min(GAMES, left))
        found[sims] = Rung(sims, before.points + float(sum(scores)), before.games + len(scores))
        left -= len(scores)
        report(rungs())
        ended = (stop() if left > 0 else "") or ("bound" if _beyond(found, top) else "")
        sims = _next(found, top)
    return Ladder(strength(rungs()), rungs(), ended or "games")


def _next(found: dict[int, Rung], top: int) -> int:
    """Return the rung to play next: above the last one while that is beaten, else the one nearer to the estimate."""
    highest, lowest = max(found), min(found)
    if found[highest].score > 0.5 and highest < top:
        return highest * 2
    if found[lowest].score < 0.5 and lowest > 1:
        return lowest // 2
    x = math.log2(strength(list(found.values())).sims)
    near = [int(2 ** min(max(step, 0), math.log2(top))) for step in (math.floor(x), math.ceil(x))]
    return min(near, key=lambda sims: found[sims].games if sims in found else 0)


def _beyond(found: dict[int, Rung], top: int) -> bool:
    """Return whether 32 games on the highest or lowest possible rung were all, or nearly all, won or lost."""
    won, lost = found.get(top), found.get(1)
    return bool((won and won.games >= 32 and won.score > 0.9) or (lost and lost.games >= 32 and lost.score < 0.1))


def rollout_match(
    game: Game, player: Player, sims: int, indices: Sequence[int], *, seed: int, plies: int, pairs: int,
    play: Callable[..., list[MatchGame]] | None = None,
) -> list[MatchGame]:  # fmt: skip
    """Return games of a player against a rollout player, each opening with both colours.

    A game is a function of (seed, index), the largest possible number of pairs, and the players. `play`: as in
    `contest`.
    """
    mixed = int(np.random.default_rng([seed, sims]).integers(2**31))
    opened = openings(game, pairs, plies=plies, seed=mixed)
    jobs = [(i, opened[i // 2 % len(opened)], i % 2 == 0) for i in indices]
    players = player, RolloutPlayer(game, sims=sims)
    at_once, played = min(p.at_once for p in players) if play is None else len(jobs), []
    for first in range(0, len(jobs), at_once):
        played += (play or play_batch)(game, players, jobs[first : first + at_once], seed=mixed)
    return played


def as_values(ladder: Ladder) -> dict[str, Any]:
    """Return a climb as numbers for programs."""
    s = ladder.strength
    return {
        "simulations": s.sims, "low": s.low, "high": s.high, "outside": s.outside or None, "ended": ladder.ended,
        "games": sum(r.games for r in ladder.rungs),
        "rungs": [{"simulations": r.sims, "score": r.score, "games": r.games} for r in ladder.rungs],
    }  # fmt: skip
