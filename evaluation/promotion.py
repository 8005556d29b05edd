"""When a match is over and what it has decided: the sequential test and the article's threshold, in words.

Scores are of player 1 (in a tournament the current network), game by game, the two of a pair adjacent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from agent import Player
from config import TournamentSettings
from evaluation.match import MatchGame, contest
from evaluation.rating import Score, log_likelihood_ratio, rate, sprt_bounds
from game import Game


class Verdict(NamedTuple):
    """Whether the current network becomes the best, and why in words."""

    promoted: bool
    words: str
    score: Score


class SprtState(NamedTuple):
    """Evidence of the games for "scores s1" against "scores s0" (generalised SPRT over pairs, both errors 5 %)."""

    ratio: float
    """Log-likelihood ratio: above `high` s1 is accepted, below `low` s0."""
    low: float
    high: float

    @property
    def accepted(self) -> bool | None:
        """True = s1, False = s0, None = undecided."""
        return True if self.ratio >= self.high else False if self.ratio <= self.low else None


def sprt(scores: Sequence[float], s0: float, s1: float) -> SprtState:
    """Return the evidence of a match, from its complete pairs."""
    pairs = np.asarray(scores, float).reshape(-1, 2).mean(axis=1)
    low, high = sprt_bounds()
    return SprtState(log_likelihood_ratio(pairs, s0, s1), low, high)


def judge_sprt(scores: Sequence[float], sprt_score: float, final: bool) -> Verdict | None:
    """Decide by a sequential test of "scores sprt_score" against "scores a half"; None = play on.

    If it is undecided after all games, the player that is better with 95 % confidence becomes or stays the best: strong
    players draw much, and gain less per game than `sprt_score` demands.
    """
    found, total = sprt(scores, 0.5, sprt_score), rate(scores)
    words = (
        f"{total} in {len(scores)} games; evidence {found.ratio:+.2f} "
        f"(promote at {found.high:+.2f}, stop at {found.low:+.2f})"
    )
    if found.accepted:
        return Verdict(True, f"promoted: {words}", total)
    if found.accepted is False:
        return Verdict(False, f"not promoted, not better by enough: {words}", total)
    if not final:
        return None
    if total.low > 0:
        return Verdict(True, f"promoted after all games, the 95 % interval lies above one half: {words}", total)
    return Verdict(False, f"not promoted, undecided after all games: {words}", total)


def judge_threshold(scores: Sequence[float], threshold: float) -> Verdict:
    """Decide by the article's rule: promote current if it scores over `threshold` times the best's; draws are half."""
    total = rate(scores)
    current, best = sum(scores), len(scores) - sum(scores)
    promoted = current > threshold * best
    word = "promoted" if promoted else "not promoted"
    return Verdict(promoted, f"{word}: {current:g} against {best:g} points, {threshold:g} times as many needed", total)


SIDE_BY_SIDE = 64
"""Games of a tournament side by side: half of them wait for each network, so that its batches are full."""


def tournament(
    game: Game,
    current: Player,
    best: Player,
    settings: TournamentSettings,
    *,
    seed: int,
    known: dict[int, float] | None = None,
    keep: Callable[[list[MatchGame]], None] = lambda games: None,
    report: Callable[[int], None] = lambda done: None,
) -> Verdict:
    """Play current against best, both colours of each seeded opening, until the rule decides.

    `known` holds scores of games already played; `keep` receives the new games, one batch at a time.
    """
    sequential = settings.promotion == "sprt"

    def judge(scores: list[float], final: bool) -> Verdict | None:
        if sequential:
            return judge_sprt(scores, settings.sprt_score, final)
        return judge_threshold(scores, settings.scoring_threshold) if final else None

    scores = contest(
        game, (current, best), settings.eval_episodes, seed=seed, opening_plies=settings.opening_plies,
        over=lambda scores: judge(scores, False) is not None, every=32, batch=SIDE_BY_SIDE, known=known, keep=keep,
        report=report,
    )  # fmt: skip
    verdict = judge(scores, True)
    if verdict is None:
        raise RuntimeError("expected a verdict after the last game")
    return verdict
