"""A node's priors: the softmax of its legal moves' logits, computed when a simulation first passes through the node.

Most nodes of a search with some hundred visits stay leaves, whose priors are never needed.
"""

from __future__ import annotations

import numpy as np

from compiled import at, compiled, inlined
from search.speed.fast_exp import exp


@inlined
def make_priors(f, index):
    """Compute a node's priors if it still has logits."""
    if at(f.nodes, index).logits:
        softmax(f, at(f.nodes, index))


@compiled
def softmax(f, node):
    """Replace the logits of a node's legal moves by their softmax, shifted by the largest of them."""
    first, count = np.int64(node.first), np.int64(node.count)
    top = -np.inf
    for i in range(count):
        f.odds[np.uint64(i)] = at(f.moves, first + i).P
        top = max(top, at(f.odds, i))
    for i in range(count):  # a loop of its own, so that it is vectorised
        f.odds[np.uint64(i)] = exp(at(f.odds, i) - top)
    total = 0.0
    for i in range(count):
        total += at(f.odds, i)
    for i in range(count):
        at(f.moves, first + i).P = np.float32(at(f.odds, i)) / total
    node.logits = 0


def legal_softmax(logits: np.ndarray) -> np.ndarray:
    """Return the softmax [n] of the logits of the legal moves, shifted by the largest so that nothing overflows."""
    odds = np.exp(logits.astype(np.float64) - float(logits.max()))
    probabilities: np.ndarray = odds / odds.sum()
    return probabilities
