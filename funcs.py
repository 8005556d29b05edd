"""Games between players: matches and the tournament; many games run side by side."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from agent import Player
from evaluation.match import play_batch
from evaluation.openings import openings
from game import Game
from memory import Memory

if TYPE_CHECKING:
    from initialise import Session


class MatchResult(NamedTuple):
    """The result of a match, in the form of the article's playMatches."""

    scores: dict[str, int]
    """{player 1: wins, "drawn": draws, player 2: wins}"""
    memory: Memory | None
    points: dict[str, list[float]]
    """{player: its points of each game: 1 won, 0.5 drawn, 0 lost}"""
    sp_scores: dict[str, int]
    """{"sp": wins of the player who began, "drawn": draws, "nsp": wins of the other}"""
    forfeits: dict[str, int]
    """{player: games that it lost by rule, not by play, such as a program that failed}; they are among the others."""


def playMatches(
    game: Game,
    player1: Player,
    player2: Player,
    EPISODES: int,
    logger: logging.Logger,
    turns_until_tau0: int,
    memory: Memory | None = None,
    goes_first: int = 0,
    *,
    seed: int = 0,
    opening_plies: int = 0,
    in_flight: int = 64,
    report: Callable[[int], None] | None = None,
) -> MatchResult:
    """Play EPISODES games; goes_first: 1 = player 1 always begins, -1 = player 2, 0 = both colours of each opening.

    Without opening plies every game begins at the start. With a memory, every game is committed to its stmemory.
    """
    if player1.name == player2.name:
        raise ValueError(f"expected players of two names, got {player1.name!r} twice")
    jobs = _jobs(game, EPISODES, goes_first, opening_plies, seed)
    points: dict[str, list[float]] = {player1.name: [], player2.name: []}
    scores = {player1.name: 0, "drawn": 0, player2.name: 0}
    sp_scores = {"sp": 0, "drawn": 0, "nsp": 0}
    forfeits = {player1.name: 0, player2.name: 0}
    in_flight = min(in_flight, player1.at_once, player2.at_once)
    for start in range(0, EPISODES, in_flight):
        batch = jobs[start : start + in_flight]
        games = play_batch(game, (player1, player2), batch, seed=seed, turns_until_tau0=turns_until_tau0)
        for g in games:
            points[player1.name].append(g.score)
            points[player2.name].append(1 - g.score)
            winner = {1.0: player1.name, 0.5: "drawn", 0.0: player2.name}[g.score]
            scores[winner] += 1
            sp_scores["drawn" if g.score == 0.5 else "sp" if (g.score == 1) == g.first_began else "nsp"] += 1
            forfeits[player2.name if g.score else player1.name] += bool(g.forfeit)
            by = f" by forfeit ({g.forfeit})" if g.forfeit else ""
            logger.info("game %d: %s%s, moves %s", g.index, winner, by, " ".join(game.move_name(a) for a in g.moves))
            if memory is not None:
                memory.commit_stmemory(g.record)
        if report is not None:
            report(min(start + in_flight, EPISODES))
    return MatchResult(scores, memory, points, sp_scores, forfeits)


def _jobs(game: Game, count: int, goes_first: int, plies: int, seed: int) -> list[tuple[int, list[int], bool]]:
    """Return (index, opening, whether player 1 begins) of each game; with both colours of each opening two a pair."""
    pairs = [i // 2 if goes_first == 0 else i for i in range(count)]
    opened = openings(game, max(pairs, default=-1) + 1, plies=plies, seed=seed) if plies else [[]]
    return [
        (i, opened[pair % len(opened)], goes_first == 1 or (goes_first == 0 and i % 2 == 0))
        for i, pair in enumerate(pairs)
    ]


def playMatchesBetweenVersions(
    session: Session,
    run_version: int,
    player1version: int,
    player2version: int,
    EPISODES: int,
    logger: logging.Logger,
    turns_until_tau0: int = 0,
    goes_first: int = 0,
) -> MatchResult:
    """Play versions of a run against each other; -1 is a person at the console."""
    players = [session.version_player(v, run=run_version, name=f"player{i}") for i, v in
               enumerate((player1version, player2version), 1)]  # fmt: skip
    plies = 0 if -1 in (player1version, player2version) else session.config.opening_plies
    return playMatches(
        session.game, players[0], players[1], EPISODES, logger, turns_until_tau0, None, goes_first,
        seed=session.config.seed, opening_plies=plies,
    )  # fmt: skip
