"""Searches stored positions side by side, on all cores: full searches by PUCT without noise.

Where self-play searches by Gumbel, a position that is searched again gets PUCT's visits as its target as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import NamedTuple

import numpy as np

from compiled import call
from game import GameState
from initialise import Session
from network.predictor import side_by_side
from search.many_trees import ManyTrees
from search.tables import trees_in
from training.policy_target import write_target
from training.selfplay import game_seed
from training.selfplay_step import budgets
from training.stage_bookkeeping import Stage

TREES_BYTES, MOST_TREES = 1 << 29, 256
"""Largest memory of the trees side by side, in bytes; most positions that a thread searches side by side."""


class Found(NamedTuple):
    """What searches of n positions found."""

    visits: np.ndarray
    """[n, action_size] uint16"""
    values: np.ndarray
    """[n] float32, for the player to move"""
    evaluations: int
    """By the network, of all of them."""


def search_positions(stage: Stage, label: str, states: Sequence[GameState]) -> Found:
    """Search n positions with the newest network; raise `Stopped` when the stage's `stop` ended it.

    label: of the progress shown.
    """
    s, n = stage.session, len(states)
    visits, values = np.zeros((n, s.game.action_size), np.uint16), np.zeros(n, np.float32)
    threads = side_by_side(s.game, s.config.selfplay)[1]
    size = int(np.clip(trees_in(TREES_BYTES // threads, s.game, s.config.mcts_sims), 1, MOST_TREES))
    free: SimpleQueue[_Searcher] = SimpleQueue()
    for _ in range(threads):
        free.put(_Searcher(s, min(size, n), stage))

    def search(part: range) -> int:
        if stage.stop():
            return 0
        searcher = free.get()
        try:
            found = searcher.search(states, part)
            visits[part.start : part.stop], values[part.start : part.stop] = found.visits, found.values
            return found.evaluations
        finally:  # also when the network answers NaN: others wait for the searcher
            free.put(searcher)

    with stage.progress(label, n) as phase, ThreadPoolExecutor(threads) as pool:
        parts = [range(start, min(start + size, n)) for start in range(0, n, size)]
        evaluations = 0
        for part, made in zip(parts, pool.map(search, parts), strict=True):
            evaluations += made
            phase.update(part.stop)
    stage.check_stop()
    return Found(visits, values, evaluations)


class _Searcher:
    """The trees of one thread."""

    def __init__(self, session: Session, trees: int, stage: Stage) -> None:
        s = session
        self._sims, _ = budgets(s.config.selfplay, stage.iteration)
        self._predictor = s.predictor("selfplay", s.current_version)
        self._trees = ManyTrees(s.game, s.config.search, trees=max(trees, 1), sims=self._sims)
        self._name, self._iteration = f"{s.store.get('run') or ''}/{stage.name}", stage.iteration

    def search(self, states: Sequence[GameState], part: range) -> Found:
        """Return what is found of those of the states."""
        m = self._trees
        for tree, k in enumerate(part):
            m.reset(tree, game_seed(self._name, self._iteration, k))
            m.plant(states[k], tree=tree)
        made = m.search(self._predictor, self._sims, range(len(part)))
        visits = np.zeros((len(part), m.game.action_size), np.uint16)
        for tree in range(len(part)):
            call(write_target, m.forest, m.puct, tree, visits[tree])
        values = np.array([m.root_value(tree) for tree in range(len(part))], np.float32)
        return Found(visits, values, made)
