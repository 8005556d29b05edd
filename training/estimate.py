"""An estimate, printed before a run starts, of its memory, disk space, positions per iteration and time."""

from __future__ import annotations

from initialise import Session
from loggers import clock
from network.predictor import cores, measure_raw, side_by_side
from search.evaluation_cache import place_bytes
from search.tables import capacity_for, forest_bytes

TYPICAL_LENGTH = 0.7
"""Plies of a game over the most there can be: a guess, made before the first game."""
LATEST = 5
"""When a run resumes, an iteration is expected to take the mean time of this many latest ones."""


def budget_text(session: Session) -> str:
    """Return the estimate in words.

    Speeds are measured now. The length of games and the number of evaluations are guesses. A run that resumes knows how
    long its iterations take.
    """
    s, c = session, session.config
    version = s.best_version if c.selfplay_with == "best" else s.current_version
    predictor = s.predictor("selfplay", version)
    trees, threads = side_by_side(s.game, c.selfplay)
    s.raw_rate = measure_raw(predictor, s.game.input_shape, trees, threads)
    plies = TYPICAL_LENGTH * s.game.max_plies
    sims = c.full_search_share * c.mcts_sims + (1 - c.full_search_share) * min(c.fast_sims, c.mcts_sims)
    searched = max(plies - c.random_opening_share * (1 + c.random_opening_plies) / 2, 1.0)
    positions = c.episodes * searched * c.full_search_share
    seconds = _asked(s) * c.episodes * searched * sims / (0.7 * s.raw_rate)
    steps = c.epochs * (c.training_loops or positions * c.reuse / c.batch_size)
    seconds += steps * _training_step(s)
    taken = [line["seconds"] for line in s.store.lines(s.iteration - 1 - LATEST)] if s.iteration > 1 else []
    seconds = sum(taken) / len(taken) if taken else seconds
    left = (c.iterations - s.iteration + 1) * seconds
    if c.minutes:
        left = min(left, max(60 * c.minutes - s.worked_seconds, 0))
    search = forest_bytes(s.game, trees * threads, 1, capacity_for(c.mcts_sims, 1))
    cache = c.cache_size * place_bytes(s.game.action_size)
    window = c.memory_size * s.memory.bytes_per_position
    weights = 4 * int(s.model.model.count_params())
    disk = (c.iterations - s.iteration + 1) * weights + (c.iterations - s.iteration + 1) * c.episodes * (
        8 * plies + 2 * searched * c.full_search_share * s.game.action_size
    )
    return (
        f"  network: {s.model.model.count_params():,} parameters, {predictor.name}, {s.raw_rate:,.0f} evaluations/s "
        f"on {cores()} cores\n"
        f"  memory:  {_size(search + cache)} for the search, {_size(window)} for {c.memory_size:,} positions\n"
        f"  disk:    up to {_size(disk)}\n"
        f"  an iteration: {c.episodes} games, about {positions:,.0f} positions, {clock(seconds)}; "
        f"the rest of the run: about {clock(left)}"
    )


def _asked(session: Session) -> float:
    """Return a guess of evaluations per simulation: the other simulations end at positions that are known already.

    In the runs that ship: 0.4 to 0.7, and 0.04 to 0.2 where a game of few moves is won by a move that can be proven.
    """
    game = session.game
    return 0.2 if session.config.proofs and game.won_by_a_move and game.action_size <= 9 else 0.5


def _training_step(session: Session) -> float:
    """Return a guess of a training step's seconds: three times the work of an evaluation, at half the speed."""
    return 10.0 * session.config.batch_size / session.raw_rate


def _size(count: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            return f"{count:.3g} {unit}"
        count /= 1024
    raise ValueError(f"expected a size, got {count}")

