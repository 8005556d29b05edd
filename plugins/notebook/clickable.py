"""A notebook's board to click on, where anywidget is installed."""

from __future__ import annotations

from typing import Any

from interface.notebook.board import Board


def clickable(board: Board) -> Any:
    """Return a board as a widget to click on; without anywidget the board itself, naming what to install.

    The widget and the calls of the board, such as `board.move(4)`, play the same game.
    """
    try:
        from plugins.notebook.widget import BoardWidget
    except ImportError:
        return board.tell("to click on it: `pip install anywidget`, restart the notebook; board.move plays without")
    return BoardWidget.of(board)
