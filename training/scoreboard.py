"""The scoreboard in training: after an iteration, how good the newest network's moves are.

Where exact values are known: the share of solved positions in which its move keeps the value, alone and after a short
search. In iterations with a tournament: a short match against rollout players, whose simulations double when they are
beaten. All of it is a function of (weights, seed, iteration) and of the results of earlier iterations; an interrupted
scoreboard is measured again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from agent import Agent
from config import Config, UserError
from evaluation.ladder import rollout_match
from evaluation.move_accuracy import choose, choose_alone, measure, value_error, without_solver
from evaluation.rating import ANCHOR, league, version_name
from evaluation.solved_positions import Oracle, Solved, oracle, sample
from games.plain import PlainGame
from initialise import Session
from training.divergence import stepping_back
from training.selfplay_step import budgets
from training.stage_bookkeeping import Stage, never

LOWEST = int(ANCHOR.split(":")[1])
"""Simulations of the first opponent."""
HIGHEST = 1 << 14
COST = 0.05
"""Most simulations of the opponents over those of self-play since the last match, except for the lowest opponent."""
BEATEN, BEATEN_WELL, LOST_TO = 0.65, 0.9, 0.25
"""Scores above which the opponent's strength doubles or quadruples, and below which it halves."""


def score(session: Session, stop: Callable[[], bool] = never) -> None:
    """Measure the newest network and record the result; raise `Stopped` when `stop` ended it, to be measured again."""
    s, c, stage = session, session.config, Stage(session, "score", stop)
    if stage.finished:
        return
    last = s.ends(stage.iteration, stage.earlier.get("tournament", {}).get("at_seconds", 0.0))
    facts: dict[str, Any] = {}
    with stepping_back(s):
        if c.score_every and (last or stage.iteration % c.score_every == 0):
            facts |= _exact(stage)
        if c.score_games >= 2 and (last or stage.iteration % c.eval_every == 0):
            facts |= _matches(stage)
    if facts:
        facts["seconds"] = stage.seconds
    stage.end(facts, point="commit")


# ---- exact values


_KNOWN: dict[tuple[str, int], tuple[Oracle, list[Solved], bool] | None] = {}
"""{(game, positions): (oracle, solved positions, whether these are all) or None}; filled once a process."""


def _solved(stage: Stage) -> tuple[Oracle, list[Solved], bool] | None:
    """Return the oracle, the solved positions, and whether these are all; None if there is no oracle."""
    s, count = stage.session, stage.session.config.score_positions
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
            _KNOWN[key] = who, *_solve(stage, who, count)
    return _KNOWN[key]


def _solve(stage: Stage, who: Oracle, count: int) -> tuple[list[Solved], bool]:
    """Return positions with their exact values, and whether these are all, while progress is shown."""
    s = stage.session
    with s.console.phase("solving", min(count, who.most)) as phase:

        def report(solved: int) -> None:
            stage.check_stop()
            phase.update(solved)

        return sample(s.game, who, count, 0, report=report)


def _exact(stage: Stage) -> dict[str, Any]:
    """Return the share of solved positions in which the newest network keeps the value, alone and with a search."""
    s, c = stage.session, stage.session.config
    solved = _solved(stage)
    if solved is None or not solved[1]:
        return {}
    who, found, whole = solved
    agent = s.agent(s.current_version, role="current", sims=c.score_sims)
    alone = measure(choose_alone(agent, found), found, who.bands)
    chosen = choose(without_solver(agent, who), found, [c.score_sims])[c.score_sims]
    searched = measure(chosen, found, who.bands)
    return {
        "positions": len(found), "whole": whole, "sims": c.score_sims,
        "kept_alone": alone.kept.share, "kept": searched.kept.share,
        "kept_by_stage": [part.share and round(part.share, 6) for _, part in searched.stages],
        "value_error": value_error(agent, found).mean_absolute_error,
    }  # fmt: skip


# ---- fixed opponents


def _matches(stage: Stage) -> dict[str, Any]:
    """Play the current opponent and the one half as strong; return the matches and the Elo that follows."""
    s = stage.session
    lines, plies = s.store.lines(), stage.earlier["self-play"]["plies"]
    full, fast = budgets(s.config.selfplay, stage.iteration)
    searched = dataclasses.replace(s.config, mcts_sims=full, fast_sims=fast)
    sims = next_opponent(lines, strongest(searched, plies, plain=isinstance(s.game, PlainGame)))
    agent = s.agent(s.current_version, role="current", sims=s.config.eval_sims)
    matches = [_match(stage, agent, opponent) for opponent in sorted({max(sims // 2, LOWEST), sims})]
    line = {"version": s.current_version, "best_version": s.best_version, "score_matches": matches}
    line |= {f"tournament_{k}": v for k, v in stage.earlier["tournament"].items()}
    rating = league([*lines, line]).get(version_name(s.current_version))
    elo = {"elo": rating.elo, "elo_error": rating.error} if rating is not None else {}
    return {"matches": matches, **elo}


def _match(stage: Stage, agent: Agent, opponent: int) -> dict[str, Any]:
    """Play the newest network against a rollout player of `opponent` simulations; return the mean score."""
    stage.check_stop()
    s, c = stage.session, stage.session.config
    games = max(c.score_games // 4 * 2, 2)
    seed = c.seed * 1_000_003 + stage.iteration
    with s.console.phase(f"rollout:{opponent}", games):
        found = rollout_match(
            s.game, agent, opponent, range(games), seed=seed, plies=c.opening_plies, pairs=games // 2
        )
    scores = [g.score for g in found]
    s.loggers.tourney.info("version %d against rollout:%d: %s", s.current_version, opponent, scores)
    return {"opponent": f"rollout:{opponent}", "score": sum(scores) / games, "games": games}


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
    """Return the simulations of the next opponent, which follow from the score of the last match."""
    last = next((line["score_matches"] for line in reversed(lines) if line.get("score_matches")), None)
    if last is None:
        return LOWEST
    sims, found = int(last[-1]["opponent"].split(":")[1]), last[-1]["score"]
    if found >= BEATEN:
        sims *= 4 if found >= BEATEN_WELL else 2
    elif found <= LOST_TO:
        sims //= 2
    return min(max(sims, LOWEST), top)
