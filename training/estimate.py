"""An estimate of a run's memory, disk space, positions per iteration and time: numbers first, then their words."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from agent import Player
from compiling.prepared import search_is_kept
from compiling.ready_code import SHIPS
from config import Config
from game import Game
from initialise import Session
from loggers import clock
from network.device import Plan
from network.predictor import Predictor, cores, measure_raw, side_by_side
from search.evaluation_cache import CACHE_BYTES, place_bytes, places_in
from search.many_games import games_at_once
from search.tables import capacity_for, forest_bytes
from storage.run_store import evaluations_of
from training.budget import TYPICAL_LENGTH, evaluations_asked, searched_plies
from training.selfplay import SPARE_BUFFERS
from training.work import source_of

LIBRARIES = 1 << 30
"""Memory of TensorFlow and OpenVINO with a small network, in bytes."""
COPIES = 10
"""Copies of the weights: training, gradients, optimizer, averages, and two or three predictors."""
LATEST = 5
"""When a run resumes, an iteration is expected to take the mean time of this many latest ones."""

COMPILING = 6.0 if SHIPS else 40.0
"""Seconds that the search, training and the first tournament take to compile on one core, with code that ships or
without."""
MOST_RATE = {"sgd": 1.0, "adamw": 0.1, "muon": 0.1}
"""Learning rates above which a run is hardly meant to be."""


class MemoryNeeds(NamedTuple):
    """Memory that a run takes at most, in bytes."""

    search: int
    """Trees, evaluation cache and records of the games in flight."""
    games: int
    """An iteration's games: kept until its end, then unrolled into positions and joined."""
    tournament: int
    """Trees and evaluation caches of two players."""
    network: int
    """Weights, and the libraries."""

    @property
    def most(self) -> int:
        """All but the training window; the tournament begins when the iteration's games are dropped."""
        return self.search + max(self.games, self.tournament) + self.network


def memory_needs(game: Game, config: Config, parameters: int = 0, plan: Plan | None = None) -> MemoryNeeds:
    """Return the memory that a run takes beside its window of positions; `parameters`: of the network.

    plan: of a device; without one the games in flight are those of the settings.
    """
    c, actions, inputs = config, game.action_size, int(np.prod(game.input_shape))
    share, threads = (plan.games, plan.threads) if plan else side_by_side(game, c.selfplay)
    trees, plies = share * threads, game.max_plies
    buffers = threads * (share + max(SPARE_BUFFERS, share // 4))
    search = forest_bytes(game, trees, 1, capacity_for(c.mcts_sims, 1)) + c.cache_size * place_bytes(actions)
    records = buffers * plies * (2 * actions + 6) + trees * (4 * actions + inputs)
    games = round(c.episodes * plies * (2 * actions + c.full_search_share * (4 * actions + 2 * inputs)))
    tree = forest_bytes(game, 1, 8, capacity_for(c.eval_sims, 8))
    at_once = min(games_at_once(game, c.eval_sims, Player.at_once), c.eval_episodes)
    cache = places_in(CACHE_BYTES, 1 << 16, actions) * place_bytes(actions)
    return MemoryNeeds(search + records, games, 2 * (at_once * tree + cache), LIBRARIES + COPIES * 4 * parameters)


class Estimate(NamedTuple):
    """What a run is expected to take from now on, as numbers."""

    rate: float
    """Evaluations/s of the network alone."""
    needs: MemoryNeeds
    window: int
    """Memory of the training window, in bytes."""
    disk: float
    """Bytes that the rest of the run writes at most."""
    positions: float
    """An iteration's searched positions."""
    seconds: float
    """An iteration's time."""
    once: float
    """Seconds until all is compiled, 0 if it is."""
    left: float
    """Seconds of the rest of the run, compiling included."""


def estimate(session: Session) -> Estimate:
    """Return what a session's run is expected to take.

    Speeds are measured now. The length of games and the number of evaluations are guesses. A run that resumes knows how
    long its iterations take, and how many evaluations they make.
    """
    s, c = session, session.config
    measured = source_of(s).measured
    plan, speed = measured.plan, measured.speed
    rate = speed.rate if speed else measure_raw(_predictor(s), s.game.input_shape, plan.games, plan.threads)
    plies = TYPICAL_LENGTH * s.game.max_plies
    asked = evaluations_asked(s.game, c)
    sims = c.full_search_share * c.mcts_sims + (1 - c.full_search_share) * min(c.fast_sims, c.mcts_sims)
    searched = searched_plies(s.game, c)
    positions = c.episodes * searched * c.full_search_share
    lines = s.store.lines(s.iteration - 1 - LATEST) if s.iteration > 1 else []
    made = asked * c.episodes * searched * sims
    if lines:
        seconds = sum(line["seconds"] for line in lines) / len(lines)
        made = sum(map(evaluations_of, lines)) / len(lines) or made
    else:
        steps = c.training_loops or positions * c.reuse / c.batch_size
        seconds = made / (0.7 * rate) + steps * _training_step(c, rate)
    once = 0.0 if search_is_kept() else COMPILING
    end = s.requested  # what was changed while an iteration was in progress counts from the next one on
    iterations = max(1, end.iterations - s.iteration + 1)  # the one in progress is finished
    left = iterations * seconds + once
    if end.minutes:
        left = min(left, max(60 * end.minutes - s.worked_seconds, 0))
        iterations = min(iterations, int(left / seconds) + 1)
    if end.evaluations:
        iterations = min(iterations, math.ceil(max(end.evaluations - s.evaluations(s.iteration - 1), 0) / made))
        left = min(left, iterations * seconds + once)
    parameters = int(s.model.model.count_params())
    record = 8 * plies + 2 * searched * c.full_search_share * s.game.action_size
    disk = iterations * (4 * parameters + c.episodes * record)
    needs, window = memory_needs(s.game, c, parameters, plan), c.memory_size * s.memory.bytes_per_position
    return Estimate(rate, needs, window, disk, positions, seconds, once, left)


def _predictor(session: Session) -> Predictor:
    """Return the network that self-play asks."""
    version = session.best_version if session.config.selfplay_with == "best" else session.current_version
    return session.predictor("selfplay", version)


def budget_text(session: Session) -> str:
    """Return the estimate in words, a line each for network, device, memory, disk and time."""
    c, found, measured = session.config, estimate(session), source_of(session).measured
    needs = found.needs
    compiled = f"; the search is compiled first, once, about {clock(found.once)}" if found.once else ""
    lines = [
        f"network: {session.model.model.count_params():,} parameters, {_predictor(session).name}, "
        f"{found.rate:,.0f} evaluations/s on {cores()} cores",
        f"memory:  up to {_size(needs.most + found.window)}: search {_size(needs.search)}, {c.memory_size:,} positions "
        f"{_size(found.window)}, games {_size(max(needs.games, needs.tournament))}, network {_size(needs.network)}",
        f"disk:    up to {_size(found.disk)}",
        f"an iteration: {c.episodes} games, about {found.positions:,.0f} positions, {clock(found.seconds)}; "
        f"the rest of the run: about {clock(found.left)}{compiled}",
    ]
    if measured.speed:
        lines.insert(1, f"device:  {measured.words()}")
    return "\n".join(f"  {line}" for line in lines)


def cautions(config: Config) -> list[str]:
    """Return what is allowed and will hardly be meant, a line each."""
    most = MOST_RATE[config.optimizer]
    if config.learning_rate <= most:
        return []
    told = f"a network seldom learns at a learning rate above {most:g} with {config.optimizer}"
    return [f"  note: {told}, got {config.learning_rate:g}; the preset has {Config.learning_rate:g}"]


def _training_step(config: Config, rate: float) -> float:
    """Return a guess of a training step's seconds: three times the work of an evaluation, at half the speed.

    rate: evaluations/s of the network alone.
    """
    return 10.0 * config.batch_size / rate


def _size(count: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 999.5 or unit == "GiB":  # never 1.02e+03
            return f"{count:.3g} {unit}"
        count /= 1024
    raise ValueError(f"expected a size, got {count}")
