"""`Node` and `Edge`: views of a forest's rows, made when somebody looks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from compiled import call
from game import GameState
from search.expand import make_priors
from search.tables import DRAW, EXPANDED, LOSS, OPEN, UNVISITED, sum_of_values

if TYPE_CHECKING:
    from MCTS import MCTS


class Edge:
    """A move from one node to another; a view of the edge tables, found by its node and action."""

    def __init__(self, mcts: MCTS, node: int, action: int) -> None:
        self.mcts = mcts
        self.node = int(node)
        self.action = int(action)

    @property
    def index(self) -> int:
        """Where its row is, or would be; edges change places when others are opened."""
        row = self.mcts.forest.nodes[self.node]
        moves = self.mcts.forest.moves["action"][row["first"] : row["first"] + row["legal"]]
        return int(row["first"]) + int(np.flatnonzero(moves == self.action)[0])

    @property
    def _row(self) -> Any:
        """Its row; None while it is not opened."""
        node, index = self.mcts.forest.nodes[self.node], self.index
        return self.mcts.forest.edges[index] if index < node["first"] + node["opened"] else None

    @property
    def inNode(self) -> Node:
        """The node it leaves."""
        return Node(self.mcts, self.node)

    @property
    def outNode(self) -> Node | None:
        """The node it leads to; None before the first visit."""
        row = self._row
        return None if row is None or row["child"] == UNVISITED else Node(self.mcts, row["child"])

    @property
    def playerTurn(self) -> int:
        """Who moves along it."""
        return self.inNode.playerTurn

    @property
    def nu(self) -> float:
        """Dirichlet noise; 0 off the root and outside self-play."""
        tree = self.node // self.mcts.capacity
        row = self.mcts.forest.trees[tree]
        return float(self.mcts.forest.noise[tree, self.action]) if row["noisy"] and row["root"] == self.node else 0.0

    @property
    def proven(self) -> float | None:
        """What is proven of it, for the player who moves: 1 won, -1 lost, 0 drawn; None = nothing."""
        node = self.mcts.forest.nodes[self.node]
        unsafe = self.index >= node["first"] + node["count"] or node["proven"] == LOSS
        known = int(self.mcts.forest.moves[self.index]["proven"]) if self._row is not None else LOSS if unsafe else OPEN
        return None if known == OPEN else 0.0 if known == DRAW else float(known)

    @property
    def stats(self) -> dict[str, float]:
        """N visits, W sum of values, Q = W / N (for the player who moves), P prior."""
        row = self._row
        call(make_priors, self.mcts.forest, self.node)
        n, w = (int(row["N"]), float(row["W"])) if row is not None else (0, 0.0)
        p = float(self.mcts.forest.moves[self.index]["P"])
        return {"N": n, "W": w, "Q": w / n if n else 0.0, "P": p}

    def __repr__(self) -> str:
        s = self.stats
        name = self.mcts.game.move_name(self.action)
        return f"<Edge {name} N={s['N']:.0f} W={s['W']:.3f} Q={s['Q']:.3f} P={s['P']:.3f}>"


class Node:
    """A position in the tree; a view of one row of the node table."""

    def __init__(self, mcts: MCTS, index: int) -> None:
        self.mcts = mcts
        self.index = int(index)

    @property
    def _row(self) -> Any:
        return self.mcts.forest.nodes[self.index]

    @property
    def _tree(self) -> int:
        return self.index // self.mcts.capacity

    @property
    def state(self) -> GameState:
        return self.mcts.game.state_of(self.mcts.forest.rows[self.index + self._tree])

    @property
    def id(self) -> Any:
        return self.state.id

    @property
    def playerTurn(self) -> int:
        return int(self._row["player"])

    @property
    def value(self) -> float:
        """The network's value, or the result at the end, for the player to move; Q where nobody was asked."""
        return self.Q if self.forced else float(self._row["value"])

    @property
    def forced(self) -> bool:
        """Whether the search passed through, because there is one move only, without asking the network."""
        return math.isnan(self._row["value"])

    @property
    def proven(self) -> float | None:
        """What is proven of it, for the player to move: 1 won, -1 lost, 0 drawn; None = nothing."""
        known = int(self._row["proven"])
        return None if known == OPEN else 0.0 if known == DRAW else float(known)

    @property
    def visits(self) -> int:
        """Sum of its edges' N."""
        return int(self._row["total"])

    @property
    def Q(self) -> float:
        """Mean value over the network's and all visits, or what is proven, for the player to move."""
        if self.proven is not None:
            return self.proven
        return float(sum_of_values(self.mcts.forest, self.index) / (1 + self.visits))

    @property
    def edges(self) -> list[tuple[int, Edge]]:
        """(action, edge) for each legal move; empty before the node is expanded."""
        if self._row["status"] != EXPANDED:
            return []
        first, count = int(self._row["first"]), int(self._row["legal"])
        actions = sorted(int(a) for a in self.mcts.forest.moves["action"][first : first + count])
        return [(action, Edge(self.mcts, self.index, action)) for action in actions]

    def keeps(self, edge: Edge) -> bool:
        """True where a move keeps what is proven of the node; while nothing is, where it is not proven to lose."""
        return edge.proven != -1.0 if self.proven is None else edge.proven == self.proven

    def isLeaf(self) -> bool:
        """True before expansion and when the game is over."""
        return bool(self._row["status"] != EXPANDED)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and (self.mcts, self.index) == (other.mcts, other.index)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Node visits={self.visits} value={self.value:.3f} edges={len(self.edges)}>"
