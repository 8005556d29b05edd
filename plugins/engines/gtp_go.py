"""GTP's commands for Go and Little-Go: komi, handicaps, the score, and games in SGF.

The score is that of our rules: every stone on the board is alive.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np

from config import UserError
from game import Game, GameState
from games.line_of_moves import after_moves, stones_of
from games.parameters import values_of
from games.sgf_words import bonus_of, handicap_points, words_for
from plugins.engines import vertices
from plugins.engines.command_lines import Failure
from plugins.engines.gtp_session import Do, Session
from plugins.engines.position import Position, set_up
from plugins.engines.serving import changed
from plugins.engines.thinking import policy
from storage import game_files
from storage.game_files import Record

LARGEST_HANDICAP = 9


def komi(session: Session, words: list[str]) -> str:
    if not words or not re.fullmatch(r"[+-]?[0-9]{1,4}(\.[0-9]{1,6})?", words[0]):
        raise Failure("syntax error: expected a number")
    value, game = float(words[0]), session.game
    if value == _komi(session):
        return ""
    if "komi" not in values_of(game):
        raise Failure(f"the komi of {game.name} is {_komi(session):g}")
    change(session, changed(game.set_up_from or game, komi=value).longer(), session.bonus)
    return ""


def change(session: Session, game: Game, bonus: str) -> None:
    """Go on with the same moves under other rules; raise `UserError`, with nothing changed, if they forbid one."""
    before, clocks = session.position, session.clocks
    first = before.states[0]
    points = before.game.handicap_points(first) if before.bonus == "0" else 0.0  # of a file, whatever the rules
    position = _begun(game, first, points, bonus)
    for action, after in zip(before.moves, before.states[1:], strict=True):
        position.play(-int(after.playerTurn), action)
    session.set_game(game, position)
    session.bonus, session.clocks = bonus, clocks


def _begun(game: Game, first: GameState, points: float, bonus: str) -> Position:
    """Return the game that begins with a position's stones and player; White gets `points`, or 0: what `bonus` says."""
    if points:
        return Position(set_up(game, stones_of(first), int(first.playerTurn), points))
    return Position(set_up(game, stones_of(first), int(first.playerTurn)), bonus)


def _komi(session: Session) -> float:
    return session.game.komi or 0.0


def get_komi(session: Session, words: list[str]) -> str:
    return f"{_komi(session):g}"


# ---- handicap


def fixed_handicap(session: Session, words: list[str]) -> str:
    count = _count(session, words, LARGEST_HANDICAP)
    points = _fixed(session.game.grid_shape[0], count)
    if not points:
        raise Failure("invalid number of stones")
    return _put(session, points)


def place_free_handicap(session: Session, words: list[str]) -> str:
    size = session.game.grid_shape[0]
    count = _count(session, words, size * size - 1)
    points = _fixed(size, count) or _chosen(session, count)
    return _put(session, points)


def set_free_handicap(session: Session, words: list[str]) -> str:
    if len(words) < 2 or len(words) > session.game.grid_shape[0] ** 2 - 1:
        raise Failure("bad vertex list")
    _require_empty(session)
    try:
        points = [vertices.action(session.game, session.position.state, word) for word in words]
    except UserError:
        raise Failure("bad vertex list") from None
    if len(set(points)) < len(points) or session.game.action_size - 1 in points:
        raise Failure("bad vertex list")
    _put(session, points)
    return ""


def _count(session: Session, words: list[str], most: int) -> int:
    if not words or not re.fullmatch("[0-9]{1,4}", words[0]):
        raise Failure("syntax error: expected a number of stones")
    _require_empty(session)
    if not 2 <= int(words[0]) <= most:
        raise Failure("invalid number of stones")
    return int(words[0])


def _require_empty(session: Session) -> None:
    if session.position.moves or stones_of(session.position.state).any():
        raise Failure("board not empty")


def _put(session: Session, points: list[int]) -> str:
    """Begin a game with Black's stones on these points; return their names."""
    game, state = session.game, session.position.state
    board = np.zeros(game.grid_shape, np.int8)
    board.flat[points] = 1
    control = session.clocks
    session.start(Position(set_up(game, board, -1), session.bonus))
    session.clocks = control
    return " ".join(vertices.vertex(game, state, point) for point in points)


def _fixed(size: int, count: int) -> list[int]:
    """Return the protocol's points for a handicap, in its order; none where it has none for this board."""
    if size < 7 or count > LARGEST_HANDICAP or (count > 4 and (size % 2 == 0 or size == 7)):
        return []
    low, middle = (3 if size >= 13 else 2), size // 2
    high = size - 1 - low
    corners = [(low, low), (high, high), (low, high), (high, low)]  # (column, row from below)
    sides = [(low, middle), (high, middle), (middle, low), (middle, high)]
    more = sides[: (count - 4) // 2 * 2] + [(middle, middle)] * (count % 2)
    spots = corners[:count] if count <= 4 else corners + more
    return [(size - 1 - row) * size + column for column, row in spots]


def _chosen(session: Session, count: int) -> list[int]:
    """Return points for Black's stones: the network's moves one after the other, else from the middle outwards."""
    game, size = session.game, session.game.grid_shape[0]
    position = Position(game)
    points: list[int] = []
    middle = (size - 1) / 2
    outwards = sorted(range(size * size), key=lambda p: abs(p // size - middle) + abs(p % size - middle))
    while len(points) < count:
        state: GameState = position.turned_to(1)
        odds = policy(session.thinker.player, state)
        free = [p for p in outwards if p in state.allowedActions and _breathes(state, p)]
        if not free:
            break
        best = max(free, key=lambda p: odds[p]) if odds is not None else free[0]
        position.play(1, best)
        points.append(best)
    return points


def _breathes(state: GameState, point: int) -> bool:
    """Return whether all stones are still there after a stone of the player to move."""
    after = state.takeAction(point)[0]
    return int(np.abs(stones_of(after)).sum()) == int(np.abs(stones_of(state)).sum()) + 1


# ---- the end


def final_score(session: Session, words: list[str]) -> str:
    state = session.position.state
    lead = (state.score[0] - state.score[1]) * state.playerTurn
    return "0" if lead == 0 else f"{'B' if lead > 0 else 'W'}+{abs(lead):g}"


def final_status_list(session: Session, words: list[str]) -> str:
    status = words[0].lower() if words else ""
    if status not in ("alive", "dead", "seki"):
        raise Failure("syntax error: expected alive, dead or seki")
    if status != "alive":
        return ""  # by our rules every stone on the board counts
    game, state = session.game, session.position.state
    lines = ((vertices.vertex(game, state, point) for point in chain) for chain in _chains(stones_of(state)))
    return "\n".join(" ".join(line) for line in lines)


def _chains(board: np.ndarray) -> list[list[int]]:
    """Return the points of each chain of stones."""
    size, seen, chains = board.shape[0], set(), []
    for start in map(int, np.flatnonzero(board)):
        todo, chain = [start], []
        while todo:
            point = todo.pop()
            r, c = divmod(point, size)
            if point in seen or board[r, c] != board.flat[start]:
                continue
            seen.add(point)
            chain.append(point)
            around = ((r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1))
            todo += [i * size + j for i, j in around if 0 <= i < size and 0 <= j < size]
        chains += [chain] if chain else []
    return chains


# ---- files


def loadsgf(session: Session, words: list[str]) -> str:
    if not words or len(words) > 1 and not re.fullmatch("[1-9][0-9]{0,5}", words[1]):
        raise Failure("syntax error: expected a file and a move number")
    try:
        record = game_files.load(_sgf(words[0]))
    except UserError as error:
        raise Failure(f"cannot load file: {str(error).splitlines()[0]}") from None
    if not record.game.scored_by_area:
        raise Failure("cannot load file: expected a game of Go")
    until = int(words[1]) if len(words) > 1 else math.inf
    numbers = record.numbers or range(1, len(record.moves) + 1)
    moves = [action for action, number in zip(record.moves, numbers, strict=True) if number < until]
    first, clocks = record.game.start(), session.clocks
    game, bonus = (record.game.set_up_from or record.game).longer(), bonus_of(record.stated.get("rules", ""))
    points = record.game.handicap_points(first)
    position = _begun(game, first, 0.0, bonus)
    if position.game.handicap_points(position.state) != points:  # White's stones are among those set up
        position = _begun(game, first, points, bonus)
    for action in moves:
        position.play(position.to_move, action)
    session.set_game(game, position)
    session.bonus, session.clocks = bonus, clocks
    return ""


def _sgf(name: str) -> Path:
    """Return the path of a file that the protocol may read or make: other programs send these commands."""
    if not name.lower().endswith(".sgf"):
        raise UserError(f"expected a file name that ends in .sgf, got {name[:60]!r}")
    return Path(name)


def printsgf(session: Session, words: list[str]) -> str:
    position = session.position
    game, moves = position.in_turn()
    points = handicap_points(position.bonus, position.handicap)
    end = after_moves(game, moves)
    result = end.value * end.playerTurn if end.isEndGame else None
    record = Record(game, moves, result, stated=words_for(points, position.handicap))
    try:
        if not words:
            return game_files.to_bytes(record, ".sgf").decode()
        path = _sgf(words[0])
        game_files.check_place(path, game, stated=record.stated)
        game_files.save(path, record)
    except UserError as error:
        raise Failure(str(error).splitlines()[0]) from None
    return ""


COMMANDS: dict[str, Do] = {
    "komi": komi, "get_komi": get_komi, "fixed_handicap": fixed_handicap, "place_free_handicap": place_free_handicap,
    "set_free_handicap": set_free_handicap, "final_score": final_score, "final_status_list": final_status_list,
    "loadsgf": loadsgf, "printsgf": printsgf,
}  # fmt: skip
