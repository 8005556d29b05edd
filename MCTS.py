"""`Node`, `Edge` and `MCTS`: the search tree, one step at a time, with the names of the article (D. Foster, 2018).

`moveToLeaf`, `expand` and `backFill` are one simulation; `Agent.simulate` combines them. `Node` and `Edge` are views of
rows in the tables of search/tables.py, made on demand. `search` (of `ManyTrees`) runs the same steps compiled, for many
trees at once. textbook.py has the algorithm without tables.

A *row* is one record of a table, `forest` all tables of a search. An edge gets its row, with N and W, shortly before
its first visit (*materialised*); until then it is a move and a prior. A *slot* is a simulation in progress.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from compiled import call
from game import GameState, state_key
from search import simulate, solver
from search.evaluation_cache import NOT_FINITE
from search.expand import expand, make_priors, new_node
from search.main_lines import LENGTH, main_lines
from search.many_trees import Decision, Evaluator, ManyTrees, TreeFull
from search.solving.proofs import LOSS, UNPROVEN, known_value
from search.tables import EXPANDED, STEP, TERMINAL, UNVISITED, WAITING, find, sum_of_values

__all__ = ["MCTS", "Decision", "Edge", "Node", "Evaluator", "TreeFull"]


class Edge:
    """A move from one node to another; a view of the edge tables, identified by its node and action."""

    def __init__(self, mcts: MCTS, node: int, action: int) -> None:
        self.mcts = mcts
        self.node = int(node)
        self.action = int(action)

    @property
    def index(self) -> int:
        """Return where its row is or would be; edges change places when others are materialised."""
        row = self.mcts.forest.nodes[self.node]
        moves = self.mcts.forest.moves["action"][row["first"] : row["first"] + row["legal"]]
        return int(row["first"]) + int(np.flatnonzero(moves == self.action)[0])

    @property
    def _row(self) -> Any:
        """Return its row; None while it is not materialised."""
        node, index = self.mcts.forest.nodes[self.node], self.index
        return self.mcts.forest.edges[index] if index < node["first"] + node["materialised"] else None

    @property
    def inNode(self) -> Node:
        """Return the node it leaves."""
        return Node(self.mcts, self.node)

    @property
    def outNode(self) -> Node | None:
        """Return the node it leads to; None before the first visit."""
        row = self._row
        return None if row is None or row["child"] == UNVISITED else Node(self.mcts, row["child"])

    @property
    def playerTurn(self) -> int:
        """Return the player who moves along it."""
        return self.inNode.playerTurn

    @property
    def nu(self) -> float:
        """Return its Dirichlet noise; 0 off the root and outside self-play."""
        tree = self.node // self.mcts.capacity
        row = self.mcts.forest.trees[tree]
        return float(self.mcts.forest.noise[tree, self.action]) if row["noisy"] and row["root"] == self.node else 0.0

    @property
    def proven(self) -> float | None:
        """Return its proven value for the player who moves: 1 won, -1 lost, 0 drawn; None = unproven."""
        node = self.mcts.forest.nodes[self.node]
        known = LOSS if self.index >= node["first"] + node["count"] or node["proven"] == LOSS else UNPROVEN
        if self._row is not None:
            known = int(self.mcts.forest.moves[self.index]["proven"])
        return known_value(known)

    @property
    def stats(self) -> dict[str, float]:
        """Return N visits, W sum of values, Q = W / N (for the player who moves), P prior."""
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
        """Return the network's value, or the game's result, for the player to move; Q if it was not evaluated."""
        return self.Q if self.forced else float(self._row["value"])

    @property
    def forced(self) -> bool:
        """Return whether the node has one move only and was passed through without an evaluation."""
        return math.isnan(self._row["value"])

    @property
    def proven(self) -> float | None:
        """Return its proven value for the player to move: 1 won, -1 lost, 0 drawn; None = unproven."""
        known = int(self._row["proven"])
        return known_value(known)

    @property
    def visits(self) -> int:
        """Return the sum of its edges' N."""
        return int(self._row["total"])

    @property
    def Q(self) -> float:
        """Return the mean value over the network's and all visits, or the proven value, for the player to move."""
        if self.proven is not None:
            return self.proven
        return float(sum_of_values(self.mcts.forest, self.index) / (1 + self.visits))

    @property
    def edges(self) -> list[tuple[int, Edge]]:
        """Return (action, edge) for each legal move; nothing before the node is expanded."""
        if self._row["status"] != EXPANDED:
            return []
        first, count = int(self._row["first"]), int(self._row["legal"])
        actions = sorted(int(a) for a in self.mcts.forest.moves["action"][first : first + count])
        return [(action, Edge(self.mcts, self.index, action)) for action in actions]

    def keeps_proof(self, edge: Edge) -> bool:
        """Return whether a move keeps what is proven of the node; if nothing is, whether it is not proven to lose."""
        return edge.proven != -1.0 if self.proven is None else edge.proven == self.proven

    def isLeaf(self) -> bool:
        """Return True before expansion and when the game is over."""
        return bool(self._row["status"] != EXPANDED)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and (self.mcts, self.index) == (other.mcts, other.index)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Node visits={self.visits} value={self.value:.3f} edges={len(self.edges)}>"


class MCTS(ManyTrees):
    """A search tree with the article's steps. The methods named after the article work on the first tree."""

    def __len__(self) -> int:
        return int(self.forest.trees[0]["nodes"])

    @property
    def root(self) -> Node:
        return Node(self, self.forest.trees[0]["root"])

    @property
    def tree(self) -> dict[Any, Node]:
        """Return {state id: node} of the first tree."""
        return {node.id: node for node in self._nodes()}

    def _nodes(self) -> Iterator[Node]:
        return (Node(self, i) for i in range(len(self)))

    def __contains__(self, state: GameState) -> bool:
        key = np.uint64(state_key(self.game, state))
        return len(self) > 0 and call(find, self.forest, 0, key) >= 0

    def addNode(self, state: GameState) -> Node:
        """Return a position's node in the first tree; make it if it is not there."""
        f = self.forest
        row = self.game.row_of(state)
        key = np.uint64(state_key(self.game, state))
        index = call(find, f, 0, key)
        if index < 0:
            f.rows[len(self)] = row
            index = call(new_node, f, self.rules, 0, key, index)
            self.check_errors()
            if index < 0:
                raise TreeFull(f"the tree is full ({self.capacity} nodes)")
        return Node(self, index)

    def moveToLeaf(self) -> tuple[Node, float, bool, list[Edge]]:
        """Descend to a leaf, counting a visit (N) of each edge passed; return (leaf, value, done, breadcrumbs).

        value: for the player to move at the leaf; 0 unless `done`: the game is over there, or its result is proven.
        """
        f = self.forest
        call(simulate.select_leaf, f, self.rules, self.puct, self.cache, 0)
        self.check_errors()
        if f.slots["leaf"][0] < 0:
            call(simulate.revert_visit, f, self.puct, 0)
            raise TreeFull(f"the tree is full ({self.capacity} nodes)")
        leaf, node, breadcrumbs = Node(self, f.slots["leaf"][0]), int(f.trees[0]["root"]), []
        for e in f.steps["edge"][: f.slots["depth"][0]]:
            breadcrumbs.append(Edge(self, node, f.moves[e]["action"]))
            node = int(f.edges[e]["child"])
        known = call(solver.at_leaf, f, self.rules, 0, leaf.index, len(breadcrumbs))
        self.check_errors()
        done = bool(leaf._row["status"] == TERMINAL or known)
        value = leaf.value if leaf.proven is None else leaf.proven
        return leaf, value if done else 0.0, done, breadcrumbs

    def expand(self, leaf: Node, value: float, logits: np.ndarray) -> None:
        """Expand a leaf with the network's evaluation: value for its player to move, logits [action_size] unmasked."""
        if leaf._row["status"] == WAITING:
            answer = np.ascontiguousarray(logits, np.float32).reshape(self.game.action_size)
            if not call(expand, self.forest, leaf.index, np.float32(value), answer):
                self.cache.counts[NOT_FINITE] += 1
                self.check_errors()

    def backFill(self, leaf: Node, value: float, breadcrumbs: Sequence[Edge]) -> None:
        """Add the leaf's value to W of the edges that led to it, and propagate a proof; `moveToLeaf` counted N."""
        steps = [(edge.index, edge.node, edge.playerTurn) for edge in breadcrumbs]
        self.forest.steps[: len(steps)] = np.array(steps, STEP)
        self.forest.slots["depth"][0] = len(breadcrumbs)
        self.forest.slots["leaf"][0] = leaf.index
        call(simulate.backup, self.forest, self.puct, 0, float(value), leaf.playerTurn)
        call(solver.after_backup, self.forest, 0)

    def principal_variation(self, node: Node | None = None, length: int = LENGTH) -> list[int]:
        """Return the line of most visited moves from `node` or the root, at each node of those that keep the proof."""
        return main_lines(self.forest, np.array([(node or self.root).index]), length)[0].moves
