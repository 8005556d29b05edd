"""Who will own which point of a Go board, and the score: by the network's ownership head, else by games played out.

A game is played out with moves drawn from the network's priors, to its end by our rules, and counted.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from agent import Agent
from game import GameState
from games.go import Go
from interface.engines.snapshot import Snapshot
from network.ownership import ownership_of
from search.priors import legal_softmax

MOVES = 8
"""Most moves of the root after which the board is looked at."""
GAMES = 8
"""Games played out after each of them, each time it is asked for."""
KEPT = 1000
"""Positions whose counts are kept."""


class Territory:
    """Counts positions of Go for one network."""

    def __init__(self, agent: Agent, game: Go, seed: int = 0) -> None:
        self.agent, self.game = agent, game
        self._head = ownership_of(agent.model)
        self._rng = np.random.default_rng(seed)
        self._counts: dict[Hashable, tuple[int, np.ndarray]] = {}
        """{state id: (games, their owners added up)}"""

    @property
    def by_network(self) -> bool:
        """Return whether the network itself says who will own a point."""
        return self._head is not None

    def after(self, state: GameState, found: Snapshot) -> tuple[np.ndarray, list[np.ndarray]]:
        """Return Black's ownership in [-1, 1], [rows, columns] each: of the root of a search, and after its best moves.

        The root's is the mean of those, weighted by visits; there may be fewer than moves were found.
        """
        moves = found.moves[:MOVES]
        if state.isEndGame or not moves:
            return self.of([state])[0], []
        owned = self.of([state.takeAction(move.action)[0] for move in moves])
        weights = np.array([move.visits for move in moves], float)
        return np.average(owned, axis=0, weights=weights), list(owned)

    def score(self, ownership: np.ndarray) -> float:
        """Return Black's lead in points."""
        return float(ownership.sum()) - self.game.komi

    def of(self, states: Sequence[GameState]) -> np.ndarray:
        """Return Black's ownership in [-1, 1] of positions, [n, rows, columns]."""
        found: list[np.ndarray | None] = [_owners(state) if state.isEndGame else None for state in states]
        left = [i for i, owned in enumerate(found) if owned is None]
        asked = [states[i] for i in left]
        owned = self._predicted(asked) if asked else []
        for i, board in zip(left, owned, strict=True):
            found[i] = board
        return np.array(found, float)

    def _predicted(self, states: Sequence[GameState]) -> Sequence[np.ndarray]:
        if self._head is None:
            return self._played_out(states)
        owned = self._head(np.stack([state.planes() for state in states]))
        return [board * state.playerTurn for board, state in zip(owned, states, strict=True)]

    def _played_out(self, states: Sequence[GameState]) -> list[np.ndarray]:
        games: list[GameState] = [state for state in states for _ in range(GAMES)]
        while running := [i for i, state in enumerate(games) if not state.isEndGame]:
            _, logits = self.agent.predict(np.stack([games[i].planes() for i in running]))
            for i, row in zip(running, logits, strict=True):
                legal = games[i].allowedActions
                games[i] = games[i].takeAction(int(self._rng.choice(legal, p=legal_softmax(row[legal]))))[0]
        if len(self._counts) > KEPT:
            self._counts.clear()
        boards = []
        for i, state in enumerate(states):
            count, total = self._counts.get(state.id, (0, np.zeros(self.game.grid_shape)))
            total = total + sum(_owners(end) for end in games[i * GAMES : (i + 1) * GAMES])
            self._counts[state.id] = count + GAMES, total
            boards.append(total / (count + GAMES))
        return boards


def _owners(state: GameState) -> np.ndarray:
    owners = state.owners
    return np.zeros(0) if owners is None else owners.astype(float)
