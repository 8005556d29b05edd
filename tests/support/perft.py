"""Counts move sequences and positions of a game through its rules, without a search."""

import numpy as np
from numba import njit

from game import LAST, NO_WIN, PLAYER


@njit(cache=True)
def _sequences(rules, row, depth, action_size, results):
    rows = np.zeros((depth + 1, row.shape[0]), np.int32)
    legal = np.zeros((depth + 1, action_size), np.int32)
    count, tried = np.zeros(depth + 1, np.int64), np.zeros(depth + 1, np.int64)
    out = np.zeros(1, np.float32)
    rows[0] = row
    count[0] = rules.legal(rows[0], legal[0])
    total = level = 0
    while level >= 0:
        if tried[level] == count[level]:
            level -= 1
            continue
        tried[level] += 1
        new = rows[level + 1]
        new[:] = rows[level]
        rules.play(new, legal[level, tried[level] - 1])
        over = rules.outcome(new, out)
        if over:
            results[1 - int(np.sign(out[0])) * new[PLAYER]] += 1
        if level + 1 == depth:
            total += 1
            continue
        level += 1
        tried[level] = 0
        count[level] = 0 if over else rules.legal(new, legal[level])
    return total


def sequences(game, depth):
    """Return (lines of exactly `depth` moves, games ended by then as [won by 1, drawn, won by -1])."""
    results = np.zeros(3, np.int64)
    return _sequences(game.rules, game.start_row, depth, game.action_size, results), results.tolist()


@njit(cache=True)
def _children(rules, rows, action_size):
    new = np.zeros((rows.shape[0] * action_size, rows.shape[1]), np.int32)
    keys = np.zeros(new.shape[0], np.uint64)
    legal, out, n = np.zeros(action_size, np.int32), np.zeros(1, np.float32), 0
    for i in range(rows.shape[0]):
        count = 0 if rules.outcome(rows[i], out) else rules.legal(rows[i], legal)
        for k in range(count):
            new[n] = rows[i]
            rules.play(new[n], legal[k])
            keys[n] = rules.key(new[n])
            n += 1
    return new[:n], keys[:n]


@njit(cache=True)
def _first_win(rules, row, action_size):
    legal, out, new = np.zeros(action_size, np.int32), np.zeros(1, np.float32), row.copy()
    for k in range(rules.legal(row, legal)):
        new[:] = row
        rules.play(new, legal[k])
        if rules.outcome(new, out) and out[0] * new[PLAYER] == row[PLAYER]:
            return legal[k]
    return NO_WIN


def first_win(state):
    """Return the lowest move that wins at once for who plays it, or NO_WIN, by playing each."""
    return _first_win(state.game.rules, state.row, state.game.action_size)


def positions(game, plies):
    """Return [(boards, keys)]: how many different ones there are after 0, 1, ... plies."""
    rows, counts = game.start_row[None], [(1, 1)]
    for _ in range(plies):
        rows, keys = _children(game.rules, rows, game.action_size)
        boards = np.ascontiguousarray(np.delete(rows, LAST, axis=1))
        _, first = np.unique(boards.view(f"V{boards.itemsize * boards.shape[1]}"), return_index=True)
        counts.append((len(first), len(np.unique(keys))))
        rows = rows[first]
    return counts


def lines(state, depth):
    """Count lines of `depth` moves by `takeAction`."""
    if depth == 0:
        return 1
    return sum(lines(state.takeAction(action)[0], depth - 1) for action in state.allowedActions)
