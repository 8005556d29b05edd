"""The clickable board of a notebook: shows a `Board` and executes a browser's messages. Needs anywidget."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
import traitlets

from agent import Agent
from interface.explain import explain
from interface.notebook.board import Board, Explained
from plugins.pictures import drawing_asset
from plugins.pictures.board_svg import board_svg, grid_of, point_of
from plugins.pictures.overlays import lines_of, overlay_of

HERE = Path(__file__).parent
LOOKS = ("none", "N", "P", "Q", "V")
MOST_BUTTONS = 200
"""Moves that are no point of the board, such as a pass, are buttons; at most this many."""


def _asset(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


class BoardWidget(anywidget.AnyWidget):
    """A `Board` to click on; calls of the board are shown here as well.

    A message is {"deed": "play", "action": 3, "ply": 4}, or "undo", "new", "swap", or "look" with "kind": one of LOOKS.
    `ply` is the number of moves on the board that was clicked: a message for another position is dropped.
    """

    svg = traitlets.Unicode().tag(sync=True)
    status = traitlets.Unicode().tag(sync=True)
    words = traitlets.Unicode().tag(sync=True)
    """HTML, as is `table`."""
    table = traitlets.Unicode().tag(sync=True)
    look = traitlets.Unicode("none").tag(sync=True)
    others: traitlets.List[Any] = traitlets.List().tag(sync=True)
    """[action, name] of the legal moves that are no point of the board."""
    ply = traitlets.Int().tag(sync=True)

    @classmethod
    def of(cls, board: Board) -> BoardWidget:
        """Return the widget that shows a board already, else a new one: a cell may be run again."""
        showing = (getattr(watcher, "__self__", None) for watcher in board.watchers)
        return next((w for w in showing if isinstance(w, cls) and w.comm is not None), None) or cls(board)

    def __init__(self, board: Board) -> None:
        self._esm = drawing_asset("board.js") + "\n" + _asset("widget.js")
        self._css = drawing_asset("board.css") + "\n" + _asset("widget.css")
        super().__init__()
        self.board = board
        self._seen: tuple[list[int], Explained] | None = None
        board.watchers.append(self.show)
        self.on_msg(lambda _, message, __: self.receive(message))
        self.show()

    def show(self) -> None:
        """Send the board as it is now."""
        board, state = self.board, self.board.state
        seen = self._explained()
        found = seen.found if seen else {"moves": []}
        with self.hold_trait_notifications():
            self.svg = board_svg(
                state, overlay=overlay_of(found, self.look), lines=lines_of(found, board.game), clickable=True
            )
            self.status, self.words, self.ply = board.turn, board.words, len(board.moves)
            self.table = seen.table if seen else ""
            grid = grid_of(state)
            legal = [] if board.over else state.allowedActions
            rest = [a for a in legal if grid is None or point_of(board.game, grid, a) is None]
            self.others = [[int(a), board.game.move_name(a)] for a in rest[:MOST_BUTTONS]]

    def _explained(self) -> Explained | None:
        """Return the machine's search result on the position, if an overlay is chosen and it is a person's turn."""
        board = self.board
        if self.look == "none" or not board.human_to_move:
            return None
        if self._seen is None or self._seen[0] != board.moves:
            self._seen = list(board.moves), Explained(explain(board.agent, board.state), board.state)  # type: ignore[arg-type]
        return self._seen[1]

    def receive(self, message: Any) -> None:
        """Execute a browser's message; anything else than a message as above is dropped."""
        if not isinstance(message, dict) or message.get("ply") != len(self.board.moves):
            return
        deed, action, kind = (message.get(name) for name in ("deed", "action", "kind"))
        try:
            if deed == "play" and isinstance(action, int) and 0 <= action < self.board.game.action_size:
                self.board.play(action)
            elif deed == "undo":
                self.board.undo()
            elif deed in ("new", "swap"):
                self.board.new(human_first=self.board.human_first == (deed == "new"))
            elif deed == "look" and kind in LOOKS:
                self._look(kind)
        except KeyboardInterrupt:
            self.look = "none"
            taken = {"play": "stopped; your move is taken back", "look": "stopped"}
            self.board.tell(taken.get(str(deed), "stopped; a click lets it move"))

    def _look(self, kind: str) -> None:
        if isinstance(self.board.agent, Agent):
            self.look = kind
            self.show()
        else:
            self.board.hint()  # shows why there is none
