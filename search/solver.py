"""The solver's hook: what the phases of search/simulate.py call where a position or a move may have an exact value.

A reader of the search can skip this file and search/solving/, which holds what is called here: proofs, look-ahead, wins
by force, solved endings. With `config.PLAIN_SEARCH` nothing is proven or solved: each value is then the one that a
search without these calls has.
"""

from __future__ import annotations

import math

from compiled import at, inlined
from search.solving.look_ahead import look_ahead, take_win
from search.solving.proofs import DRAW, UNPROVEN, WIN, proof_of, prove, proven_value
from search.solving.solved_endings import solve_leaf, solve_root
from search.tables import WAITING

SURE = 1e6
"""Q of a proven win. A proven loss has the negative, so that it is selected only when every other move loses too."""


# ---- a simulation begins


@inlined
def at_new_root(f, index):
    """Visit the winning move of a root, if its look-ahead found one.

    A root that is lost still waits for the network's priors, and no more. If it was solved as a leaf, its moves are
    still to be solved, by `at_root`.
    """
    node = at(f.nodes, index)
    if node.status == WAITING and node.proven == WIN and not node.late:
        take_win(f, index)


@inlined
def at_root(f, rules, t):
    """Solve a root, once; return whether it is decided and needs no simulation.

    A lost root needs one, for priors to choose a move by.
    """
    solve_root(f, rules, t)
    root = at(f.nodes, at(f.trees, t).root)
    return root.proven != UNPROVEN and root.status != WAITING


# ---- 1. select


@inlined
def is_end(node, depth):
    """Return whether a simulation ends at a node because it is proven; no simulation ends at the root."""
    return node.proven != UNPROVEN and depth > 0


@inlined
def is_proven(f, e):
    """Return whether a move is known to win, lose or draw."""
    return at(f.moves, e).proven != UNPROVEN


@inlined
def exact_q(f, e):
    """Return Q of a visited edge: its mean value, or 0, SURE or -SURE for a proven move."""
    proven = at(f.moves, e).proven
    if proven == UNPROVEN:
        return at(f.edges, e).W / at(f.edges, e).N
    return 0.0 if proven == DRAW else proven * SURE


# ---- 2. expand


@inlined
def at_new_node(f, rules, t, node, row, over):
    """Write what is known of a new node: from the result where the game is over, else by the look-ahead."""
    node.proven, node.late = UNPROVEN, 0
    if over and node.value in (-1.0, 0.0, 1.0):
        node.proven = proof_of(node.value)
    if f.solver.look_ahead > 0 and not over:
        look_ahead(f, rules, t, node, row)


# ---- 3. evaluate


@inlined
def at_leaf(f, rules, t, index, depth):
    """Return whether a leaf's value is known without the network; near the end of the game it is solved for that.

    A root is left to `at_root`.
    """
    if depth == 0:
        return False
    solve_leaf(f, rules, t, index)
    return at(f.nodes, index).proven != UNPROVEN


# ---- 4. back up


@inlined
def exact_value(node, value):
    """Return the value of a node's proof; of an unproven node `value`."""
    return value if node.proven == UNPROVEN else proven_value(node.proven)


@inlined
def leaf_value(node):
    """Return the value of a leaf that is backed up; 0 of a position with one move, which was passed through."""
    value = exact_value(node, node.value)
    return 0.0 if math.isnan(value) else value


@inlined
def after_backup(f, slot):
    """Carry what is proven of a leaf up the path of its simulation."""
    if f.solver.proofs and at(f.nodes, at(f.slots, slot).leaf).proven != UNPROVEN:
        prove(f, slot)
