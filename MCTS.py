"""`MCTS`, `Node`, `Edge`: the search's tables and the views that people read.

The tables are a `kernels.Forest`; `Node` and `Edge` are made when somebody looks. The methods with the article's
names (moveToLeaf, backFill, ...) do one step at a time on the first tree; `search` does all steps, compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

import kernels as k
from chance import choose, draw_noise
from forest import (
    EXPANDED,
    TERMINAL,
    UNVISITED,
    WAITING,
    capacity_for,
    clear_tree,
    find,
    make_cache,
    make_forest,
    new_node,
    re_root,
    sum_of_values,
)  # fmt: skip
from forest import plant as plant_root
from game import Game, GameState, state_key
from games.plain import PlainGame
from selection import Rule

Predictor = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""planes [B, rows, columns, planes] uint8 -> (value [B] for the player to move, logits [B, action_size] unmasked)."""


class Decision(NamedTuple):
    """A move with what led to it."""

    action: int
    visits: np.ndarray
    """[action_size]: weight of each move; for a search its visits."""
    value: float
    """The player's own estimate, for the player to move."""


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
        moves = self.mcts.forest.moves[row["first"] : row["first"] + row["count"]]
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
    def stats(self) -> dict[str, float]:
        """N visits, W sum of values, Q = W / N (for the player who moves), P prior."""
        row = self._row
        n, w = (int(row["N"]), float(row["W"])) if row is not None else (0, 0.0)
        p = float(self.mcts.forest.priors[self.index])
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
        """The network's value, or the result when the game is over, for the player to move."""
        return float(self._row["value"])

    @property
    def visits(self) -> int:
        """Sum of its edges' N."""
        return int(self._row["total"])

    @property
    def Q(self) -> float:
        """Mean value over the network's and all visits, for the player to move."""
        return float(sum_of_values(self.mcts.forest, self.index) / (1 + self.visits))

    @property
    def edges(self) -> list[tuple[int, Edge]]:
        """(action, edge) for each legal move; empty before the node is expanded."""
        if self._row["status"] != EXPANDED:
            return []
        first, count = int(self._row["first"]), int(self._row["count"])
        actions = sorted(int(a) for a in self.mcts.forest.moves[first : first + count])
        return [(action, Edge(self.mcts, self.index, action)) for action in actions]

    def isLeaf(self) -> bool:
        """True before expansion and when the game is over."""
        return bool(self._row["status"] != EXPANDED)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and (self.mcts, self.index) == (other.mcts, other.index)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Node visits={self.visits} value={self.value:.3f} edges={len(self.edges)}>"


class MCTS:
    """A forest of search trees of one game; everything named after the article speaks of the first tree."""

    def __init__(
        self,
        game: Game,
        *,
        cpuct: float = 1.25,
        epsilon: float = 0.25,
        fpu_reduction: float = 0.25,
        trees: int = 1,
        leaves: int = 1,
        sims: int = 800,
        cache_size: int = 1 << 14,
        seed: int = 0,
    ) -> None:
        """Make room for searches of `sims` visits with up to `leaves` evaluations of a tree in the air."""
        if game.rules is None or game.start_row is None:
            raise TypeError(f"{game.name} has no rules: derive it from games.plain.PlainGame or set `rules`")
        self.game = game
        self.rules = game.rules
        self.leaves = leaves
        self.rule = Rule(float(cpuct), float(epsilon), float(fpu_reduction), 1.0 if leaves > 1 else 0.0)
        self.cache = make_cache(cache_size, game.action_size)
        self.forest = make_forest(game, trees, leaves, capacity_for(sims, leaves))
        self.forest.trees["rng"] = np.random.default_rng(seed).integers(0, 2**63, trees).astype(np.uint64)
        for t in range(trees):
            clear_tree(self.forest, t)
        batch = trees * leaves
        self._planes = np.zeros((batch, int(np.prod(game.input_shape))), np.uint8)
        self._asked = np.zeros(batch, np.int32)
        self._values = np.zeros(batch, np.float32)
        self._logits = np.zeros((batch, game.action_size), np.float32)
        self._step = k.bind(
            k.search_step, self.forest, self.rules, self.rule, self.cache, self._asked, 0, self._values,
            self._logits, self._planes, self._asked,
        )  # fmt: skip
        if isinstance(game, PlainGame):
            game.searches.add(self)

    @property
    def capacity(self) -> int:
        """Nodes that each tree has room for."""
        return len(self.forest.nodes) // len(self.forest.trees)

    def __len__(self) -> int:
        return int(self.forest.trees[0]["nodes"])

    @property
    def root(self) -> Node:
        return Node(self, self.forest.trees[0]["root"])

    @property
    def tree(self) -> dict[Any, Node]:
        """{state id: node} of the first tree."""
        return {node.id: node for node in self._nodes()}

    def _nodes(self) -> Iterator[Node]:
        return (Node(self, i) for i in range(len(self)))

    def __contains__(self, state: GameState) -> bool:
        key = np.uint64(state_key(self.game, state))
        return len(self) > 0 and find(self.forest, 0, key) >= 0

    # ---- the article's steps

    def addNode(self, state: GameState) -> Node:
        """Put a position into the first tree, or find it there."""
        f = self.forest
        row = self.game.row_of(state)
        key = np.uint64(state_key(self.game, state))
        index = find(f, 0, key)
        if index < 0:
            f.rows[len(self)] = row
            index = new_node(f, self.rules, 0, key, index)
            if index < 0:
                raise MemoryError(f"the tree is full ({self.capacity} nodes)")
        return Node(self, index)

    def moveToLeaf(self) -> tuple[Node, float, bool, list[Edge]]:
        """Walk to a leaf; return (leaf, value, done, breadcrumbs), value for the player to move there."""
        f = self.forest
        f.active[0] = 0
        k.walk(f, self.rules, self.rule, 1)
        self.check_errors()
        if f.leaf[0] < 0:
            k.undo(f, self.rule, 0)
            raise MemoryError(f"the tree is full ({self.capacity} nodes)")
        leaf, node, breadcrumbs = Node(self, f.leaf[0]), int(f.trees[0]["root"]), []
        for e in f.path[0, : f.depth[0]]:
            breadcrumbs.append(Edge(self, node, f.moves[e]))
            node = int(f.edges[e]["child"])
        done = bool(leaf._row["status"] == TERMINAL)
        return leaf, leaf.value if done else 0.0, done, breadcrumbs

    def expand(self, leaf: Node, value: float, logits: np.ndarray) -> None:
        """Give a leaf the network's answer: value for its player to move, logits [action_size] unmasked."""
        if leaf._row["status"] == WAITING:
            if not k.expand(self.forest, leaf.index, np.float32(value), np.asarray(logits, np.float32)):
                self.cache.counts[3] += 1
                self.check_errors()

    def backFill(self, leaf: Node, value: float, breadcrumbs: Sequence[Edge]) -> None:
        """Add the leaf's value to the edges that led to it."""
        self.forest.path[0, : len(breadcrumbs)] = [edge.index for edge in breadcrumbs]
        self.forest.turn[0, : len(breadcrumbs)] = [edge.playerTurn for edge in breadcrumbs]
        self.forest.depth[0] = len(breadcrumbs)
        k.backup(self.forest, self.rule, 0, float(value), leaf.playerTurn)

    # ---- whole searches

    def set_root(self, state: GameState, *, tree: int = 0, sims: int = 0) -> bool:
        """Make a position the root, keeping what the tree knows of it; return whether it knew it."""
        row = self.game.row_of(state)
        known = self.forest.trees[tree]["nodes"] > 0 and find(
            self.forest, tree, np.uint64(state_key(self.game, state))
        ) >= 0
        re_root(self.forest, self.rules, tree, row, min(sims, self.capacity - self.leaves - 1))
        self.check_errors()
        return bool(known)

    def plant(self, state: GameState, *, tree: int = 0) -> None:
        """Make a position the root of a new tree."""
        plant_root(self.forest, self.rules, tree, self.game.row_of(state))
        self.check_errors()

    def add_noise(self, alpha: float, *, tree: int = 0) -> None:
        """Draw Dirichlet noise for the root; it lasts until the root changes."""
        draw_noise(self.forest, tree, float(alpha))

    def search(
        self,
        predictor: Predictor,
        sims: int,
        trees: Sequence[int] = (0,),
        stop: Callable[[], bool] | None = None,
    ) -> int:
        """Simulate until the root of every tree named has `sims` visits (those kept count); return evaluations made.

        `stop` is asked before each batch and ends the search early.
        """
        which = np.array(trees, np.int32)
        if (self.forest.trees["root"][which] < 0).any():
            raise ValueError("expected a root in every tree to search: call set_root first")
        self.forest.trees["budget"][which] = sims
        f, shape = self.forest, self.game.input_shape
        n = evaluations = 0
        tables = f, self.rules, self.rule, self.cache, self._asked
        while True:
            n = self._step(*tables, n, self._values, self._logits, self._planes, which)
            self.check_errors()
            if n == 0:
                return evaluations
            evaluations += n
            try:
                self._values[:n], self._logits[:n] = predictor(self._planes[:n].reshape(n, *shape))
            except BaseException:
                for slot in self._asked[:n]:
                    k.undo(f, self.rule, int(slot))
                raise
            if stop is not None and stop():
                f.trees["budget"][which] = 0

    def visit_counts(self, tree: int = 0) -> np.ndarray:
        """Return [action_size] int64: N of the root's moves."""
        root = self.forest.nodes[self.forest.trees[tree]["root"]]
        edges = self.forest.edges[root["first"] : root["first"] + root["opened"]]
        counts = np.zeros(self.game.action_size, np.int64)
        counts[edges["action"]] = edges["N"]
        return counts

    def decide(self, tree: int, tau: float) -> Decision:
        """Choose a move of a searched tree, by its own random state."""
        counts = self.visit_counts(tree)
        action = int(self.forest.moves[choose(self.forest, tree, float(tau))])
        return Decision(action, counts, self.root_value(tree))

    def root_value(self, tree: int = 0) -> float:
        """Return the search's value of the root, for its player to move."""
        return float(k.root_value(self.forest, tree))

    def clear_cache(self) -> None:
        """Forget all evaluations: the weights changed."""
        self.cache.keys[:] = 0

    def clear(self) -> None:
        """Forget all trees."""
        for t in range(len(self.forest.trees)):
            clear_tree(self.forest, t)

    def reset(self, tree: int, seed: int) -> None:
        """Forget one tree; its random draws come from `seed` from now on."""
        clear_tree(self.forest, tree)
        self.forest.trees["rng"][tree] = np.uint64(seed)

    def check_errors(self) -> None:
        """Raise what went wrong inside the last compiled call; the trees are then forgotten.

        That is an error of a rule in plain Python, or an answer of the network that was not finite
        (`ArithmeticError`). Also the place where a game in plain Python drops positions that no tree holds any more.
        """
        if self.cache.counts[3]:
            self.cache.counts[3] = 0
            self.clear()
            raise ArithmeticError("expected finite answers of the network, got NaN or infinity")
        if isinstance(self.game, PlainGame):
            try:
                self.game.check_errors()
            except BaseException:
                self.clear()
                raise
            self.game.tidy()

    def used_rows(self) -> np.ndarray:
        """Return the rows of all positions in the trees, [n, row_size]."""
        used = self.forest.trees["nodes"][:, None] > np.arange(self.capacity + 1)[None]
        return self.forest.rows[used.ravel()]

    def principal_variation(self, node: Node | None = None, length: int = 12) -> list[int]:
        """Return the most visited moves in turn, from `node` or the root."""
        node = node or self.root
        line: list[int] = []
        while node is not None and node.edges and len(line) < length:
            action, edge = max(node.edges, key=lambda pair: pair[1].stats["N"])
            if edge.stats["N"] == 0:
                break
            line.append(action)
            node = edge.outNode
        return line
