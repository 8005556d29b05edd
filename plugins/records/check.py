"""A claim, run: it trains with the record's settings and seeds, and measures what its goal names."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import games
from agent import Agent
from config import UserError
from evaluation.match import contest
from evaluation.move_accuracy import choose, without_solver
from evaluation.solved_positions import oracle, positions
from game import Game
from games.hex import Hex
from games.hex_lines import SWAP
from network.predictor import STEADY
from players.by_name import make_player
from plugins.experiment.folder import locked
from plugins.experiment.plan import Plan, Variant
from plugins.experiment.runs import Job, jobs, run_all
from plugins.laboratory.hex_openings import known_openings
from plugins.records.goals import Goal, Record
from storage import run_folders
from system.machine import processor_name
from system.program import sources_digest

POINTS = 4
"""Versions of a run that its curve is made of."""
OPENING_PLIES = 2
"""Random moves before each pair of games, as in `match`."""


class Checked(NamedTuple):
    """What a run of a claim has reached."""

    seed: int
    minutes: float
    """When its version was trained: the last one within the claim's minutes."""
    percent: float
    curve: list[list[float]]


def folder_of(goal: Goal, record: Record) -> Path:
    """Return the folder of a claim's runs: another claim has another one, and so has another program or machine."""
    facts = [goal.game, goal.cores, float(record.planned), sorted(record.settings.items())]
    facts += [sources_digest(), processor_name()]
    return run_folders.RUNS / "records" / f"{goal.name}-{hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:8]}"


def check(goal: Goal, record: Record, say: Callable[[str], None]) -> list[Checked]:
    """Train what a record claims, unless it is there already, and measure it."""
    game = games.make(goal.game, typed=False)  # a file of records, perhaps from others, runs no file that it names
    measure = measure_of(goal, game)
    folder = folder_of(goal, record)
    variants = (Variant(goal.name, dict(record.settings)),)
    plan = Plan(game=game.spec, variants=variants, seeds=1, minutes=record.planned, cores=goal.cores)
    todo = [job for seed in sorted(set(record.seeds)) for job in jobs(replace(plan, first_seed=seed), folder)]
    with locked(folder):
        run_all(plan, todo, say)
        return [_checked(job, game, goal, record, measure) for job in todo]


def _checked(job: Job, game: Game, goal: Goal, record: Record, measure: Callable[[Agent], float]) -> Checked:
    trained: dict[int, float] = {}
    for line in job.metrics():
        trained.setdefault(line["version"], line["total_seconds"] / 60)
    # The iteration in which the minutes end is the run's last, and a few seconds longer
    limit = record.minutes if record.of else math.inf
    within = [v for v, minutes in trained.items() if minutes <= limit]
    if not within:
        raise UserError(f"{job.name}: expected a version within {record.minutes:g} minutes, there is none")
    step = max(-(-len(within) // POINTS), 1)
    chosen = within[::-1][::step][::-1]
    curve = []
    for version in chosen:
        agent = make_player(f"version{version}", game, root=job.root, sims=goal.sims, smallest=STEADY)
        if not isinstance(agent, Agent):
            raise UserError(f"{job.name}: expected a network that searches")
        curve.append([min(_rounded_up(trained[version]), limit), round(measure(agent), 2)])
    minutes, percent = curve[-1]
    return Checked(job.seed, minutes, percent, curve)


def _rounded_up(minutes: float) -> float:
    """Return minutes with two digits, within which a version has ended: as a claim they find it again.

    >>> _rounded_up(8.3748), _rounded_up(8.37)
    (8.38, 8.37)
    """
    return math.ceil(round(100 * minutes, 6)) / 100


def measure_of(goal: Goal, game: Game) -> Callable[[Agent], float]:
    """Return what measures a player, in percent; raise `UserError` if the goal does not fit its game."""
    if goal.measure == "kept":
        return _kept(goal, game)
    if goal.measure == "score":
        opponent: Any = make_player(goal.opponent, game, sims=goal.sims)
        if getattr(opponent, "is_person", False) or goal.games % 2:
            raise UserError(f"{goal.name}: expected a program as opponent and an even number of games")
        return lambda agent: _score(goal, game, opponent, agent)
    if not isinstance(game, Hex) or game.start_row[SWAP]:
        raise UserError(f"{goal.name}: expected a board of Hex without the swap, got {game.spec}")
    wins = known_openings(game.grid_shape[0])
    return lambda agent: judged_right(agent, wins)


def _kept(goal: Goal, game: Game) -> Callable[[Agent], float]:
    who = oracle(game)
    found = positions(game, who, goal.positions, 0) if who else []
    if who is None or not found:
        raise UserError(f"{goal.name}: expected a game with solved positions, got {game.spec}")

    def measure(agent: Agent) -> float:
        moves = choose(without_solver(agent, who), found, (goal.sims,))[goal.sims]
        return 100 * sum(m in p.keeping for m, p in zip(moves, found, strict=True)) / len(found)

    return measure


def _score(goal: Goal, game: Game, opponent: Any, agent: Agent) -> float:
    scores = contest(game, (agent, opponent), goal.games, seed=0, opening_plies=OPENING_PLIES)
    return 100 * sum(scores) / len(scores)


def judged_right(agent: Agent, wins: np.ndarray) -> float:
    """Return the share of first moves, in percent, after which a search gives the win to the player who has it.

    wins: [first moves] bool, whether the player who makes it wins.
    """
    start = agent.game.start()
    states = [start.takeAction(action)[0] for action in start.allowedActions]
    slots = range(len(states))
    agent.new_games(len(states))
    for slot, action in enumerate(start.allowedActions):
        agent.new_game(slot, slot)
        agent.observe(slot, action)
    decisions = agent.act_many(slots, states, [0.0] * len(states))
    right = [
        ((d.value > 0) == (state.playerTurn == start.playerTurn)) == bool(win)
        for d, state, win in zip(decisions, states, wins, strict=True)
    ]
    return 100 * sum(right) / len(right)
