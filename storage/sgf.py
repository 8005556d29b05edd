"""One game in SGF, FF[4] (red-bean.com/sgf), for games whose actions are the points of a board and perhaps a pass.

A point is a letter for the column and one for the row, both from the top left, whatever names the game gives it. Black
is the player who began. Our own files name the game in GC; in others it follows from GM, SZ, KM and RU.
"""

from __future__ import annotations

import contextlib
import inspect
import re
import string
from typing import Any, NamedTuple

import games
from config import UserError
from game import Game, GameState

_LETTERS = string.ascii_lowercase + string.ascii_uppercase
_NAMES = {1: "go", 4: "gomoku"}
_SETUP = ("AB", "AW", "AE")
MOST_BYTES = 400
"""Largest size of a name or date, which is shown with a hundred characters at most."""
_ENCODINGS = re.compile(
    r"(utf-?(8|16)|(us-)?ascii|latin-?1|big5|gb2312|gbk|gb18030|euc-(jp|kr)|shift-jis|koi8-[ru]|"
    r"(iso-?8859-|windows-|cp)[0-9]{1,4})\Z"
)
"""The encodings that a file may name: others, such as punycode, can take minutes for a megabyte."""
_NUMBER = re.compile(r"[+-]?[0-9]{1,3}(\.[0-9]{1,9})?\Z")

Properties = dict[str, list[bytes]]
"""Of one node: {identifier: raw values}."""


class Sheet(NamedTuple):
    """The content of a file, before any of it is played."""

    game: Game
    moves: list[tuple[str, str]]
    """(B or W, point)"""
    result: float | None
    """For Black: 1, 0 or -1; None if the file has none."""
    players: tuple[str, str]
    date: str


def check_game(game: Game) -> None:
    """Raise `UserError` if games of this kind cannot be written in SGF, or the library for it is missing."""
    if game.sgf_number is None:
        raise UserError(f"{game.name} has no form in SGF, expected a .json or .txt file")
    if max(game.grid_shape) > len(_LETTERS):
        raise UserError(f"expected a board of at most {len(_LETTERS)} rows and columns for SGF, got {game.spec}")
    _grammar()


def _grammar() -> Any:
    try:
        from sgfmill import sgf_grammar
    except ImportError:
        raise UserError("SGF files need sgfmill: `pip install sgfmill`") from None
    return sgf_grammar


# ---- reading


def read(data: bytes, game: Game | None) -> Sheet:
    """Return the main line of the first game; the game is `game`, or else the one that the file names."""
    try:
        line = list(_grammar().main_sequence_iter(_grammar().parse_sgf_game(data)))
    except ValueError as error:
        raise UserError(f"expected a game in SGF, got a file that cannot be read ({error})") from None
    root = line[0]
    game = _told_game(root) if game is None else game
    check_game(game)
    _compare(game, root)
    moves: list[tuple[str, str]] = []
    for node in line:
        if found := [name for name in _SETUP if _first(node, name)]:
            raise UserError(f"expected moves only, got stones set up by {found[0]}")
        stones = [(colour, _raw_text(value)) for colour in ("B", "W") for value in node.get(colour, [])]
        if len(stones) > 1:
            raise UserError(f"move {len(moves) + 1}: expected one stone, got {len(stones)}")
        moves += stones
    names = [_text(root, name) for name in ("PB", "PW")]
    return Sheet(game, moves, _result(_text(root, "RE")), (names[0], names[1]), _text(root, "DT"))


def action_of(game: Game, state: GameState, stone: tuple[str, str]) -> int:
    """Return the action of a stone of the file in a position; raise `UserError` if there is none."""
    (colour, point), (rows, columns) = stone, game.grid_shape
    expected = "B" if state.playerTurn == 1 else "W"
    if colour != expected:
        raise UserError(f"expected a move of {expected}, got one of {colour}")
    if point == "" or (point == "tt" and max(rows, columns) <= 19):
        if game.action_size == rows * columns:
            raise UserError(f"expected a point, got a pass, which {game.name} does not have")
        return rows * columns
    if len(point) != 2 or point[0] not in _LETTERS[:columns] or point[1] not in _LETTERS[:rows]:
        raise UserError(f"expected two letters of a board of {rows} x {columns}, got {point[:20]!r}")
    return _LETTERS.index(point[1]) * columns + _LETTERS.index(point[0])


def _told_game(root: Properties) -> Game:
    """Return the game that GC names if it is one of ours, else the usual one of that number, size, komi and rule."""
    spec, number = _text(root, "GC"), _text(root, "GM") or "1"
    if spec.split("(")[0] in games.names():
        with contextlib.suppress(UserError):  # in a file from elsewhere it is a comment, which may be any word
            game = games.make(spec, typed=False)
            _compare(game, root)
            return game
    name = {str(n): name for n, name in _NAMES.items()}.get(number)
    if name is None:
        raise UserError(f"expected a game of GM {' or '.join(map(str, _NAMES))}, got GM {number[:20]!r}")
    known = _settings(games.make(name))
    named = {"size": _text(root, "SZ") or ("19" if number == "1" else ""), "komi": _text(root, "KM")}
    if (komi := _komi(root)) is not None:
        named["komi"] = f"{komi:g}"
    found = ",".join(f"{key}={value}" for key, value in named.items() if key in known and value)
    rule = _text(root, "RU").lower()
    if "rule" in known and rule:
        try:
            return games.make(f"{name}({found},rule={rule})", typed=False)
        except UserError:  # most words for rules are about differences that we do not make
            pass
    return games.make(f"{name}({found})", typed=False)


def _compare(game: Game, root: Properties) -> None:
    """Raise if a file is of another game, size or komi than `game`."""
    number, size, komi = _text(root, "GM") or "1", _text(root, "SZ"), _komi(root)
    if number != str(game.sgf_number):
        raise UserError(f"expected a game of {game.spec} (GM {game.sgf_number}), got GM {number[:20]!r}")
    rows, columns = game.grid_shape
    if (size or ("19" if number == "1" else _size(game))) not in (_size(game), f"{columns}:{rows}"):
        raise UserError(f"expected a board of {_size(game)} for {game.spec}, got {size[:20] or 19}")
    own = _settings(game).get("komi")
    if own is not None and komi is not None and komi != own:
        raise UserError(f"expected komi {own:g} for {game.spec}, got {komi:g}")


def _komi(root: Properties) -> float | None:
    text = _text(root, "KM")
    if text and not _NUMBER.match(text):
        raise UserError(f"expected a number for the komi, got {text[:20]!r}")
    return float(text) if text else None


def _result(text: str) -> float | None:
    if text[:2].upper() in ("B+", "W+"):
        return 1.0 if text[0].upper() == "B" else -1.0
    return 0.0 if text.lower() in ("0", "draw") else None


def _first(node: Properties, name: str) -> bytes:
    return b"".join(node.get(name, [])[:1]).strip()


def _raw_text(value: bytes) -> str:
    return value.strip().decode("ascii", "backslashreplace")


def _text(root: Properties, name: str) -> str:
    """Return a property of the first node as one line, decoded in the file's own encoding if that is known."""
    raw, named = _first(root, name), _raw_text(_first(root, "CA")[:20]).lower().replace("_", "-")
    value = _grammar().simpletext_value(raw[:MOST_BYTES])
    for encoding in (named if _ENCODINGS.match(named) else "utf-8", "utf-8"):
        try:
            text = value.decode(encoding, "ignore" if len(raw) > MOST_BYTES else "strict")
            break
        except (LookupError, ValueError):
            continue
    else:
        text = value.decode("latin-1")
    return "".join(c for c in text if c.isprintable()).strip()[:100]


# ---- writing


def write(
    game: Game, moves: list[int], end: GameState, *, result: float | None, players: tuple[str, str], date: str
) -> bytes:
    """Return a game as SGF; `end` is the position after its moves."""
    grammar, known = _grammar(), _settings(game)
    root = {
        "FF": "4", "GM": str(game.sgf_number), "CA": "UTF-8", "SZ": _size(game), "GC": game.spec,
        "PB": players[0], "PW": players[1], "DT": date, "RE": _result_text(game, end, result),
        "KM": f"{known['komi']:g}" if "komi" in known else "", "RU": str(known.get("rule", "")),
    }  # fmt: skip
    tree = grammar.Coarse_game_tree()
    tree.sequence = [{name: [grammar.escape_text(text.encode())] for name, text in root.items() if text}]
    state, (rows, columns) = game.start(), game.grid_shape
    for action in moves:
        r, c = divmod(action, columns)
        point = _LETTERS[c] + _LETTERS[r] if r < rows else ""
        tree.sequence.append({"B" if state.playerTurn == 1 else "W": [point.encode()]})
        state = state.takeAction(action)[0]
    return bytes(grammar.serialise_game_tree(tree))


def _result_text(game: Game, end: GameState, result: float | None) -> str:
    if result is None:
        return "Void"
    if result == 0:
        return "0"
    winner = "B" if result > 0 else "W"
    if not end.isEndGame:
        return f"{winner}+R"
    lead = abs(end.score[0] - end.score[1])
    return f"{winner}+{lead:g}" if game.sgf_number == 1 else f"{winner}+"


def _size(game: Game) -> str:
    rows, columns = game.grid_shape
    return str(rows) if rows == columns else f"{columns}:{rows}"


def _settings(game: Game) -> dict[str, Any]:
    """Return all parameters of a game, those with their default value too."""
    known = inspect.signature(type(game)).parameters
    return {name: game.parameters.get(name, parameter.default) for name, parameter in known.items()}
