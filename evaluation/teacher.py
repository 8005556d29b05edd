"""The teacher: whether a move loses value, why, and what would have kept it.

Exact where a solver or a search for wins by force knows; elsewhere a search's opinion before and after the move.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from agent import Agent
from config import UserError
from game import Game, GameState
from players.rollout import RolloutPlayer
from players.solver import AlphaBetaScores, BitbullyScores, NodeLimit, known_to_bitbully
from search.solving.forced_wins import ForcedWins

Thinker = Agent | RolloutPlayer
LOSS = 0.4
"""Value that a move must lose by a search's opinion, of the 2 between a win and a loss, to be called bad."""
SIMS = 400
"""Simulations of each of the two searches."""
PLIES = 5
"""Plies of the longest win by force that is looked for."""
NODES = 100_000
"""Positions of that search for one question."""
LIMIT = NodeLimit(100_000, 2_000)
"""Positions of alpha-beta for one position."""
BETTER = 3
"""Most moves that are named as better ones."""


class Lesson(NamedTuple):
    """A move that loses value. Values are for the player who makes it."""

    action: int
    exact: bool
    """Whether it is known, not a search's opinion."""
    before: float
    """With the best move: 1, 0 or -1 if exact."""
    after: float
    """With this one."""
    line: tuple[int, ...]
    """What answers the move, the other side's move first."""
    better: tuple[int, ...]
    """Moves that keep the value, the best first; at most BETTER."""
    solved: bool = False
    """Whether the values are those of best play to the end; else only wins by force within a few moves are known: 0 is
    neither side's."""


class Teacher:
    """Judges the moves of one game. Safe to use from several threads, one move at a time."""

    def __init__(self, game: Game, thinker: Thinker | None = None) -> None:
        """Make a teacher; thinker: gives an opinion where nothing is known, None: there is none then."""
        self.game, self._thinker = game, thinker
        self._lock = threading.Lock()
        self._exact = _solver(game)
        self._forced = ForcedWins(game, PLIES) if game.won_by_a_move else None

    def lesson(self, state: GameState, action: int, *, stop: Callable[[], bool] = lambda: False) -> Lesson | None:
        """Return what is bad about a legal move, None if nothing is known to be; `stop` ends a search early."""
        if len(state.allowedActions) < 2:
            return None
        with self._lock:
            scores = self._exact.scores(state)
            if scores is not None:
                return self._by_values(state, action, scores)
            found = self._by_force(state, action) if self._forced else None
            if found is not None or self._thinker is None or stop():
                return found
            return self._by_search(state, action, stop)

    def _by_values(self, state: GameState, action: int, scores: dict[int, float]) -> Lesson | None:
        before, after = np.sign(max(scores.values())), np.sign(scores[action])
        if after >= before:
            return None
        better = [a for a in sorted(scores, key=lambda a: -scores[a]) if np.sign(scores[a]) == before]
        answers = self._answers(state.takeAction(action)[0])
        return Lesson(action, True, float(before), float(after), answers, tuple(better[:BETTER]), True)

    def _answers(self, state: GameState) -> tuple[int, ...]:
        """Return the best answer to a move; of several that win, one that wins by force within a few moves."""
        if state.isEndGame:
            return ()
        if self._forced and (plies := self._forced.length(state, PLIES, nodes=NODES)):
            return tuple((self._forced.moves(state, plies, nodes=NODES) or [])[:1])
        scores = self._exact.scores(state)
        return (max(scores, key=lambda a: scores[a]),) if scores else ()

    def _by_force(self, state: GameState, action: int) -> Lesson | None:
        """Return the lesson of a move that misses a win by force, or allows one that others do not."""
        forced: ForcedWins = self._forced  # type: ignore[assignment]
        side, after = state.playerTurn, state.takeAction(action)[0]
        plies = forced.length(state, PLIES, nodes=NODES)
        if plies:
            wins = forced.moves(state, plies, nodes=NODES) or []
            if not wins or forced.loses(after, side, PLIES - 1, nodes=NODES) is not False:
                return None
            return Lesson(action, True, 1.0, 0.0, (), tuple(wins[:BETTER]))
        if after.isEndGame or after.playerTurn == side or not forced.wins(after, PLIES - 2, nodes=NODES):
            return None
        safe = [
            a for a in state.allowedActions
            if forced.loses(state.takeAction(a)[0], -side, PLIES - 2, nodes=NODES) is False
        ]  # fmt: skip
        return Lesson(action, True, 0.0, -1.0, self._answers(after), tuple(map(int, safe[:BETTER]))) if safe else None

    def _by_search(self, state: GameState, action: int, stop: Callable[[], bool]) -> Lesson | None:
        root = self._thinker.think(state, SIMS, stop)  # type: ignore[union-attr]
        edges = {a: edge for a, edge in root.edges if edge.stats["N"]}
        if stop() or not edges:
            return None
        (best,) = root.mcts.principal_variation(root, 1)
        before, side = edges[best].stats["Q"] if root.proven is None else root.proven, state.playerTurn
        after = state.takeAction(action)[0]
        if action == best or after.isEndGame:
            return None
        child = self._thinker.think(after, SIMS, stop)  # type: ignore[union-attr]
        value = child.Q * (1 if after.playerTurn == side else -1)
        if stop() or before - value < LOSS:
            return None
        line = child.mcts.principal_variation(child, 1)
        return Lesson(action, False, before, value, tuple(line), (best,))


def _solver(game: Game) -> BitbullyScores | AlphaBetaScores:
    if known_to_bitbully(game):
        try:
            return BitbullyScores()
        except UserError:
            pass  # not installed
    return AlphaBetaScores(game, LIMIT, table=1 << 18)
