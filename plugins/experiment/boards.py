"""Boards of a report: drawings that share most of their parts are kept as numbers of parts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from game import Game, GameState
from games.line_of_moves import played
from plugins.pictures.board_svg import board_svg

_PART = re.compile(r"<[^>]*>[^<]*")


class Boards:
    """All drawings of a report."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self.drawn: list[list[int]] = []
        """The parts of each drawing."""

    @property
    def parts(self) -> list[str]:
        return list(self._numbers)

    def add(self, state: GameState) -> int:
        """Draw a position; return the number of its drawing."""
        found = [self._numbers.setdefault(part, len(self._numbers)) for part in _PART.findall(board_svg(state))]
        self.drawn.append(found)
        return len(self.drawn) - 1

    def game(self, game: Game, moves: Sequence[int], values: Sequence[float], title: str) -> dict[str, Any]:
        """Return a game to step through: its boards, the names of its moves, their values for the player who moved."""
        state, boards, names = game.start(), [], []
        boards.append(self.add(state))
        for move in moves:
            names.append(game.move_name(int(move)))
            state = played(game, state, int(move))
            boards.append(self.add(state))
        return {"title": title, "boards": boards, "moves": names, "values": [round(float(v), 2) for v in values]}
