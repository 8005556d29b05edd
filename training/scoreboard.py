"""The scoreboard in training: after an iteration, what the newest network's moves are worth.

Where exact values are known, the share of solved positions in which its move keeps the value, alone and
after a short search; on the iterations of tournaments a short match against rollout players, whose simulations double
when they are beaten. All of it is a function of (weights, seed, iteration) and of what earlier iterations found; an
interrupted scoreboard is made anew.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from typing import Any

from config import Config, UserError
from evaluation.ladder import rollout_match
from evaluation.move_accuracy import choose, choose_alone, measure, value_error
from evaluation.rating import ANCHOR, league, version_name
from evaluation.solved_positions import Oracle, Solved, oracle, positions
from games.plain import PlainGame
from initialise import Session, Stopped
from training.selfplay_step import budgets

LOWEST = int(ANCHOR.split(":")[1])
"""Simulations of the first opponent."""
HIGHEST = 1 << 14
COST = 0.05
"""Simulations of the opponents over those of self-play since the last match, at most, beyond the lowest one."""
BEATEN, BEATEN_WELL, LOST_TO = 0.65, 0.9, 0.25
"""Scores from which the opponent doubles, is four times as strong, and below which it is halved."""


def score(session: Session, stop: Callable[[], bool] = lambda: False) -> None:
    """Put the iteration's scoreboard into run.db; raise `Stopped` when `stop` ended it: it is made anew."""
    s, c = session, session.config
    iteration = s.iteration
    finished = s.store.finished(iteration)
    if "score" in finished:
        return
    began = time.perf_counter()
    last = s.ends(iteration, finished.get("tournament", {}).get("at_seconds", 0.0))
    facts: dict[str, Any] = {}
    if c.score_every and (last or iteration % c.score_every == 0):
        facts |= _exact(session, stop)
    if c.score_games >= 2 and (last or iteration % c.eval_every == 0):
        facts |= _matches(session, stop)
    if facts:
        facts["seconds"] = time.perf_counter() - began
    with s.store.transaction():
        s.store.finish(iteration, "score", facts)


def _ask(stop: Callable[[], bool]) -> None:
    if stop():
        raise Stopped


# ---- exact values


_KNOWN: dict[tuple[str, int], tuple[Oracle, list[Solved], bool] | None] = {}
"""{(game, positions): who solved which, whether these are all; None when nobody does}: read or solved once a process"""


def _solved(session: Session, stop: Callable[[], bool]) -> tuple[Oracle, list[Solved], bool] | None:
    s, count = session, session.config.score_positions
    key = s.game.spec, count
    if key not in _KNOWN:
        try:
            who, why = oracle(s.game), f"no exact values of {s.game.spec}"
        except UserError as error:
            who, why = None, str(error)
        if who is None:
            s.loggers.main.info("no scoreboard: %s", why)
            s.console.say(f"  no scoreboard of exact values: {why}")
            _KNOWN[key] = None
        else:
            with s.console.phase("solving", min(count, who.most)) as phase:

                def told(found: int) -> None:
                    _ask(stop)
                    phase.update(found)

                found = positions(s.game, who, count + who.whole, 0, report=told)
                _KNOWN[key] = who, found[:count], who.whole and len(found) <= count
    return _KNOWN[key]


def _exact(session: Session, stop: Callable[[], bool]) -> dict[str, Any]:
    s, c = session, session.config
    solved = _solved(session, stop)
    if solved is None or not solved[1]:
        return {}
    who, found, whole = solved
    agent = s.agent(s.current_version, role="current", sims=c.score_sims)
    alone = measure(choose_alone(agent, found), found, who.bands)
    searched = measure(choose(agent, found, [c.score_sims])[c.score_sims], found, who.bands)
    return {
        "positions": len(found), "whole": whole, "sims": c.score_sims,
        "kept_alone": alone.kept.share, "kept": searched.kept.share,
        "kept_by_stage": [part.share and round(part.share, 6) for _, part in searched.stages],
        "value_error": value_error(agent, found).mean_absolute_error,
    }  # fmt: skip


# ---- fixed opponents


def _matches(session: Session, stop: Callable[[], bool]) -> dict[str, Any]:
    """Play the opponent of the day and the one half as strong; return the matches and the Elo that follows."""
    s, c = session, session.config
    iteration, version = s.iteration, s.current_version
    lines = s.store.lines()
    today = s.store.finished(iteration)
    sims_then, fast_then = budgets(c.selfplay, iteration)
    played = dataclasses.replace(c, mcts_sims=sims_then, fast_sims=fast_then)
    top = strongest(played, today["self-play"]["plies"], plain=isinstance(s.game, PlainGame))
    sims = next_opponent(lines, top)
    agent = s.agent(version, role="current", sims=c.eval_sims)
    matches = []
    each = max(c.score_games // 4 * 2, 2)
    for opponent in sorted({max(sims // 2, LOWEST), sims}):
        _ask(stop)
        seed = c.seed * 1_000_003 + iteration
        with s.console.phase(f"rollout:{opponent}", each):
            found = rollout_match(
                s.game, agent, opponent, range(each), seed=seed, plies=c.opening_plies, pairs=each // 2
            )
            scores = [g.score for g in found]
        matches.append({"opponent": f"rollout:{opponent}", "score": sum(scores) / each, "games": each})
        s.loggers.tourney.info("version %d against rollout:%d: %s", version, opponent, scores)
    line = {"version": version, "best_version": s.best_version, "score_matches": matches}
    line |= {f"tournament_{k}": v for k, v in today["tournament"].items()}
    rating = league([*lines, line]).get(version_name(version))
    elo = {"elo": rating.elo, "elo_error": rating.error} if rating is not None else {}
    return {"matches": matches, **elo}


def strongest(config: Config, plies: float, *, plain: bool) -> int:
    """Return the simulations of the strongest opponent that the run can afford: a power of two.

    plies: mean length of a game. In a plain game every move of a random game costs as much as a simulation.
    """
    c = config
    searched = c.full_search_share * c.mcts_sims + (1 - c.full_search_share) * min(c.fast_sims, c.mcts_sims)
    allowed = COST * c.eval_every * c.episodes * plies * searched
    cost = 1.5 * (c.score_games / 2) * (plies / 2) * (plies / 2 if plain else 1.0)
    top = LOWEST
    while 2 * top * cost <= allowed and top < HIGHEST:
        top *= 2
    return top


def next_opponent(lines: list[dict[str, Any]], top: int) -> int:
    """Return the simulations of the next opponent, by what the last match showed."""
    last = next((line["score_matches"] for line in reversed(lines) if line.get("score_matches")), None)
    if last is None:
        return LOWEST
    sims, found = int(last[-1]["opponent"].split(":")[1]), last[-1]["score"]
    if found >= BEATEN:
        sims *= 4 if found >= BEATEN_WELL else 2
    elif found <= LOST_TO:
        sims //= 2
    return min(max(sims, LOWEST), top)
