"""What a search knows of a position at this moment: visits, win rate, prior and best line of each move it visited.

Values are for the player to move at the root. A win rate is (1 + Q) / 2: a draw counts as half a win. `lcb` is the
lower end of a 95 % interval of it, as far as the number of visits alone tells.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from compiled import call
from MCTS import MCTS
from search.expand import make_priors
from search.main_lines import MainLine, main_lines
from search.solving.proofs import kept_moves, known_value
from search.tables import EXPANDED, Forest

LINE = 12
"""Most moves of a principal variation."""


class MoveInfo(NamedTuple):
    """One move of the root."""

    action: int
    visits: int
    winrate: float
    prior: float
    line: tuple[int, ...]
    """The move, then the most visited moves after it."""
    line_visits: tuple[int, ...]

    @property
    def lcb(self) -> float:
        spread = math.sqrt(max(self.winrate * (1 - self.winrate), 0.25 / (self.visits + 1)) / max(self.visits, 1))
        return max(self.winrate - 1.96 * spread, 0.0)


class Snapshot(NamedTuple):
    """A search's result so far."""

    player: int
    """Who is to move at the root: 1 or -1."""
    visits: int
    winrate: float
    proven: float | None
    """1 won, -1 lost, 0 drawn for the player to move; None = unproven."""
    moves: list[MoveInfo]
    """The visited moves, the one that would be played first; then by visits."""


def snapshot(mcts: MCTS, moves: int = 10_000) -> Snapshot:
    """Return what a tree knows of its root, with `moves` moves at most."""
    return snapshot_of(mcts, 0, moves) if mcts.forest.trees[0]["root"] >= 0 else Snapshot(1, 0, 0.5, None, [])


def snapshot_of(mcts: MCTS, tree: int, moves: int = 10_000) -> Snapshot:
    """Return what one of several trees knows of its root."""
    f, root = mcts.forest, int(mcts.forest.trees[tree]["root"])
    node = f.nodes[root]
    proven = known_value(int(node["proven"]))
    value = mcts.root_value(tree) if proven is None else proven
    found: list[MoveInfo] = []
    if node["status"] == EXPANDED:
        call(make_priors, f, root)
        first, rows = int(node["first"]), int(node["materialised"])
        edges = f.edges[first : first + rows]
        rank = edges["N"].astype(np.int64) + (kept_moves(f, root)[:rows].astype(np.int64) << 32)
        order = np.argsort(-rank, kind="stable")
        shown = first + np.array([e for e in order[:moves] if edges["N"][e] > 0], np.int64)
        lines = main_lines(f, f.edges["child"][shown], LINE - 1)
        found = [_move(f, e, line) for e, line in zip(shown.tolist(), lines, strict=True)]
    return Snapshot(int(node["player"]), int(node["total"]), (1 + value) / 2, proven, found)


def _move(f: Forest, e: int, after: MainLine) -> MoveInfo:
    edge, move = f.edges[e], f.moves[e]
    action, visits, known = int(move["action"]), int(edge["N"]), known_value(int(move["proven"]))
    value = known if known is not None else float(edge["W"]) / max(visits, 1)
    winrate = min(max((1 + value) / 2, 0.0), 1.0)
    return MoveInfo(action, visits, winrate, float(move["P"]), (action, *after.moves), (visits, *after.visits))
