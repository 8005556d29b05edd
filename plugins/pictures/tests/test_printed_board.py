"""How a board is read from the text of a game that does not say what stands on it."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from game import FORBIDDEN_POINT, OTHER_PIECE, Game, GameState
from plugins.pictures.board_grid import grid_of
from plugins.pictures.board_svg import board_svg


class Written(GameState):
    """A position of a game of one's own: its text is what a test gives."""

    playerTurn, isEndGame, value = 1, False, 0.0

    def __init__(self, text, rows, columns, legal=()):
        self.text, self.shape, self.allowedActions = text, (rows, columns, 2), list(legal)
        self.game = Game()
        self.game.name, self.game.grid_shape, self.game.action_size = "written", (rows, columns), rows * columns

    def planes(self):
        return np.zeros(self.shape, np.uint8)

    def render(self):
        return self.text


@pytest.mark.parametrize(
    "text",
    [
        "X . O\n. X .", "XO.\n.X.".replace("XO.", "X.O"), "2 X - O\n1 - X -\n  a b c", "a b c\nX - O\n- X -",
        "+---+---+---+\n| X | . | O |\n+---+---+---+\n| . | X | . |\n+---+---+---+", "0 1 2\nX _ O\n_ X _\n",
        "2 X.O\n1 .X.\n  abc",
    ],
)  # fmt: skip
def test_a_board_is_read_however_it_is_written(text):
    grid = grid_of(Written(text, 2, 3))
    assert grid.cells == [[1, 0, -1], [0, 1, 0]]
    assert grid.columns in (["", "", ""], list("abc"), list("012")) and grid.notes == []


def test_pieces_of_other_kinds_are_drawn_as_their_letters_and_can_be_clicked():
    state = Written("r n K\n. X #\nto move: white", 2, 3, legal=[3])
    grid = grid_of(state)
    assert grid.cells == [[OTHER_PIECE] * 3, [0, 1, OTHER_PIECE]] and grid.words == {0: "r", 1: "n", 2: "K", 5: "#"}
    assert grid.notes == ["to move: white"]
    root = ElementTree.fromstring(board_svg(state, clickable=True))
    assert [e.text for e in root.iter() if e.get("class") == "other"] == ["r", "n", "K", "#"]
    points = [e for e in root.iter() if "point" in e.get("class", "").split()]
    assert len(points) == 6 and [e.get("data-action") for e in points if "free" in e.get("class")] == ["3"]


def test_a_text_that_is_no_board_stays_text():
    for text in ("King on e4", "X O\nX", "12 23 31\n32 4 6\n7 7 7"):
        state = Written(text, 2, 3)
        assert grid_of(state) is None
        assert [e.text for e in ElementTree.fromstring(board_svg(state)).iter() if e.tag.endswith("text")] == (
            text.splitlines()
        )


def test_marked_and_forbidden_points_are_read():
    grid = grid_of(Written(" X [O] *\n -  - [X]", 2, 3))
    assert grid.cells == [[1, -1, FORBIDDEN_POINT], [0, 0, 1]] and grid.last == 5
