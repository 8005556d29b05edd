"""Which games of self-play begin where an earlier search was wrong, and how long random openings are.

References: Tsai et al. 2026 (RGSC, arXiv 2602.20809) begins games where the value was furthest from the outcome;
Trudeau and Bowling 2023 (Go-Exploit, arXiv 2302.12359) in any past position. Here the errors are those of stored games,
without a network that predicts them. The choice follows from (run, iteration) and the games of earlier iterations, so a
run that is killed and resumed makes it again.
"""

from __future__ import annotations

import numpy as np

from config import Config
from storage.run_store import Store
from training.hindsight import Hindsight
from training.learning_rate import progress
from training.selfplay import game_seed

REACH = 5
"""Iterations back from which positions come: of older ones today's network thinks otherwise."""
LATE = 2 / 3
"""The fraction of a run after which `late_opening_plies` counts."""


def random_plies(config: Config, store: Store) -> int:
    """Return the most random moves of an opening in the iteration in progress, by how much of the run was done before
    it."""
    late = config.late_opening_plies and progress(config, store, 0.0) >= LATE
    return config.late_opening_plies if late else config.random_opening_plies


def restarts(
    config: Config, store: Store, hindsight: Hindsight, run: str, iteration: int
) -> list[tuple[int, list[int]]]:
    """Return (number of a game, the moves that it begins with) of the games that restart in an iteration."""
    if not config.restart_share:
        return []
    drawn = [(i, np.random.default_rng(game_seed(f"{run}/restart", iteration, i))) for i in range(config.episodes)]
    chosen = [(i, rng) for i, rng in drawn if rng.random() < config.restart_share]
    places = worst(store, hindsight, range(max(1, iteration - REACH), iteration), len(chosen))
    return [(i, places[int(rng.integers(len(places)))]) for i, rng in chosen] if places else []


def worst(store: Store, hindsight: Hindsight, iterations: range, count: int) -> list[list[int]]:
    """Return the moves to the `count` positions with the largest errors: at most one of a game, none twice."""
    rows: list[tuple[float, int, int, int]] = []
    for iteration in iterations:
        found = hindsight.of(iteration)
        later = (found.ply > 0) & (found.error > 0)
        order = np.lexsort((found.ply[later], -found.error[later]))
        index, first = np.unique(found.number[later][order], return_index=True)
        error, ply = found.error[later][order][first], found.ply[later][order][first]
        rows += zip((-error).tolist(), [iteration] * len(index), index.tolist(), ply.tolist(), strict=True)
    places: dict[tuple[int, ...], None] = {}
    for _, iteration, number, at in sorted(rows):
        if len(places) >= count:
            break
        places[tuple(store.game(iteration, number).moves[:at].tolist())] = None
    return [list(moves) for moves in places]
