"""What a node gets from the network: its value and, once a walk goes on from it, priors made of the logits.

Most nodes of a search of some hundred visits are leaves to its end, and no one needs their priors.
"""

from __future__ import annotations

import math

import numpy as np

from compiled import at, compiled, inlined
from search.tables import EXPANDED


@inlined
def expand(f, index, value, logits):  # type: ignore[no-untyped-def]
    """Give a node its value and the logits of its moves, of which `make_priors` makes priors when they are needed.

    Returns False, with a neutral answer in place, when the network's was not finite.
    """
    node = at(f.nodes, index)
    first, count = np.int64(node.first), np.int64(node.count)
    top, wrong = -np.inf, False
    for i in range(count):
        logit = at(logits, at(f.moves, first + i).action)
        at(f.moves, first + i).P = logit
        wrong |= math.isnan(logit)
        top = max(top, logit)
    sound = math.isfinite(top) and math.isfinite(value) and not wrong
    if not sound:
        for e in range(first, first + count):
            f.moves[e].P = 1.0 / count
    node.value = value if sound else 0.0
    node.status, node.logits = EXPANDED, sound
    return sound


@inlined
def exp(x):  # type: ignore[no-untyped-def]
    """Return e^x for x <= 0 to the last bit or two, as operations that a processor does for many numbers at once.

    e^x = 2^k e^r with |r| <= ln(2) / 2 and Taylor's series of e^r; what is below e^-700 counts as that. NaN stays NaN.
    """
    x = -700.0 if x < -700.0 else x
    k = math.floor(x * 1.4426950408889634 + 0.5)
    r = x - k * 0.6931471803691238 - k * 1.9082149292705877e-10
    series = 1.0 / 479001600.0
    series = series * r + 1.0 / 39916800.0
    series = series * r + 1.0 / 3628800.0
    series = series * r + 1.0 / 362880.0
    series = series * r + 1.0 / 40320.0
    series = series * r + 1.0 / 5040.0
    series = series * r + 1.0 / 720.0
    series = series * r + 1.0 / 120.0
    series = series * r + 1.0 / 24.0
    series = series * r + 1.0 / 6.0
    series = series * r + 0.5
    series = series * r + 1.0
    series = series * r + 1.0
    return series * np.int64((np.int64(k) + 1023) << 52).view(np.float64)


@inlined
def make_priors(f, index):  # type: ignore[no-untyped-def]
    """Make a node's priors, if it has logits still."""
    if at(f.nodes, index).logits:
        softmax(f, at(f.nodes, index))


@compiled
def softmax(f, node):  # type: ignore[no-untyped-def]
    """Put in place of the logits of a node's moves, which are legal, their softmax; shifted by the largest of them."""
    first, count = np.int64(node.first), np.int64(node.count)
    top = -np.inf
    for i in range(count):
        f.odds[np.uint64(i)] = at(f.moves, first + i).P
        top = max(top, at(f.odds, i))
    for i in range(count):  # apart from the loop above, or a processor does it for one number at a time
        f.odds[np.uint64(i)] = exp(at(f.odds, i) - top)
    total = 0.0
    for i in range(count):
        total += at(f.odds, i)
    for i in range(count):
        at(f.moves, first + i).P = np.float32(at(f.odds, i)) / total
    node.logits = 0
