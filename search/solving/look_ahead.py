"""Look-ahead at a new position: moves that win at once, moves that let the other player win, wins by force.

Reference: Teytaud 2010, "On the huge benefit of decisive moves in Monte-Carlo Tree Search algorithms".
"""

from __future__ import annotations

import math

import numpy as np

from compiled import at, compiled, inlined
from game import NO_WIN, NOT_TOLD, ONLY, PLAYER
from games.returned_values import FORCED_MOVE, SAFE_MOVES, WINNING_MOVE, break_rule, is_over
from search.solving.forced import NEW
from search.solving.proofs import LOSS, UNPROVEN, WIN
from search.tables import EXPANDED, materialise_edge


@inlined
def look_ahead(f, rules, t, node, row):
    """Prove a position won when a move wins at once; that move comes first.

    Else, with two plies of look-ahead, leave out the moves after which the other player wins at once ("decisive" and
    "anti-decisive moves", Teytaud 2010).
    """
    room = f.rows[np.uint64(t * (f.capacity + 1) + at(f.trees, t).nodes + 1)]
    move = winning_move(f, rules, node, row, room)
    if move != NO_WIN:
        prove_won(f, node, move, np.int64(WINNING_MOVE))
    elif f.solver.look_ahead > 1:
        leave_out_losing(f, rules, node, row)
        if f.solver.forced_wins > 0 and node.proven == UNPROVEN:
            find_forced_wins(f, node, row)
        if node.count == 1 and node.proven == UNPROVEN:
            pass_through(f, node)


@compiled
def prove_won(f, node, move, broken):
    """Prove a new node won by a move, which comes first. broken: the rule that is, if there is no such move."""
    i, stop = np.int64(node.first), np.int64(node.first) + node.count
    while i < stop and f.moves[i].action != move:
        i += 1
    if i == stop:
        break_rule(f.bounds, broken)
        return
    f.moves[i].action, f.moves[node.first].action = f.moves[node.first].action, move
    node.proven = WIN


@compiled
def find_forced_wins(f, node, row):
    """Prove a new node won where a move wins by force; where the other threatens that, leave out what does not help."""
    found = f.solver.forced(row, np.int64(NEW), f.solver.room, f.legal)
    if found >= 0:
        prove_won(f, node, found, np.int64(FORCED_MOVE))
    elif found <= ONLY:
        keep_moves(f, node, ONLY - found, np.int64(FORCED_MOVE))


@inlined
def winning_move(f, rules, node, row, room):
    """Return the lowest move of a new node that wins at once, or NO_WIN; `room` is a row to try moves in."""
    known = rules.winning(row)
    if known != NOT_TOLD:
        return known
    for i in range(node.first, node.first + node.count):
        for k in range(row.shape[0]):
            room[k] = row[k]
        rules.play(room, f.moves[i].action)
        if is_over(rules, room, f.outcome, f.bounds):
            value = f.outcome[0] if room[PLAYER] == node.player else -f.outcome[0]
            if value == 1.0:
                return np.int64(f.moves[i].action)
    return np.int64(NO_WIN)


@inlined
def leave_out_losing(f, rules, node, row):
    """Keep the edges of the moves that do not lose at once, see `keep_moves`."""
    count = rules.safe(row, f.legal)
    if count != NOT_TOLD:
        keep_moves(f, node, count, np.int64(SAFE_MOVES))


@compiled
def keep_moves(f, node, count, broken):
    """Keep the edges of the moves f.legal[:count] of a new node; of none: prove the position lost and keep all.

    broken: the rule that is, if these are not some of its moves.
    """
    if count == 0:
        node.proven = LOSS
        return
    if count == node.legal:
        return
    if not (0 < count < node.legal):
        break_rule(f.bounds, broken)
        return
    first, k = np.int64(node.first), 0
    for i in range(node.legal):
        if k < count and f.moves[first + i].action == f.legal[k]:
            f.moves[first + i].action, f.moves[first + k].action = f.moves[first + k].action, f.legal[k]
            k += 1
    if k < count:
        break_rule(f.bounds, broken)
        return
    for e in range(first + count, first + node.legal):
        f.moves[e].P = 0.0
    node.count = count


@compiled
def pass_through(f, node):
    """Let simulations pass through a node with one move, without an evaluation: its value is NaN."""
    f.moves[node.first].P = 1.0
    node.value = math.nan
    node.status = EXPANDED


@compiled
def take_win(f, index):
    """Visit the winning move of a root that `look_ahead` proved won, which needs no other search."""
    node = f.nodes[index]
    for e in range(node.first, node.first + node.count):
        f.moves[e].P = 1.0 / node.count
    edge = f.edges[materialise_edge(f, node, np.int64(node.first))]
    edge.N, edge.W = 1, 1.0
    f.moves[node.first].proven = WIN
    node.total, node.value, node.status = 1, 1.0, EXPANDED
