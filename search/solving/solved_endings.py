"""Roots and leaves that need no network: solved endings, and wins by force at a root."""

from __future__ import annotations

import numpy as np

from compiled import at, compiled, inlined
from game import GIVEN_UP, PLAYER, PLY
from games.returned_values import FORCED_MOVE, break_rule
from search.solving.endgame_solver import LEAF, MOVE, ROOT, ask
from search.solving.forced import AT_ROOT
from search.solving.proofs import LOSS, UNPROVEN, WIN, proof_of, proven_value
from search.tables import EXPANDED, TERMINAL, WAITING, copy_row, materialise_edge, row_index

LEAF_TRIED, ROOT_TRIED, ROOT_EARLY = 1, 2, 3
"""Values of a node's `late`: solving was tried as a leaf, or as a root, or the root is too early in the game."""


@inlined
def solve_leaf(f, rules, t, index):
    """Solve a position near the end of the game, if that takes no longer than an evaluation by the network."""
    node, row = at(f.nodes, index), row_index(f, t, index)
    due = node.status == WAITING and node.proven == UNPROVEN and not node.late
    if due and ply(f, row) >= f.solver.leaf_ply:
        solve_late(f, rules, node, row)


@inlined
def ply(f, row):
    """Return how many plies were played before a position."""
    return at(f.flat, row * f.rows.shape[1] + PLY)


@compiled
def solve_late(f, rules, node, row):
    """Solve a leaf for `solve_leaf`, which has checked that this is due."""
    node.late = LEAF_TRIED
    ask(f.solver.line, f.solver.line.limits[LEAF])
    copy_row(f.solver.line.rows, 0, f.rows[row])
    value = f.solver.solve(f.solver.line, rules, f.outcome)
    if value != GIVEN_UP:
        node.proven = proof_of(value)


@inlined
def solve_root(f, rules, t):
    """Look for a win by force at a root, and solve its moves near the end of the game; once.

    A root that was solved as a leaf is solved again, move by move.
    """
    index = np.int64(at(f.trees, t).root)
    node = at(f.nodes, index)
    if node.late >= ROOT_TRIED or node.status == TERMINAL:
        return
    row = row_index(f, t, index)
    if f.solver.forced_wins > 1 and node.proven == UNPROVEN:
        force_root(f, node, row)
    if ply(f, row) < f.solver.root_ply:
        node.late = ROOT_EARLY  # so that the next simulation need not read the position
    elif node.proven == UNPROVEN or (node.status == WAITING and node.late == LEAF_TRIED):
        solve_moves(f, rules, node, row)


@compiled
def force_root(f, node, row):
    """Prove a root won where a longer search than a new position's finds a move that wins by force, and visit it."""
    move = f.solver.forced(f.rows[row], np.int64(AT_ROOT), f.solver.room, f.legal)
    if move < 0:
        return
    e, stop, total = np.int64(node.first), np.int64(node.first) + node.count, 0
    while e < stop and f.moves[e].action != move:
        e += 1
    if e == stop:
        break_rule(f.bounds, FORCED_MOVE)
        return
    if node.status == WAITING:
        for i in range(node.first, node.first + node.count):
            f.moves[i].P = 1.0 / node.count
        node.value = 1.0
    e = materialise_edge(f, node, e)
    edge = f.edges[e]
    edge.N = max(edge.N, 1)
    edge.W, f.moves[e].proven = edge.N, WIN
    for i in range(node.first, node.first + node.materialised):
        total += f.edges[i].N
    node.total, node.status, node.proven = total, EXPANDED, WIN


@compiled
def solve_moves(f, rules, node, row):
    """Solve each move of a root; if all values that matter are found, visit the moves, and nothing is left to search.

    If one move wins, the others need not be known; otherwise all must be, or the root is searched, where the game has a
    limit for each move without those that are known to lose. If all lose, the network is needed for the priors.
    """
    node.late, node.proven = ROOT_TRIED, UNPROVEN
    best, all_known = solve_each(f, rules, node, row)
    if all_known or best == 1.0:
        node.proven = proof_of(best)
        if node.proven != LOSS or node.status == EXPANDED:
            visit_all(f, node)
    elif f.solver.line.limits[MOVE] < f.solver.line.limits[ROOT]:
        leave_out_lost(f, node)


@compiled
def solve_each(f, rules, node, row):
    """Write the value of each move of a root to f.odds, GIVEN_UP if it is not known; return the best, and whether all
    are known.

    Where the game says so, each move has few positions at first, so that a move that wins soon is found first.
    """
    left, first = np.int64(f.solver.line.limits[ROOT]), np.int64(f.solver.line.limits[MOVE])
    best, unknown = -1.0, np.int64(node.count)
    ask(f.solver.line, left)
    for i in range(node.count):
        f.odds[i] = GIVEN_UP
    for again in range(2 if first < left else 1):
        for i in range(node.count):
            if f.odds[i] != GIVEN_UP or (again and best == 1.0):
                continue
            most = left if again else min(left, first)
            f.solver.line.left[0] = most
            copy_row(f.solver.line.rows, 0, f.rows[row])
            rules.play(f.solver.line.rows[0], f.moves[node.first + i].action)
            value = f.solver.solve(f.solver.line, rules, f.outcome)
            left -= most - f.solver.line.left[0]
            if value != GIVEN_UP:
                f.odds[i] = -value if f.solver.line.rows[0, PLAYER] != node.player else value
                best, unknown = max(best, f.odds[i]), unknown - 1
    return best, unknown == 0


@compiled
def leave_out_lost(f, node):
    """Mark the visited moves of a root whose values in f.odds are known; put others that lose behind its edges, as
    `look_ahead.leave_out_losing` does.
    """
    kept = np.int64(node.materialised)
    for i in range(node.count):
        move, other = f.moves[node.first + i], f.moves[node.first + kept]
        if i < node.materialised:
            if f.odds[i] != GIVEN_UP:
                move.proven = proof_of(f.odds[i])
        elif f.odds[i] != -1.0:
            move.action, move.P, other.action, other.P = other.action, other.P, move.action, move.P
            kept += 1
    for e in range(node.first + kept, node.first + node.count):
        f.moves[e].P = 0.0
    node.count = kept


@compiled
def visit_all(f, node):
    """Give each solved move of a root, value in f.odds, a visit if it had none; no later simulation passes through it.

    If all moves lose they get none: without visits of an earlier search, priors choose (`choose_move.choose`).
    """
    least = 0 if node.proven == LOSS else 1
    if node.status == WAITING:
        for e in range(node.first, node.first + node.count):
            f.moves[e].P = 1.0 / node.count
        node.value = proven_value(node.proven)
    node.status = EXPANDED
    node.total = 0
    for i in range(node.count):
        if f.odds[i] != GIVEN_UP:
            e = materialise_edge(f, node, np.int64(node.first + i))
            edge = f.edges[e]
            edge.N = max(edge.N, least)
            edge.W, f.moves[e].proven = edge.N * f.odds[i], proof_of(f.odds[i])
    for e in range(node.first, node.first + node.materialised):
        node.total += f.edges[e].N
