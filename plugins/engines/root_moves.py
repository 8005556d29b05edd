"""A search of some of the moves of a new root only, as programs that analyse ask for by `avoid` and `allow`."""

from __future__ import annotations

from collections.abc import Set

import numpy as np

from MCTS import MCTS
from search.solving.proofs import UNPROVEN
from search.solving.solved_endings import ROOT_TRIED
from search.tables import WAITING


def search_only(trees: MCTS, tree: int, allowed: Set[int]) -> None:
    """Put the other moves of a new root behind its edges, where no search comes; undo what was proven by them.

    Among the allowed moves those that the look-ahead leaves out stay there, unless there are no others.
    """
    f = trees.forest
    node = f.nodes[f.trees["root"][tree]]
    first, legal = int(node["first"]), int(node["legal"])
    moves = f.moves[first : first + legal]
    kept = np.isin(moves["action"], list(allowed))
    if kept.all():
        return
    edges = kept & (np.arange(legal) < node["count"])
    front = edges if edges.any() else kept
    f.moves[first : first + legal] = np.concatenate([moves[front], moves[~front]])
    f.moves["proven"][first : first + legal] = UNPROVEN
    node["count"], node["materialised"], node["total"] = int(front.sum()), 0, 0
    node["status"], node["proven"], node["late"] = WAITING, UNPROVEN, ROOT_TRIED
