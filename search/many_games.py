"""The games that a searching player plays at once: each slot has a tree and randomness of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from config import SearchSettings
from game import Game, GameState
from search.many_trees import Decision, Evaluator, ManyTrees, room_for_trees
from search.tables import trees_in

TREES_BYTES = 2**31
"""Memory limit for the trees of a match; a player with large trees plays fewer games at once."""


class Searcher(Protocol):
    """The player whose games these are, an `agent.Agent`; it is passed to each call, so that nobody holds the other."""

    predictor: Evaluator
    mcts_sims: int

    def think_in(self, tree: Any, state: GameState) -> ManyTrees:
        """Search a state in one of several trees; return the tree used, a new one if that had no room."""


def games_at_once(game: Game, sims: int, most: int) -> int:
    """Return how many games with searches of `sims` simulations fit into TREES_BYTES: at least 2, at most `most`."""
    return int(np.clip(trees_in(TREES_BYTES, game, sims), 2, most))


class ManyGames:
    """Searches games side by side: the leaves of all their trees are evaluated in one batch."""

    def __init__(
        self,
        game: Game,
        settings: SearchSettings,
        *,
        cache_size: int,
        noisy: bool = False,
    ) -> None:
        """Make no trees yet. noisy: every search has Dirichlet noise at its root."""
        self._game = game
        self._settings = settings
        self._cache_size = cache_size
        self._noisy = noisy
        self.trees: ManyTrees | None = None

    def new_games(self, slots: int, sims: int) -> None:
        """Make room for games in slots 0 .. slots - 1 with searches of `sims` simulations."""
        trees = self.trees
        if trees is None or len(trees.forest.trees) < slots or not trees.fits(sims):
            room, cache = room_for_trees(), self._cache_size
            self.trees = ManyTrees(self._game, self._settings, trees=slots, sims=sims, cache_size=cache, most=room)

    def new_game(self, slot: int, seed: int) -> None:
        """Drop the tree of a slot; its random draws come from `seed` from now on."""
        if self.trees is not None:
            self.trees.reset(slot, seed)

    def search(self, slots: Sequence[int], states: Sequence[GameState], predictor: Evaluator, sims: int) -> ManyTrees:
        """Search each game until its root has `sims` visits, kept visits included; return the trees."""
        if self.trees is None:
            raise RuntimeError("expected `new_games` before `act_many`")
        trees = self.trees
        for slot, state in zip(slots, states, strict=True):
            trees.set_root(state, tree=slot, sims=sims)
            if self._noisy:
                trees.add_noise(self._settings.alpha, tree=slot)
        trees.search(predictor, sims, slots)
        return trees

    def choose(
        self, slots: Sequence[int], states: Sequence[GameState], taus: Sequence[float], player: Searcher
    ) -> list[Decision]:
        """Search each game and choose its move."""
        trees = self.search(slots, states, player.predictor, player.mcts_sims)
        return [trees.decide(slot, tau) for slot, tau in zip(slots, taus, strict=True)]


class GamesInTurn:
    """Searches one game after the other, so that each step can be observed; the moves are those of `ManyGames`."""

    def __init__(self, new_tree: Callable[..., ManyTrees]) -> None:
        """new_tree: makes an empty tree for searches of `sims` simulations."""
        self._new_tree = new_tree
        self._sims = 0
        self._trees: dict[int, ManyTrees] = {}

    def new_games(self, slots: int, sims: int) -> None:
        """Set the number of simulations; a tree is made when its game begins."""
        self._sims = sims

    def new_game(self, slot: int, seed: int) -> None:
        """Make a new tree for a slot; its random draws come from `seed`."""
        self._trees[slot] = self._new_tree(sims=self._sims)
        self._trees[slot].reset(0, seed)

    def choose(
        self, slots: Sequence[int], states: Sequence[GameState], taus: Sequence[float], player: Searcher
    ) -> list[Decision]:
        """Search each game in its own tree and choose its move."""
        jobs = zip(slots, states, taus, strict=True)
        return [player.think_in(self._trees[slot], state).decide(0, tau) for slot, state, tau in jobs]
