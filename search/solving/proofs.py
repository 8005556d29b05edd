"""Proofs: whether a position or a move is certainly won, lost or drawn, as found in the tree or by a solver.

Reference: Winands, Bjornsson, Saito 2008, "Monte-Carlo Tree Search Solver".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from compiled import compiled, inlined

UNPROVEN, WIN, LOSS, DRAW = 0, 1, -1, 2
"""For a node: as seen by its player to move. For a move: as seen by the player who makes it."""


@inlined
def proof_of(value):
    """Return the proof that a value of -1, 0 or 1 is."""
    return np.int8(DRAW if value == 0 else value)


@inlined
def proven_value(proven):
    """Return the value of a proof."""
    return 0.0 if proven == DRAW else np.float64(proven)


def known_value(proven: int) -> float | None:
    """Return the value of a proof, None if unproven."""
    return None if proven == UNPROVEN else float(proven_value.py_func(proven))


@compiled
def keeps_proof(f, node, e):
    """Return whether a move keeps what is proven of its node; if nothing is, whether the move is not proven to lose."""
    proven = f.moves[e].proven
    return proven != LOSS if node.proven == UNPROVEN else proven == node.proven


def kept_moves(f: Any, index: int) -> np.ndarray:
    """Return whether each legal move of a node keeps what is proven of it, [legal] bool; see `keeps_proof`."""
    node = f.nodes[index]
    proven = f.moves["proven"][node["first"] : node["first"] + node["legal"]]
    kept: np.ndarray = proven != LOSS if node["proven"] == UNPROVEN else proven == node["proven"]
    return kept


@compiled
def prove(f, slot):
    """Propagate the proof of a leaf up the path of its simulation, as far as it decides.

    A position is won when one move wins, lost when all lose, drawn when all are proven and the best draws.
    """
    leaf = f.nodes[f.slots[slot].leaf]
    proven, player = leaf.proven, leaf.player
    for d in range(f.slots[slot].depth - 1, -1, -1):
        taken = f.steps[slot * f.reach + d]
        node = f.nodes[taken.node]
        if node.player != player and proven != DRAW:
            proven = -proven
        f.moves[taken.edge].proven = proven
        if proven != WIN:
            if node.materialised < node.count:
                return
            proven = LOSS
            for e in range(node.first, node.first + node.materialised):
                if f.moves[e].proven == UNPROVEN:
                    return
                if f.moves[e].proven != LOSS:
                    proven = f.moves[e].proven
        node.proven = proven
        player = node.player
