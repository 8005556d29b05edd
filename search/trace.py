"""Records what the selection rule saw at each choice of a search, for the log of simulations and for `explain`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from search.expand import legal_softmax
from search.select import exploration, puct_bonus, with_noise
from search.solving.proofs import DRAW, LOSS, UNPROVEN, WIN, proven_value

if TYPE_CHECKING:
    from MCTS import MCTS, Edge, Node

WORDS = {UNPROVEN: "", WIN: "won", LOSS: "lost", DRAW: "drawn"}


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
    proven: str
    """won, lost or drawn for the player who makes the move; empty = not proven."""


class Tables(NamedTuple):
    """A copy of a tree's tables."""

    nodes: np.ndarray
    edges: np.ndarray
    moves: np.ndarray


def snapshot(mcts: MCTS) -> Tables:
    """Return a copy of the tables as the next simulation will see them."""
    f = mcts.forest
    return Tables(f.nodes.copy(), f.edges.copy(), f.moves.copy())


def choices_at(mcts: MCTS, tables: Tables, index: int) -> list[Choice]:
    """Return what `select.select_puct` computes for each move of the node with this index, by action."""
    puct, node = mcts.puct, tables.nodes[index]
    first, count, materialised, legal = (int(node[name]) for name in ("first", "count", "materialised", "legal"))
    found, moves = tables.edges[first : first + materialised], tables.moves[first : first + legal]
    priors = moves["P"].astype(np.float64)
    if node["logits"]:
        priors[:count] = legal_softmax(priors[:count])
    is_root = index == mcts.root.index
    noisy = is_root and bool(mcts.forest.trees[0]["noisy"])
    total, fresh = int(node["total"]), 0.0
    if puct.fpu >= 0:
        visited = float(priors[:materialised][found["N"] > 0].sum())
        W = float(np.nan_to_num(node["value"])) + float(found["W"].sum())
        fresh = W / (1 + total) - (0.0 if is_root else puct.fpu * visited**0.5)
    lines = []
    for i in np.argsort(moves["action"]):
        n, w = (int(found[i]["N"]), float(found[i]["W"])) if i < materialised else (0, 0.0)
        action, p = int(moves[i]["action"]), float(priors[i])
        nu = float(mcts.forest.noise[0, action]) if noisy else 0.0
        adjusted = with_noise.py_func(puct.epsilon, p, nu) if noisy else p
        u = puct_bonus.py_func(exploration.py_func(puct.cpuct, total), adjusted, n)
        known = UNPROVEN if i < count and node["proven"] != LOSS else LOSS
        if i < materialised:
            known = int(moves[i]["proven"])
        q = (w / n if n else fresh) if known == UNPROVEN else proven_value.py_func(known)
        lines.append(Choice(action, n, p, nu, adjusted, w, q, u, WORDS[known]))
    return lines


def log_simulation(
    log: Callable[..., None], mcts: MCTS, before: Tables, breadcrumbs: Sequence[Edge], leaf: Node
) -> None:
    """Log, for each node on a simulation's path, every edge with its numbers at the choice; then the leaf."""
    name: Callable[[int], Any] = mcts.game.move_name
    for chosen in breadcrumbs:
        log("PLAYER %+d", chosen.playerTurn)
        for c in choices_at(mcts, before, chosen.node):
            log(
                "action: %s N=%d P=%.4f nu=%.4f adjP=%.4f W=%+.3f Q=%+.3f U=%.3f Q+U=%+.3f%s",
                name(c.action), c.N, c.P, c.nu, c.adjusted, c.W, c.Q, c.U, c.Q + c.U,
                c.proven and f" proven {c.proven}",
            )  # fmt: skip
        log("chosen: %s", name(chosen.action))
    log("leaf at depth %d, player %+d\n%s", len(breadcrumbs), leaf.playerTurn, leaf.state.render())
