"""The games with puzzles that ship, and what negamax over the rules in Python says about a position."""

import numpy as np

SPECS = [
    "tictactoe",
    "connect4",
    "gomoku",
    "gomoku(size=15)",
    "othello(size=6)",
    "othello",
    "littlego",
    "metasquares(size=8)",
    "hex(size=7)",
    "go",
]


def wins(state, side):
    return state.isEndGame and state.value * state.playerTurn * side >= 1


def at_least(state, side, goal, known):
    """Return whether a side gets `goal` (1 or 0) or more with best play of both: negamax with one question."""
    if state.isEndGame:
        return np.sign(state.value) * state.playerTurn * side >= goal
    if state.id not in known:
        parts = (at_least(state.takeAction(a)[0], side, goal, known) for a in state.allowedActions)
        known[state.id] = any(parts) if state.playerTurn == side else all(parts)
    return known[state.id]


def values_after(state):
    """Return {legal move: its value for who makes it, 1, 0 or -1}."""
    side, known = state.playerTurn, ({}, {})
    return {a: next((goal for goal in (1, 0) if at_least(state.takeAction(a)[0], side, goal, known[goal])), -1)
            for a in state.allowedActions}  # fmt: skip
