"""`ManyTrees`: searches many trees of one game at once; one tree is the case n = 1. `MCTS` is built on it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from compiled import call
from config import PLAIN_SEARCH, SearchSettings
from game import Game, GameState, state_key
from games.plain import PlainGame
from games.returned_values import check_rules
from search.choose_move import choose
from search.evaluation_cache import NOT_FINITE, NotFinite, make_cache
from search.noise import draw_noise
from search.pipeline import search_step, shared_run
from search.reroot import clear_tree, drop_far, re_root
from search.reroot import plant as plant_root
from search.select import puct_of
from search.simulate import revert_visit
from search.simulate import root_value as root_value_of
from search.solver import at_root
from search.solving.proofs import kept_moves
from search.speed.bound_arguments import BoundArguments
from search.tables import capacity_for, find, make_forest
from system.machine import free_memory


class TreeFull(MemoryError):
    """There is no room for another position."""


Evaluator = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""planes [B, rows, columns, planes] uint8 -> (value [B] for the player to move, logits [B, action_size] unmasked)."""

_LOGGER = logging.getLogger("alphazero.search")
SLICE = 4096
"""Visits between two calls of `stop`, because a search may need no network evaluations."""


def room_for_trees() -> int | None:
    """Return the bytes that a player's trees may take: half of the free memory; None where that is not known."""
    free = free_memory()
    return None if free is None else free // 2


class Decision(NamedTuple):
    """A chosen move and the search result behind it."""

    action: int
    visits: np.ndarray
    """[action_size]: weight of each move; for a search, its visits."""
    value: float
    """The player's own estimate, for the player to move."""


class ManyTrees:
    """Search trees of one game, side by side in one allocation."""

    def __init__(
        self,
        game: Game,
        settings: SearchSettings = PLAIN_SEARCH,
        *,
        trees: int = 1,
        leaves: int = 1,
        sims: int = 800,
        cache_size: int = 1 << 14,
        seed: int = 0,
        most: int | None = None,
    ) -> None:
        """Make room for searches of `sims` visits with up to `leaves` leaves per tree waiting for the network.

        most: bytes that the trees may take. Where a search needs more, a full tree drops what is far from its main
        lines (`reroot.make_room`), and a warning says so.
        """
        if game.rules is None or game.start_row is None:
            raise TypeError(f"{game.name} has no rules: derive it from games.plain.PlainGame or set `rules`")
        self.game = game
        self.rules = game.rules
        self.leaves = leaves
        self.puct = puct_of(settings, leaves=leaves)
        self.cache = make_cache(cache_size, game.action_size)
        self._sims, self._most = sims, most
        self.forest = make_forest(game, trees, leaves, capacity_for(sims, leaves), settings, most=most)
        self._said = False
        """Whether it was said that a tree dropped positions."""
        self.forest.trees["rng"] = np.random.default_rng(seed).integers(0, 2**63, trees).astype(np.uint64)
        for t in range(trees):
            call(clear_tree, self.forest, t)
        batch = trees * leaves
        self._planes = np.zeros((batch, int(np.prod(game.input_shape))), np.uint8)
        self._waiting = np.zeros(batch, np.int32)
        self._values = np.zeros(batch, np.float32)
        self._logits = np.zeros((batch, game.action_size), np.float32)
        tables = self.forest, self.rules, self.puct, self.cache
        room = self._waiting, self._values, self._logits, self._planes
        self._bound = BoundArguments(search_step, *tables, shared_run(*tables), *room)
        if isinstance(game, PlainGame):
            game.searches.add(self)

    @property
    def capacity(self) -> int:
        """Return how many nodes each tree has room for."""
        return self.forest.capacity

    def fits(self, sims: int) -> bool:
        """Return whether there is room for searches of `sims` visits."""
        return sims <= self._sims or self._limited

    @property
    def _limited(self) -> bool:
        """Return whether the trees are as large as their limit of memory lets them be."""
        return self.forest.node_price > 0

    def dropped(self, tree: int = 0) -> int:
        """Return how many positions a tree has dropped for lack of room."""
        return int(self.forest.trees["dropped"][tree])

    def set_root(self, state: GameState, *, tree: int = 0, sims: int = 0) -> bool:
        """Make a position the root and keep its subtree if the tree has one; return whether it had."""
        row = self.game.row_of(state)
        key = np.uint64(state_key(self.game, state))
        known = self.forest.trees[tree]["nodes"] > 0 and call(find, self.forest, tree, key) >= 0
        room = 0 if self._limited else min(sims, self.capacity - self.leaves - 1)
        call(re_root, self.forest, self.rules, tree, row, room)
        self.check_errors()
        return bool(known)

    def plant(self, state: GameState, *, tree: int = 0) -> None:
        """Make a position the root of a new tree."""
        call(plant_root, self.forest, self.rules, tree, self.game.row_of(state))
        self.check_errors()

    def solve_root(self) -> None:
        """Solve the first tree's root if it is near the end of the game, as `search` does first."""
        call(at_root, self.forest, self.rules, 0)
        self.check_errors()

    def add_noise(self, alpha: float, *, tree: int = 0) -> None:
        """Draw Dirichlet noise for the root; it lasts until the root changes."""
        call(draw_noise, self.forest, tree, float(alpha))

    def search(
        self,
        predictor: Evaluator,
        sims: int,
        trees: Sequence[int] = (0,),
        stop: Callable[[], bool] | None = None,
    ) -> int:
        """Simulate until the root of each of `trees` has `sims` visits (kept visits count); return the number of
        evaluations.

        `stop` is called before each batch and every few thousand visits; True ends the search early.
        """
        which = np.array(trees, np.int32)
        if (self.forest.trees["root"][which] < 0).any():
            raise ValueError("expected a root in every tree to search: call set_root first")
        self.forest.trees["budget"][which] = 0
        self._raise_budgets(which, sims, stop)
        f, shape = self.forest, self.game.input_shape
        n = evaluations = before = 0
        stopped = False
        while True:
            n = call(search_step, self._bound, n, which)
            self.check_errors()
            if n == 0:
                self._say_what_is_dropped()
                if not stopped and before < (before := self._visits_of_full(which)):
                    continue  # the next step makes room in full trees
                if stop is None or stopped or stop() or not self._raise_budgets(which, sims, stop):
                    return evaluations
                continue
            evaluations += n
            try:
                self._values[:n], self._logits[:n] = predictor(self._planes[:n].reshape(n, *shape))
            except BaseException:
                for slot in self._waiting[:n]:
                    call(revert_visit, f, self.puct, int(slot))
                raise
            stopped = stop is not None and stop()
            if stopped:
                f.trees["budget"][which] = 0

    def _raise_budgets(self, which: np.ndarray, sims: int, stop: Callable[[], bool] | None) -> bool:
        """Raise the trees' visit budgets, with `stop` by SLICE visits at most; return whether any tree may continue."""
        trees = self.forest.trees
        visits = self.forest.nodes["total"][trees["root"][which]]
        budgets = np.minimum(visits + (SLICE if stop is not None else sims), sims)
        more = budgets > trees["budget"][which]
        trees["budget"][which] = np.maximum(budgets, trees["budget"][which])
        return bool(more.any())

    def _visits_of_full(self, which: np.ndarray) -> int:
        """Return the visits of all these trees, and 1; 0 unless one of them is full."""
        full = self.forest.trees["full"][which].any()
        return 1 + int(self.forest.nodes["total"][self.forest.trees["root"][which]].sum()) if full else 0

    def _say_what_is_dropped(self) -> None:
        """Say once that trees are full and drop positions."""
        if not self._said and self.forest.trees["dropped"].any():
            self._said = True
            room = f"{self._most / 2**20:,.1f} MiB" if self._most and self._limited else f"{self.capacity:,} positions"
            text = "a search of %s fills its room of %s: what is far from its main lines is dropped"
            _LOGGER.warning(text, self.game.spec, room)

    def drop_far(self, tree: int = 0) -> None:
        """Make room in a full tree, as `search` does."""
        call(drop_far, self.forest, tree)
        self._say_what_is_dropped()

    def visit_counts(self, tree: int = 0) -> np.ndarray:
        """Return [action_size] int64: N of the root's moves."""
        root = self.forest.nodes[self.forest.trees[tree]["root"]]
        edges = self.forest.edges[root["first"] : root["first"] + root["materialised"]]
        counts = np.zeros(self.game.action_size, np.int64)
        actions = self.forest.moves["action"][root["first"] : root["first"] + root["materialised"]]
        counts[actions] = edges["N"]
        return counts

    def kept_visits(self, tree: int = 0) -> np.ndarray:
        """Return `visit_counts` with 0 for moves proven to be worse than others, see `proofs.keeps_proof`."""
        index, counts = self.forest.trees[tree]["root"], self.visit_counts(tree)
        root = self.forest.nodes[index]
        actions = self.forest.moves["action"][root["first"] : root["first"] + root["legal"]]
        counts[actions[~kept_moves(self.forest, index)]] = 0
        return counts

    def decide(self, tree: int, tau: float) -> Decision:
        """Choose a move of a searched tree with the tree's own random state."""
        counts = self.visit_counts(tree)
        action = int(self.forest.moves[call(choose, self.forest, tree, float(tau))]["action"])
        return Decision(action, counts, self.root_value(tree))

    def root_value(self, tree: int = 0) -> float:
        """Return the search's value of the root, for its player to move."""
        return float(call(root_value_of, self.forest, tree))

    def clear_cache(self) -> None:
        """Drop all evaluations; needed when the weights have changed."""
        self.cache.keys[:] = 0

    def clear(self) -> None:
        """Drop all trees."""
        for t in range(len(self.forest.trees)):
            call(clear_tree, self.forest, t)

    def reset(self, tree: int, seed: int) -> None:
        """Drop one tree; its random draws come from `seed` from now on."""
        call(clear_tree, self.forest, tree)
        self.forest.trees["rng"][tree] = np.uint64(seed)

    def check_errors(self) -> None:
        """Raise the error of the last compiled call, if there was one; the trees are then dropped.

        It is an error in a plain-Python rule, a rule whose result breaks the contract (`UserError`), or an evaluation
        that was not finite (`NotFinite`). For a plain-Python game this also drops the positions that are no longer in
        any tree.
        """
        if self.cache.counts[NOT_FINITE]:
            self.cache.counts[NOT_FINITE] = 0
            self.clear()
            raise NotFinite("expected finite answers of the network, got NaN or infinity")
        try:
            check_rules(self.game, self.forest.bounds)
        except BaseException:
            self.clear()
            raise
        if isinstance(self.game, PlainGame):
            self.game.tidy()

    def used_rows(self) -> np.ndarray:
        """Return the rows of all positions in the trees, [n, row_size]."""
        used = self.forest.trees["nodes"][:, None] > np.arange(self.capacity + 1)[None]
        return self.forest.rows[used.ravel()]
