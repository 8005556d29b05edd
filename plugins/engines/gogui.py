"""GoGui's commands for games that are not Go: it draws the board that they describe and lets only legal moves be made.

Its boards are square: a smaller side is filled up with points on which nothing can be played. GoGui counts rows from
below: a board whose rows have names from above is drawn upside down, so that each point has its name.
"""

from __future__ import annotations

from interface.side_names import has_points
from plugins.engines import vertices
from plugins.engines.gtp_session import Do, Session


def game_id(session: Session, words: list[str]) -> str:
    return session.game.name.capitalize()


def board_size(session: Session, words: list[str]) -> str:
    return str(max(session.game.grid_shape))


def board(session: Session, words: list[str]) -> str:
    (rows, columns), size = session.game.grid_shape, max(session.game.grid_shape)
    stones = vertices.owners(session.game, session.position.state)
    drawn = [["."] * size for _ in range(size)]
    for r in range(rows):
        for c in range(columns):
            line = rows - 1 - r if session.game.rows_from_top else r
            drawn[size - rows + line][c] = ".XO"[int(stones[r, c])] if stones is not None else "."
    return "\n" + "\n".join(" ".join(line) for line in drawn)


def legal_moves(session: Session, words: list[str]) -> str:
    state = session.position.state
    return " ".join(vertices.vertex(session.game, state, action) for action in state.allowedActions)


def side_to_move(session: Session, words: list[str]) -> str:
    return "black" if session.position.to_move == 1 else "white"


def final_result(session: Session, words: list[str]) -> str:
    state = session.position.state
    if not state.isEndGame:
        return "unknown"
    lead = state.value * state.playerTurn
    points = [f"{value:g}" for value in (state.score if state.playerTurn == 1 else state.score[::-1])]
    words = ["Draw" if lead == 0 else f"{'Black' if lead > 0 else 'White'} wins"]
    return f"{words[0]} {points[0]} : {points[1]}" if has_points(session.game, state) else words[0]


COMMANDS: dict[str, Do] = {
    "gogui-rules_game_id": game_id, "gogui-rules_board_size": board_size, "gogui-rules_board": board,
    "gogui-rules_legal_moves": legal_moves, "gogui-rules_side_to_move": side_to_move,
    "gogui-rules_final_result": final_result,
}  # fmt: skip
