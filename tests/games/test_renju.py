"""The faults of renju, drawn: what is forbidden to Black and what is not."""


import numpy as np
import pytest

import games
from game import PLAYER
from support.board_drawings import drawn, play
from support.gomoku_boards import board, position

# ---- the faults of renju, drawn: * is forbidden to Black, + is not

FAULTS = {
    "two open threes": """
        . . . . . . . . .
        . . . . . . . . .
        . . . . X . . . .
        . . . . X . . . .
        . . X X * . . . .
        . . . . . . . . .
        . . . . . . . . .
        O . . . . . . . O
        . O . . . . . O .""",
    "an open and a stopped three": """
        . . . . . . . . .
        . . . . O . . . .
        . . . . X . . . .
        . . . . X . . . .
        . . X X + . . . .
        . . . . . . . . .
        . . . . . . . . .
        O . . . . . . . O
        . O . . . . . O .""",
    "a three with no room for exactly five": """
        . . . . . . . . .
        . . . . . . . . .
        . . . . . X . . .
        . . . . . X . . .
        X . . X X + . . X
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        O O . O . O . O O""",
    "a four and a three": """
        . . . . . . . . .
        . . . . O . . . .
        . . . . X . . . .
        . . . . X . . . .
        . . X X + . . . .
        . . . . X . . . .
        . . . . . . . . .
        O . . . . . . . O
        . O . . . . . O .""",
    "two fours": """
        . . . . . . . . .
        . . . . O . . . .
        . . . . X . . . .
        . . . . X . . . .
        O X X X * . . . .
        . . . . X . . . .
        . . . . . . . . .
        O . . . . . . . O
        . O . . . . . O .""",
    "two fours in one line, in three forms": """
        X . X * X . X . .
        . . . . . . . . .
        X X . X * . X X .
        . . . . . . . . .
        X X X . * . X X X
        . . . . . . . . .
        O . O . O . O . O
        . . . . . . . . .
        O . O . O . O . O""",
    "a straight four is one four": """
        . . . . . . . . .
        . . . . . . . . .
        . . X X X + . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        O . . . . . . . O
        . . . . O . . . .""",
    "six in a row": """
        . . . . . . . . .
        . . . . . . . . .
        . X X X * X X . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        O . . . . . . . O
        . O . . . . . O .""",
    "five is never forbidden, not even with six": """
        . . . . X . . . .
        . . . . X . . . .
        . X X X + X X . .
        . . . . X . . . .
        . . . . X . . . .
        . . . . . . . . .
        . . . . . . . . .
        O . O . O . O . O
        . . O . O . O . .""",
    "a three that one stone only makes a straight four": """
        . . . . O . . . .
        . . . . . . . . .
        . . . . X . . . .
        . . . . X . . . .
        . . X X * . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        O O . O . O . O O""",
    "a three whose stone would be six in a row elsewhere": """
        . . . . O . . . .
        . . . . . . . . .
        . . . . X . . . .
        . . . . X . . . .
        . . X X + . . . .
        . X X X . X X . .
        . . . . . . . . .
        . . . . . . . . .
        O O . O . O . O O""",
    "a three whose stone would be five elsewhere": """
        . . . . O . . . .
        . . . . . . . . .
        . . . . X . . . .
        . . . . X . . . .
        . . X X + . . . .
        X X X X . . . . .
        . . . . . . . . .
        . . . . . . . . .
        O O . O . O . O O""",
    "a three whose stone would be a double-four elsewhere": """
        . . . . O . . . .
        . . . . . . . . .
        . . . . X . . . .
        . . . . X . . . .
        . . X X + . . . .
        . X X . . X . X X
        . . . . . . . . .
        . . . . . . . . .
        O O . O . O . O O""",
}


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("turn", range(4))
def test_faults_of_renju(name, turn):
    cells, signs = board(FAULTS[name])
    marks = np.zeros(cells.shape, int)
    for sign, value in ((".", 0), ("+", 1), ("*", 2)):
        marks.ravel()[signs.get(sign, [])] = value
    cells, marks = np.rot90(cells, turn), np.rot90(marks, turn).ravel()
    last = int(np.flatnonzero(cells == -1)[-1])
    before = cells.copy()
    before.ravel()[last] = 0
    state = position("renju", before, last)
    legal = np.isin(np.arange(marks.size), state.allowedActions)
    assert not legal[marks == 2].any() and legal[marks == 1].all() and (marks > 0).any(), f"\n{state}"


def test_white_may_do_what_black_may_not_and_wins_with_six():
    cells, signs = board(FAULTS["six in a row"])
    cells = -cells
    state = position("renju", cells, None)
    row = state.row
    row[PLAYER] = -1
    state = state.game.state_of(row)
    assert signs["*"][0] in state.allowedActions
    state, value, done = state.takeAction(signs["*"][0])
    assert (done, value, state.playerTurn) == (True, -1.0, 1)


def test_a_board_with_only_forbidden_points_left_to_black_is_a_draw():
    moves = """d5 g6 a5 b1 a4 c5 f1 e5 c1 f5 g1 f7 f6 a1 b4 a7 f2 f4 a3 e4 d2 b3 d3 c2 e6 b2 g7 g3 g5 a2 d6 c7 b6 e7 c3
        c6 g2 e1 d7 f3 g4 a6 e3 e2 d1 b7 c4 b5"""
    state = play(games.make("gomoku(size=7,rule=renju)"), moves)
    assert drawn(str(state)) == drawn("""
        7  O  O  O  X  O  O  X
        6  O  X  O  X  X  X  O
        5  X [O] O  X  O  O  X
        4  X  X  X  *  O  O  X
        3  X  O  X  X  X  O  O
        2  O  O  O  X  O  X  X
        1  O  O  X  X  O  X  X
           a  b  c  d  e  f  g""")
    assert (state.isEndGame, state.value, state.allowedActions) == (True, 0.0, [])
