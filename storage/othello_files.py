"""Records of Othello from elsewhere: GGF of the server GGS, WTHOR's .wtb, and positions as in FFO's tests (.obf).

GGF (M. Buro, skatgame.net/mburo/ggsa/ggf): `(;GM[Othello]PB[..]PW[..]RE[+16.00:r]BO[8 <64 points> *]B[d3//1.2];)`, a
board of `*` black, `O` white, `-` free, then who moves; a move's evaluation and time follow it after slashes, `pa` is a
pass; RE is Black's lead. WTHOR (French Othello Federation): a head of 16 bytes and 68 bytes a game, the moves as 10 *
row + column from 1, passes left out. FFO: 64 points of `X`, `O` and `-`, then who moves, as `X` or `Black`.
"""

from __future__ import annotations

import re
import struct
from typing import NamedTuple

import numpy as np

import games
from config import UserError
from game import Game, GameState
from games.line_of_moves import starting_at

_GAME = re.compile(r"\(;(.*?);\)", re.DOTALL)
_PROPERTY = re.compile(r"\s*([A-Z]{1,2})\s*\[([^\]]*)\]")
_SIDES = {"*": 1, "x": 1, "b": 1, "black": 1, "o": -1, "w": -1, "white": -1}
_DISCS = {"*": 1, "X": 1, "x": 1, "O": -1, "o": -1, "-": 0, ".": 0}
_POSITION = re.compile(r"\s*([-.*XxOo]{16,256})[\s:]*([A-Za-z*]+)[^A-Za-z0-9*]*")
HEAD, RECORD = 16, 68
"""Bytes of a .wtb's head and of each of its games."""


class Sheet(NamedTuple):
    """The content of a file, before any of it is played."""

    game: Game
    moves: list[tuple[int, str]]
    """(player, 0 where the file does not say it, move); forced passes may be missing."""
    players: tuple[str, str]
    lead: float | None
    """Black's points more than White's by the file; None if it has no result."""
    stated: dict[str, str]
    """{result, date: the file's own words}"""
    notes: tuple[str, ...]


def read_ggf(text: str, number: int) -> Sheet:
    """Return game `number`, from 1, of a GGF file."""
    found = _GAME.findall(text)
    if not 1 <= number <= len(found):
        raise UserError(f"expected a game from 1 to {len(found)}, got {number}" if found else "expected (;GM[Othello]")
    values: dict[str, str] = {}
    moves: list[tuple[int, str]] = []
    at = 0
    while at < len(found[number - 1].rstrip()):
        match = _PROPERTY.match(found[number - 1], at)
        if match is None:
            raise UserError(f"move {len(moves) + 1}: expected B[d3] or W[d3], got {found[number - 1][at:at + 20]!r}")
        name, value, at = match[1], match[2].strip(), match.end()
        if name in ("B", "W"):
            moves.append((1 if name == "B" else -1, value.split("/")[0].strip()))
        else:
            values[name] = value
    if values.get("GM", "").lower() != "othello":
        raise UserError(f"expected a game of GM[Othello], got GM[{values.get('GM', '')[:20]}]")
    known = {"GM", "PC", "DT", "PB", "PW", "RB", "RW", "TI", "TB", "TW", "TY", "RE", "BO"}
    notes = [f"the file holds {len(found)} games: this is game {number}"] if len(found) > 1 else []
    left = [name for name in values if name not in known and (name != "KM" or float_of(values[name]) != 0)]
    notes += [f"left out: {' '.join(sorted(left))[:60]}"] if left else []
    if "a" in values.get("TY", "").lower():
        raise UserError(f"TY: expected Othello, got {values['TY'][:20]}, in which fewer discs win")
    result, date = values.get("RE", ""), values.get("DT", "")
    day = re.match(r"([0-9]{4})\.([0-9]{2})\.([0-9]{2})", date)
    stated = {"result": result, "date": "-".join(day.groups()) if day else date}
    players = _name(values.get("PB", "")), _name(values.get("PW", ""))
    return Sheet(_board(values.get("BO", "")), moves, players, float_of(result), _words(stated), tuple(notes))


def float_of(text: str) -> float | None:
    """Return the number with which a text begins."""
    found = re.match(r"[+-]?[0-9]{1,6}(\.[0-9]{1,6})?", text.strip())
    return float(found[0]) if found else None


def _name(text: str) -> str:
    return "".join(c for c in text if c.isprintable())[:100]


def _words(stated: dict[str, str]) -> dict[str, str]:
    return {key: _name(text) for key, text in stated.items() if text}


def _board(text: str) -> Game:
    """Return the game of BO: its size, the points in rows from the top, and who moves."""
    size, *rest = text.split() or ["8"]
    if not size.isdecimal() or len(size) > 2:
        raise UserError(f"BO: expected the size of a board such as 8, got {size[:20]!r}")
    game = games.make(f"othello(size={size})")
    points, side = "".join(rest)[:-1], "".join(rest)[-1:]
    if not rest:
        return game
    return _set_up(game, points, side, "BO")


def _set_up(game: Game, points: str, side: str, place: str) -> Game:
    rows, columns = game.grid_shape
    if len(points) != rows * columns:
        raise UserError(f"{place}: expected {rows * columns} points, then who moves, got {len(points)} points")
    if odd := [n for n, point in enumerate(points) if point not in _DISCS]:
        raise UserError(f"{place}: expected *, O or - on point {odd[0] + 1}, got {points[odd[0]]!r}")
    if side.lower() not in _SIDES:
        raise UserError(f"{place}: expected who moves, X or O, got {side[:20]!r}")
    board, player = np.array([_DISCS[point] for point in points], np.int8).reshape(rows, columns), _SIDES[side.lower()]
    state = game.set_up(board, player)
    return game if state.id == game.start().id else starting_at(game, state)


def read_position(text: str, number: int) -> Sheet | None:
    """Return position `number`, from 1, of lines as in FFO's tests; None if the first line is none.

    What follows a position on its line, as the solution of a test, is left out.
    """
    lines = [line for line in re.sub(r"\n[^\S\n]*(?=(?:black|white)\b)", " ", text, flags=re.IGNORECASE).splitlines()
             if line.strip() and not line.lstrip().startswith(("%", "#"))]
    if not lines or not re.match(r"\s*[-.*XxOo]{16}", lines[0]):
        return None
    if not 1 <= number <= len(lines):
        raise UserError(f"expected a position from 1 to {len(lines)}, got {number}")
    line = lines[number - 1]
    found = _POSITION.match(line)
    if found is None:
        raise UserError(f"position {number}: expected a board's points, then who moves, as X or O, got {line[:30]!r}")
    points, side = found[1], found[2]
    size = int(len(points) ** 0.5)
    if size * size != len(points):
        raise UserError(f"position {number}: expected the points of a square board such as 64, got {len(points)}")
    game = _set_up(games.make(f"othello(size={size})"), points, side, f"position {number}")
    notes = [f"the file holds {len(lines)} positions: this is position {number}"] if len(lines) > 1 else []
    if rest := line[found.end() :].strip():
        notes.append(f"left out: {rest[:60]!r} after the position")
    return Sheet(game, [], ("", ""), None, {}, tuple(notes))


def read_wtb(data: bytes, number: int) -> Sheet:
    """Return game `number`, from 1, of a WTHOR file."""
    if len(data) < HEAD:
        raise UserError(f"expected a WTHOR file with a head of {HEAD} bytes, got {len(data)} bytes")
    count, _, year, size, kind = struct.unpack_from("<IHHBB", data, 4)
    if size not in (0, 8) or kind:
        raise UserError(f"expected WTHOR games on 8x8, got {'problems' if kind else f'a board of {size} lines'}")
    if len(data) < HEAD + RECORD * count or not count:
        raise UserError(f"expected {count} games of {RECORD} bytes after the head, got {len(data) - HEAD} bytes")
    if not 1 <= number <= count:
        raise UserError(f"expected a game from 1 to {count}, got {number}")
    *numbers, discs, _, codes = struct.unpack_from("<3HBB60s", data, HEAD + RECORD * (number - 1))
    codes = codes.rstrip(b"\0")
    moves = []
    for n, code in enumerate(codes, 1):
        row, column = divmod(code, 10)
        if not (1 <= row <= 8 and 1 <= column <= 8):
            raise UserError(f"move {n}: expected 10 * row + column from 11 to 88, got {code}")
        moves.append((0, f"{'abcdefgh'[column - 1]}{row}"))
    if discs > 64:
        raise UserError(f"expected from 0 to 64 discs of Black, got {discs}")
    notes = [f"the file holds {count} games: this is game {number}"] if count > 1 else []
    notes.append(f"players are numbers of WTHOR's list; tournament {numbers[0]}")
    players = f"WTHOR player {numbers[1]}", f"WTHOR player {numbers[2]}"
    stated = {"result": f"{discs}-{64 - discs}", "date": str(year) if year else ""}
    return Sheet(games.make("othello"), moves, players, 2.0 * discs - 64, _words(stated), tuple(notes))


def actions_of(game: Game, state: GameState, stone: tuple[int, str]) -> list[int]:
    """Return the action of a move in a position, after a forced pass that the file leaves out."""
    (player, text), passed = stone, game.action_size - 1
    word = text.lower()
    action = passed if word in ("pa", "ps", "pass", "--") else game.parse_move(text)
    before = [passed] if list(state.allowedActions) == [passed] and action != passed else []
    turn = -state.playerTurn if before else state.playerTurn
    if player not in (0, turn):
        raise UserError(f"expected a move of {'B' if turn == 1 else 'W'}, got one of {'B' if player == 1 else 'W'}")
    return [*before, action]
