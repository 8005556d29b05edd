"""Boards of gomoku in the tests: played, drawn, set up."""

import numpy as np

import games
from game import PLAYER, PLY
from games import lines


def position(rule, cells, last=None):
    """Return a position of [size, size] cells 1 / -1 / 0; a point given as `last` is then played by White."""
    size = len(cells)
    game = games.make(f"gomoku(size={size},rule={rule})")
    row = game.start_row.copy()
    for which, stones in enumerate((cells == 1, cells == -1, cells == 0)):
        game._lines(row, which)[:] = (stones << (lines.PAD + np.arange(size))).sum(axis=1)
    row[PLAYER], row[PLY] = (1 if last is None else -1), np.count_nonzero(cells)
    state = game.state_of(row)
    return state if last is None else state.takeAction(last)[0]


def board(text):
    """Read a drawing: X and O are stones, any other sign is a free point; return the cells and the points of signs."""
    lines = np.array([line.split() for line in text.strip().splitlines()])
    signs = {sign: np.flatnonzero(lines.ravel() == sign).tolist() for sign in np.unique(lines)}
    return (lines == "X").astype(int) - (lines == "O"), signs
