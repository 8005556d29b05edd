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
        for e in order[:moves]:
            if edges["N"][e] > 0:
                found.append(_move(mcts, root, first + int(e)))
    return Snapshot(int(node["player"]), int(node["total"]), (1 + value) / 2, proven, found)


def _move(mcts: MCTS, root: int, e: int) -> MoveInfo:
    f = mcts.forest
    edge, move = f.edges[e], f.moves[e]
    visits, known = int(edge["N"]), known_value(int(move["proven"]))
    value = known if known is not None else float(edge["W"]) / max(visits, 1)
    line, counts = [int(move["action"])], [visits]
    index = int(edge["child"])
    while index >= 0 and len(line) < LINE:
        best = _most_visited(f, index)
        if best is None:
            break
        line.append(int(f.moves[best]["action"]))
        counts.append(int(f.edges[best]["N"]))
        index = int(f.edges[best]["child"])
    winrate = min(max((1 + value) / 2, 0.0), 1.0)
    return MoveInfo(int(move["action"]), visits, winrate, float(move["P"]), tuple(line), tuple(counts))


def _most_visited(f: Forest, index: int) -> int | None:
    """Return the edge of a node's most visited move, of those that keep its proof if any does; None without visits."""
    node = f.nodes[index]
    first, rows = int(node["first"]), int(node["materialised"])
    if node["status"] != EXPANDED or not rows:
        return None
    counts = f.edges["N"][first : first + rows].astype(np.int64)
    kept = np.where(kept_moves(f, index)[:rows], counts, 0)
    counts = kept if kept.any() else counts
    return first + int(counts.argmax()) if counts.any() else None
