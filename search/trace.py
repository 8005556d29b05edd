"""What the selection rule saw at each choice of a search, for `explain`, and observers that see each simulation."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from game import GameState
from search.expand import legal_softmax
from search.many_trees import ManyTrees
from search.select import exploration, puct_bonus, with_noise
from search.solving.proofs import DRAW, LOSS, UNPROVEN, WIN, proven_value
from search.tables import UNVISITED

WORDS = {UNPROVEN: "", WIN: "won", LOSS: "lost", DRAW: "drawn"}


class Node(Protocol):
    """What is read of a node (`MCTS.Node`)."""

    @property
    def mcts(self) -> ManyTrees: ...
    @property
    def state(self) -> GameState: ...
    @property
    def playerTurn(self) -> int: ...


class Edge(Protocol):
    """What is read of an edge (`MCTS.Edge`)."""

    node: int
    action: int

    @property
    def stats(self) -> dict[str, float]: ...
    @property
    def playerTurn(self) -> int: ...


class Choice(NamedTuple):
    """The numbers of one move in the selection rule; the formula is at `select.select_puct`."""

    action: int
    N: int
    P: float
    nu: float
    adjusted: float
    """P mixed with the noise nu."""
    W: float
    Q: float
    """W / N, or the value of the move's proof; for an unvisited move the first-play value."""
    U: float
    child: int
    """The node after the move; UNVISITED before its first visit."""
    proven: str
    """won, lost or drawn for the player who makes the move; empty = not proven."""

    def numbers(self) -> str:
        """Return the numbers as a line of the log."""
        prior = f"P={self.P:.4f} nu={self.nu:.4f} adjP={self.adjusted:.4f}"
        value = f"W={self.W:+.3f} Q={self.Q:+.3f} U={self.U:.3f} Q+U={self.Q + self.U:+.3f}"
        return f"N={self.N} {prior} {value}" + (f" proven {self.proven}" if self.proven else "")


def choices_at(mcts: ManyTrees, index: int, taken: int | None = None) -> list[Choice]:
    """Return what `select.select_puct` computes for each move of the node with this index, by action.

    taken: the action of a simulation that has passed the node and has no value yet; its visit is left out.
    """
    f, puct, node = mcts.forest, mcts.puct, mcts.forest.nodes[index]
    first, count, materialised, legal = (int(node[name]) for name in ("first", "count", "materialised", "legal"))
    found, moves = f.edges[first : first + materialised].copy(), f.moves[first : first + legal]
    found["N"] -= moves["action"][:materialised] == taken
    priors = moves["P"].astype(np.float64)
    if node["logits"]:
        priors[:count] = legal_softmax(priors[:count])
    is_root = index == int(f.trees[0]["root"])
    noisy = is_root and bool(f.trees[0]["noisy"])
    total, fresh = int(node["total"]) - (taken is not None), 0.0
    if puct.fpu >= 0:
        visited = float(priors[:materialised][found["N"] > 0].sum())
        W = float(np.nan_to_num(node["value"])) + float(found["W"].sum())
        fresh = W / (1 + total) - (0.0 if is_root else puct.fpu * visited**0.5)
    lines = []
    for i in np.argsort(moves["action"]):
        n, w, child = 0, 0.0, UNVISITED
        if i < materialised:
            n, w, child = int(found[i]["N"]), float(found[i]["W"]), int(found[i]["child"])
        action, p = int(moves[i]["action"]), float(priors[i])
        nu = float(f.noise[0, action]) if noisy else 0.0
        adjusted = with_noise.py_func(puct.epsilon, p, nu) if noisy else p
        u = puct_bonus.py_func(exploration.py_func(puct.cpuct, total), adjusted, n)
        known = UNPROVEN if i < count and node["proven"] != LOSS else LOSS
        if i < materialised:
            known = int(moves[i]["proven"])
        q = (w / n if n else fresh) if known == UNPROVEN else proven_value.py_func(known)
        lines.append(Choice(action, n, p, nu, adjusted, w, q, u, child, WORDS[known]))
    return lines


class SearchObserver:
    """Sees each simulation of a search, step by step, and changes nothing. Override what is of interest."""

    def simulation_begins(self, tree: ManyTrees) -> None:
        """See the tree before a simulation."""

    def leaf_reached(self, leaf: Node, breadcrumbs: Sequence[Edge]) -> None:
        """See the leaf and the edges that led to it, their visit counted."""

    def leaf_evaluated(self, leaf: Node, value: float, done: bool) -> None:
        """See the leaf's value, for its player to move; done: the game is over there, or its result is proven."""

    def backed_up(self, leaf: Node, value: float, breadcrumbs: Sequence[Edge]) -> None:
        """See the edges after that value was added to each."""


class SearchLog(SearchObserver):
    """Logs every simulation: each node on its path with every edge's numbers at the choice, the leaf, the back-fill."""

    def __init__(self, logger: logging.Logger) -> None:
        self.logger = logger
        self._nodes = 0
        """Nodes of the tree at the beginning of a simulation."""

    def simulation_begins(self, tree: ManyTrees) -> None:
        self._nodes = int(tree.forest.trees[0]["nodes"])
        root = tree.forest.nodes[tree.forest.trees[0]["root"]]
        self.logger.info("****** simulation %d", int(root["total"]))

    def leaf_reached(self, leaf: Node, breadcrumbs: Sequence[Edge]) -> None:
        if not self.logger.isEnabledFor(logging.INFO):
            return
        name = leaf.mcts.game.move_name
        for chosen in breadcrumbs:
            self.logger.info("PLAYER %+d", chosen.playerTurn)
            is_new = chosen.node >= self._nodes  # it has one move: nothing was chosen there
            for c in choices_at(leaf.mcts, chosen.node, chosen.action) if not is_new else ():
                self.logger.info("action: %s %s", name(c.action), c.numbers())
            self.logger.info("chosen: %s", name(chosen.action))
        self.logger.info("leaf at depth %d, player %+d\n%s", len(breadcrumbs), leaf.playerTurn, leaf.state.render())

    def leaf_evaluated(self, leaf: Node, value: float, done: bool) -> None:
        what = "game over at the leaf" if done else "leaf evaluated"
        self.logger.info("%s, value %+.3f for player %+d", what, value, leaf.playerTurn)

    def backed_up(self, leaf: Node, value: float, breadcrumbs: Sequence[Edge]) -> None:
        for edge in breadcrumbs:
            name = leaf.mcts.game.move_name(edge.action)
            sign = 1 if edge.playerTurn == leaf.playerTurn else -1
            s = edge.stats
            numbers = f"value {sign * value:+.3f}, N={s['N']} W={s['W']:+.3f} Q={s['Q']:+.3f}"
            self.logger.info("back-fill %s: player %+d, %s", name, edge.playerTurn, numbers)
