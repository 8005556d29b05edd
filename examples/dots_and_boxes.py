"""Dots and Boxes: in turn, draw a line between two dots; who draws the fourth side of a box owns it and moves again.

When all lines are drawn, more boxes win. The board is a grid of dots, lines and boxes: with 3 x 3 boxes it has 7 x 7
points, dots where row and column are even, boxes where both are odd, lines elsewhere. A move is the point of a line.
"""

from __future__ import annotations

import numpy as np

from config import UserError
from game import GameState, illegal_move
from games.boards import LETTERS, point_name, point_symmetries
from games.plain import PlainGame

LINE = 1
"""A line that is drawn, in `cells`."""


class DotsAndBoxesState(GameState):
    def __init__(self, game: DotsAndBoxes, cells: tuple[int, ...], player: int) -> None:
        self.game, self.cells, self.playerTurn = game, cells, player  # cells: LINE; in a box 1 or -1, its owner; else 0
        self.id = (cells, player)
        self.allowedActions = [i for i in game.lines if cells[i] == 0]
        self.isEndGame = not self.allowedActions
        ahead = self.score[0] - self.score[1]
        self.value = float(np.sign(ahead)) if self.isEndGame else 0.0

    @property
    def score(self) -> tuple[float, float]:
        """Return the boxes of the player to move and of the other."""
        owners = [self.cells[i] for i in self.game.boxes]
        return float(owners.count(self.playerTurn)), float(owners.count(-self.playerTurn))

    @property
    def owners(self) -> np.ndarray:
        """Return the owner of each box, 0 elsewhere."""
        return np.reshape(self.cells, self.game.grid_shape) * self.game.is_box

    def takeAction(self, action: int) -> tuple[DotsAndBoxesState, float, bool]:
        if action not in self.allowedActions:
            raise UserError(illegal_move(self.game, self, action))
        cells, player = list(self.cells), -self.playerTurn
        cells[action] = LINE
        for box in self.game.boxes_beside[action]:
            if all(cells[line] for line in self.game.sides[box]):
                cells[box] = self.playerTurn
                player = self.playerTurn  # moves again
        state = DotsAndBoxesState(self.game, tuple(cells), player)
        return state, state.value, state.isEndGame

    def planes(self) -> np.ndarray:
        """Return the lines drawn, own boxes, the other's boxes, where lines are, and ones."""
        board, box = np.reshape(self.cells, self.game.grid_shape), self.game.is_box
        own = board * box * self.playerTurn
        shown = [board * ~box, own == 1, own == -1, self.game.is_line, np.ones_like(board)]
        return np.stack(shown, axis=-1).astype(np.uint8)

    def render(self) -> str:
        rows, columns = self.game.grid_shape
        text = []
        for r in range(rows):
            marks = [self.mark(r, c) for c in range(columns)]
            text.append(f"{rows - r:>2} {' '.join(marks)}")
        return "\n".join([*text, "   " + " ".join(LETTERS[:columns])])

    def mark(self, r: int, c: int) -> str:
        cell = self.cells[r * self.game.grid_shape[1] + c]
        if r % 2 == c % 2 == 0:
            return "+"
        if self.game.is_box[r, c]:
            return self.game.pieces[cell] if cell else " "
        return " " if cell == 0 else "|" if r % 2 else "-"


class DotsAndBoxes(PlainGame):
    name = "dots_and_boxes"
    aim = "Draw the fourth side of a box to own it and to move again; more boxes win."
    policy_layout = "points"

    def __init__(self, boxes: int = 3) -> None:
        if not 1 <= boxes <= 7:
            raise UserError(f"dots_and_boxes: expected 1 to 7 boxes a side, got {boxes}")
        size = 2 * boxes + 1
        self.grid_shape, self.input_shape = (size, size), (size, size, 5)
        self.action_size = size * size  # only the points of lines are ever legal
        r, c = np.indices((size, size))
        self.is_line, self.is_box = (r + c) % 2 == 1, (r % 2 == 1) & (c % 2 == 1)
        self.lines, self.boxes = np.flatnonzero(self.is_line).tolist(), np.flatnonzero(self.is_box).tolist()
        self.sides = {box: (box - size, box - 1, box + 1, box + size) for box in self.boxes}
        self.boxes_beside = {line: [box for box in self.boxes if line in self.sides[box]] for line in self.lines}
        self.max_plies = len(self.lines)
        self.symmetries = point_symmetries(size, size)
        super().__init__()

    def start(self) -> DotsAndBoxesState:
        return DotsAndBoxesState(self, (0,) * self.action_size, 1)

    def move_name(self, action: int) -> str:
        return point_name(action, *self.grid_shape)
