"""Who will own which point of a Go board, and the score: by the network's ownership head, else by games played out.

A game is played out with moves drawn from the network's priors, to its end by our rules or for as many moves as the
board has points, and counted.
"""

from __future__ import annotations

import copy
from collections.abc import Hashable, Sequence

import numpy as np

from agent import Agent
from game import Game, GameState
from network.ownership import ownership_of
from plugins.engines.snapshot import Snapshot
from search.expand import legal_softmax

GAMES, MOST = 16, 8
"""Games played out after the moves of a root, shared out by their visits: at least one, and at most MOST after each."""
KEPT = 1000
"""Positions whose counts are kept."""


class Territory:
    """Counts positions of Go for one network."""

    def __init__(self, agent: Agent, game: Game, seed: int = 0) -> None:
        self.agent, self.game = agent, game
        self._head = ownership_of(agent.model)
        self._rng = np.random.default_rng(seed)
        self._counts: dict[Hashable, tuple[int, np.ndarray]] = {}
        """{state id: (games, their owners added up)}"""

    def of_game(self, game: Game) -> Territory:
        """Return the same for other rules on the same board."""
        other = copy.copy(self)
        other.game, other._counts = game, {}
        return other

    @property
    def by_network(self) -> bool:
        """Return whether the network itself says who will own a point."""
        return self._head is not None

    def after(self, state: GameState, found: Snapshot) -> tuple[np.ndarray, list[np.ndarray]]:
        """Return Black's ownership in [-1, 1], [rows, columns] each: of the root of a search, and after its moves.

        The root's is the mean of those, weighted by visits.
        """
        if state.isEndGame or not found.moves:
            return self.of([state], [MOST])[0], []
        visits = np.array([move.visits for move in found.moves], float)
        games = np.clip(np.ceil(GAMES * visits / visits.sum()), 1, MOST).astype(int)
        owned = self.of([state.takeAction(move.action)[0] for move in found.moves], games.tolist())
        return np.average(owned, axis=0, weights=visits), list(owned)

    def score(self, ownership: np.ndarray, state: GameState) -> float:
        """Return Black's lead in points; state: the position, in which White may have more points than the komi."""
        return float(ownership.sum()) - self.game.white_points(state)

    def of(self, states: Sequence[GameState], games: Sequence[int]) -> np.ndarray:
        """Return Black's ownership in [-1, 1] of positions, [n, rows, columns], after so many games of each."""
        found: dict[int, np.ndarray] = {i: _owners(state) for i, state in enumerate(states) if state.isEndGame}
        left = [i for i in range(len(states)) if i not in found]
        if self._head is not None and left:
            owned = self.by_head(np.stack([states[i].planes() for i in left]))
            found |= {i: board * states[i].playerTurn for i, board in zip(left, owned, strict=True)}
        else:
            found |= zip(left, self._played_out([states[i] for i in left], [games[i] for i in left]), strict=True)
        return np.array([found[i] for i in range(len(states))], float)

    def by_head(self, planes: np.ndarray) -> np.ndarray:
        """Return the network's ownership of boards [n, rows, columns, planes], for the player to move."""
        if self._head is None:
            raise RuntimeError("expected a network with a head for ownership")
        return self._head(planes)

    def _played_out(self, states: Sequence[GameState], games: Sequence[int]) -> list[np.ndarray]:
        """Return the mean owners at the end of games; those played before count, too."""
        if len(self._counts) > KEPT:
            self._counts.clear()
        nothing = 0, np.zeros(self.game.grid_shape)
        for state in states:
            self._counts.setdefault(state.id, nothing)
        start = [state for state, n in zip(states, games, strict=True) for _ in range(n - self._counts[state.id][0])]
        for state, end in zip(start, self._ends(list(start)), strict=True):
            count, total = self._counts[state.id]
            self._counts[state.id] = count + 1, total + _owners(end)
        return [total / max(count, 1) for count, total in (self._counts[state.id] for state in states)]

    def _ends(self, games: list[GameState]) -> list[GameState]:
        """Play games to their end, or for as many moves as the board has points; return where they end."""
        for _ in range(self.game.action_size - 1):
            running = [i for i, state in enumerate(games) if not state.isEndGame]
            if not running:
                break
            _, logits = self.agent.predict(np.stack([games[i].planes() for i in running]))
            for i, row in zip(running, logits, strict=True):
                legal = games[i].allowedActions
                odds = legal_softmax(row[legal]).cumsum()
                games[i] = games[i].takeAction(legal[min(int((self._rng.random() > odds).sum()), len(legal) - 1)])[0]
        return games


def _owners(state: GameState) -> np.ndarray:
    owners = state.owners
    return np.zeros(0) if owners is None else owners.astype(float)
