"""One game in SGF, FF[4] (red-bean.com/sgf), for games whose actions are the points of a board and perhaps a pass.

A point is a letter for the column and one for the row, both from the top left, whatever names the game gives it. In
games with `own_vertices` (Hex) a move has the game's name, such as `swap-pieces`, or is, at the end, `resign` or
`forfeit`. Black is player 1. Our own files name the game in GC; in others it follows from GM, SZ, KM and RU. What a
file states is kept, and each difference from our rules is a note in one line. A line of moves here has both sides in
turn: where a file has one side twice, the other passes in between, or the stones before are set up.
"""

from __future__ import annotations

import contextlib
import re
import string
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import games
from config import UserError
from game import Game, GameState
from games.line_of_moves import follow, long_enough, starting_at, stones_of
from games.parameters import values_of
from games.sgf_words import bonus_of, handicap_points, komi_of, words_for
from storage.sgf_facts import codec_of, encodings_in, result_of

_LETTERS = string.ascii_lowercase + string.ascii_uppercase
_SIZES = {"1": "19", "11": "11"}
"""The usual size of a board where a file states none, by the game's number."""
_STONES = {"AB": 1, "AW": -1, "AE": 0}
_KNOWN = set(
    "B W KO MN AB AW AE PL C DM GB GW HO N UC V BM DO IT TE AR CR DD LB LN MA SL SQ TR AP CA FF GM ST SZ AN BR BT CP "
    "DT EV GN GC ON OT PB PC PW RE RO RU SO TM US WR WT BL WL OB OW FG PM VW HA KM TB TW "
    "CH EL EX L M LT RG SC SE SI BS WS ID OM OP OV CI FK".split()
)
"""The properties of FF[1] to FF[4]."""
_SECONDS = re.compile(rb"[0-9]+\.[0-9]{3} s\Z")
"""A comment on the seconds that a move took, as we write it."""
_FORFEIT = re.compile(rb"forfeit: ([ -~]+)\Z")
"""A comment on the game whose loser failed, as we write it."""
MOST_BYTES = 400
"""Largest size of a name or date, which is shown with a hundred characters at most."""

Properties = dict[str, list[bytes]]
"""Of one node: {identifier: raw values, in UTF-8}."""


class Stone(NamedTuple):
    """A move of a file."""

    colour: str
    """B or W"""
    point: str
    number: int
    """In the file, from 1; a pass that is put in has that of the move after it."""


class Sheet(NamedTuple):
    """The content of a file, before any of it is played."""

    game: Game
    """It begins with the stones that the file sets up."""
    moves: list[Stone]
    """B and W in turn"""
    result: float | None
    """For Black: 1, 0 or -1; None if the file has none."""
    players: tuple[str, str]
    stated: dict[str, str]
    """{result, rules, handicap, date: the file's own words}."""
    notes: tuple[str, ...]
    """What was not read, and where our rules differ, one line each."""
    forfeit: str = ""
    """Why the loser lost by rule, as we write it."""


def check_game(game: Game, others: Sequence[str] = ()) -> None:
    """Raise `UserError` if games of this kind cannot be written in SGF, or the library for it is missing.

    others: the forms in which they could be written there.
    """
    if game.sgf_number is None:
        instead = f", expected a file of another form: {' or '.join(others)}" if others else ""
        raise UserError(f"{game.name} has no form in SGF{instead}")
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


def read(data: bytes, game: Game | None, number: int = 1) -> Sheet:
    """Return the main line of game `number`, from 1; the game is `game`, or else the one that the file names."""
    tree, notes = _tree(data, number)
    line = list(_grammar().main_sequence_iter(tree))
    if _is_of_little_golem(line[0]):
        line = [_from_little_golem(node) for node in line]
        notes = (*notes, "read as Hex of Little Golem: the side that moves first is its W, whose name is in PB")
    root = line[0]
    moves, before, several = _moves(line)
    notes += several
    game, more = _game_of(root, moves) if game is None else (game, _differences(game, root))
    check_game(game)
    _compare(game, root)
    stated = {"result": _text(root, "RE"), "rules": _text(root, "RU"), "date": _text(root, "DT"),
              "handicap": _text(root, "HA").removeprefix("0")}  # fmt: skip
    if stated["rules"].lower() == str(values_of(game).get("rule", "")):
        stated["rules"] = ""
    result = result_of(stated["result"])
    if game.own_vertices and moves and moves[-1].point.lower() in ("resign", "forfeit"):
        colour = moves.pop().colour
        result = (-1.0 if colour == "B" else 1.0) if result is None else result
    game, moves, begun = _begun(game, line[:before], moves, stated)
    more += begun
    players = _text(root, "PB"), _text(root, "PW")
    notes = (*notes, *more, *_left_out(tree, line))
    forfeit = _first(root, "C")[:MOST_BYTES] if result and stated["result"] in ("B+F", "W+F") else b""
    reason = _FORFEIT.match(_grammar().simpletext_value(forfeit))
    stated = {key: words for key, words in stated.items() if words}
    return Sheet(game, moves, result, players, stated, notes, reason[1].decode("utf-8", "ignore") if reason else "")


def _tree(data: bytes, number: int) -> tuple[Any, tuple[str, ...]]:
    """Return the tree of a game with its text in UTF-8, and notes; a file is decoded before it is parsed.

    In some encodings the second byte of a letter may look like a backslash or a bracket.
    """
    for name in encodings_in(data):
        text = data.decode(codec_of(name), "replace")
        with contextlib.suppress(ValueError):
            found, notes = _pick(text.encode(), number)
            if _text(found.sequence[0], "CA").lower() == name.lower():  # not in a comment
                return found, notes + (f"some letters do not fit CA[{name}]",) * ("\ufffd" in text)
    try:
        data.decode()
        note: tuple[str, ...] = ()
    except ValueError:
        data = data.decode("latin-1").encode()
        note = ("the file names no encoding that is known here (CA): its text is read as Latin-1",)
    try:
        found, notes = _pick(data, number)
    except ValueError as error:
        remedy = "; it names no encoding that is known here (CA)" if note else ""
        raise UserError(f"expected a game in SGF, got a file that cannot be read ({error}{remedy})") from None
    return found, (*note, *notes)


def _pick(data: bytes, number: int) -> tuple[Any, tuple[str, ...]]:
    try:
        trees = _grammar().parse_sgf_collection(data)
    except ValueError:
        trees = [_grammar().parse_sgf_game(data)]  # what follows the first game is no SGF
    if not 1 <= number <= len(trees):
        raise UserError(f"expected a game from 1 to {len(trees)}, got {number}")
    return trees[number - 1], (f"the file holds {len(trees)} games: this is game {number}",) * (len(trees) > 1)


def _moves(line: list[Properties]) -> tuple[list[Stone], int, tuple[str, ...]]:
    """Return the moves of the nodes in their order, the number of nodes up to the first move, and notes."""
    moves: list[Stone] = []
    before, crowded = len(line), 0
    for place, node in enumerate(line):
        stones = [(name, _raw_text(value)) for name, values in node.items() if name in ("B", "W") for value in values]
        if _is_swap(node, moves, stones):
            stones = [(stones[0][0], "swap-pieces")]
        elif moves and (found := [name for name in _STONES if _first(node, name)]):
            raise UserError(f"move {len(moves) + 1}: expected moves only, got stones set up by {found[0]}")
        before = min(before, place + 1) if stones else before
        crowded = crowded or (len(moves) + 1 if len(stones) > 1 else 0)
        moves += [Stone(colour, point, len(moves) + n) for n, (colour, point) in enumerate(stones, 1)]
    note = f"move {crowded}: a node with several moves, which are read in their order"
    return moves, before, (note,) if crowded else ()


def _is_swap(node: Properties, moves: list[Stone], stones: list[tuple[str, str]]) -> bool:
    """Return whether a node of Hex takes the first stone away and puts it, as the other's, on the mirrored point."""
    if len(moves) != 1 or len(stones) != 1 or [_raw_text(value) for value in node.get("AE", [])] != [moves[0].point]:
        return False
    found = re.fullmatch("([a-z])([1-9][0-9]?)", moves[0].point.lower())
    if found is None or int(found[2]) > len(string.ascii_lowercase):
        return False
    mirrored = f"{_LETTERS[int(found[2]) - 1]}{_LETTERS.index(found[1]) + 1}"
    return stones[0][0] != moves[0].colour and stones[0][1].lower() == mirrored


def _is_of_little_golem(root: Properties) -> bool:
    """Return whether a file is Hex of that server: it has no GM, names of the event and the server tell its game."""
    event, source = _text(root, "EV").lower(), _text(root, "SO").lower()
    return "GM" not in root and "littlegolem" in source and event.split(".")[0] == "hex"


def _from_little_golem(node: Properties) -> Properties:
    """Return a node as SGF has Hex. There W moves first, PB is his name and RE[B] his win; points are two letters."""
    found = {{"B": "W", "W": "B"}.get(name, name): values for name, values in node.items()}
    for name in ("B", "W"):
        found[name] = [_two_letters(value) for value in found.get(name, [])]
    if "PB" in node or "SO" in node:
        found["GM"] = [b"11"]
    return {name: values for name, values in found.items() if values}


def _two_letters(value: bytes) -> bytes:
    """Return a point such as mf as Hex has it, m6; other words stay."""
    found = re.fullmatch(b"([a-z])([a-z])", value.strip().lower())
    return found[1] + str(found[2][0] - ord("a") + 1).encode() if found else value


def _begun(
    game: Game, nodes: list[Properties], moves: list[Stone], stated: dict[str, str]
) -> tuple[Game, list[Stone], list[str]]:
    """Return the game with its first position, the moves from there in turn, and notes.

    nodes: those up to the first move. Set up are the stones of AB and AW; a handicap that Black plays in place of that;
    and, where nobody can pass, all stones before a side moves twice in a row.
    """
    board, notes = _stones_set_up(game, nodes), []
    stones = int(stated["handicap"]) if re.fullmatch("[1-9][0-9]?", stated["handicap"]) else 0
    leading = _leading(moves)
    if stones > 1 and game.scored_by_area and not board.any() and len(leading) >= stones:
        _put(game, board, leading[:stones])
        moves = moves[moves.index(leading[stones - 1]) + 1 :]
        notes.append(f"HA[{stones}] without stones set up: Black's first {stones} moves are the handicap")
        leading = leading[stones:]
    elif stated["handicap"] and not board.any():
        notes.append(f"HA[{stated['handicap'][:10]}] without stones set up: the moves are played as they stand")
    turn = [stone.colour for stone in moves[:1]] or [_turn_of(node) for node in nodes if _turn_of(node)][-1:]
    begins = (turn or ["W" if board.any() and (board >= 0).all() else "B"])[0]
    fixed = type(game).set_up is Game.set_up  # your own game, whose sides may take turns in another way
    twice = [] if fixed else [n for n in range(1, len(moves)) if moves[n].colour == moves[n - 1].colour]
    if twice and game.action_size == board.size + 1 and not game.own_vertices:
        notes.append(f"move {moves[twice[0]].number}: {moves[twice[0]].colour} moves twice in a row; the other passes")
        moves = [each for n, stone in enumerate(moves) for each in ([_pass_before(stone)] * (n in twice) + [stone])]
    elif twice:
        last = moves[twice[-1]]
        _put(game, board, moves[: twice[-1]])
        notes.append(f"move {last.number}: {last.colour} moves twice in a row; the moves before are set up")
        begins, moves = last.colour, moves[twice[-1] :]
    game, points = long_enough(game, len(moves)), 0
    if stones and (board > 0).sum() + len(leading) >= stones and game.scored_by_area:
        points = handicap_points(bonus_of(stated["rules"]), stones)
    player = -1 if begins == "W" else 1
    if not points and not board.any() and (player == 1 or fixed):
        return game, moves, notes
    if points:
        notes.append(f"RU[{stated['rules'][:40]}]: White gets {points} point{'s' * (points > 1)} for the handicap")
    return starting_at(game, game.rewarded(game.set_up(board, player), points)), moves, notes


def _leading(moves: list[Stone]) -> list[Stone]:
    """Return Black's stones before White's first."""
    found = []
    for stone in moves:
        if stone.point not in ("", "tt"):
            if stone.colour == "W":
                break
            found.append(stone)
    return found


def _pass_before(stone: Stone) -> Stone:
    return Stone("W" if stone.colour == "B" else "B", "", stone.number)


def _put(game: Game, board: np.ndarray, stones: list[Stone]) -> None:
    """Put stones of moves on a board as if they were set up."""
    for colour, point, number in stones:
        place = _place(game, point)
        if place is None or board[place]:
            raise UserError(f"move {number}: expected a free point of {game.spec}, got {point[:20]!r}")
        board[place] = 1 if colour == "B" else -1


def _turn_of(node: Properties) -> str:
    """Return B or W for PL in every form that GNU Go reads, such as B, black and 1; "" where it is none."""
    return {"B": "B", "1": "B", "W": "W", "2": "W"}.get(_text(node, "PL")[:1].upper(), "")


def _stones_set_up(game: Game, nodes: list[Properties]) -> np.ndarray:
    """Return the stones that these nodes set up, [rows, columns] in {1, -1, 0}."""
    board = np.zeros(game.grid_shape, np.int8)
    for node in nodes:
        for name, stone in _STONES.items():
            for value in node.get(name, []):
                for point in _rectangle(game, _raw_text(value), name):
                    board.flat[point] = stone
    return board


def _rectangle(game: Game, value: str, name: str) -> list[int]:
    """Return the points of a value such as ab or aa:cc; none for an empty one."""
    rows, columns = game.grid_shape
    ends = [_place(game, point) for point in value.split(":")] if value else []
    if None in ends or len(ends) > 2:
        raise UserError(f"{name}: expected two letters of a board of {rows} x {columns}, got {value[:20]!r}")
    spots = [end for end in ends if end is not None]
    if not spots:
        return []
    (r, c), (bottom, right) = spots[0], spots[-1]
    if bottom < r or right < c:
        raise UserError(f"{name}: expected the top left and the bottom right corner of a rectangle, got {value[:20]!r}")
    return [i * columns + j for i in range(r, bottom + 1) for j in range(c, right + 1)]


def _place(game: Game, point: str) -> tuple[int, int] | None:
    """Return (row, column) of a point."""
    rows, columns = game.grid_shape
    if game.own_vertices:
        with contextlib.suppress(UserError):
            r, c = divmod(game.parse_move(point), columns)
            return (r, c) if r < rows else None
        return None
    if len(point) != 2 or point[0] not in _LETTERS[:columns] or point[1] not in _LETTERS[:rows]:
        return None
    return _LETTERS.index(point[1]), _LETTERS.index(point[0])


def _left_out(tree: Any, line: list[Properties]) -> list[str]:
    """Return a note on what of a tree is not read."""
    branches, comments = 0, sum("C" in node and not _is_ours(_first(node, "C")) for node in line)
    unknown = sorted({name for node in line for name in node} - _KNOWN)
    while tree.children:
        branches, tree = branches + len(tree.children) - 1, tree.children[0]
    counts = {"variation": branches, "comment": comments, "unknown property": len(unknown)}
    words = [f"{n} {word if n == 1 else _plural(word)}" for word, n in counts.items() if n]
    named = f" ({' '.join(unknown)[:60]})" if unknown else ""
    return [f"left out: {', '.join(words)}{named}"] if words else []


def _is_ours(comment: bytes) -> bool:
    return bool(_SECONDS.match(comment) or _FORFEIT.match(comment))


def _plural(word: str) -> str:
    return f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"


def action_of(game: Game, state: GameState, stone: Stone) -> int:
    """Return the action of a stone of the file in a position; raise `UserError` if there is none."""
    (colour, point, _), (rows, columns) = stone, game.grid_shape
    expected = "B" if state.playerTurn == 1 else "W"
    if colour != expected:
        raise UserError(f"expected a move of {expected}, got one of {colour}")
    if game.own_vertices:
        return game.parse_move(point)
    if point == "" or (point == "tt" and max(rows, columns) <= 19):
        if game.action_size == rows * columns:
            raise UserError(f"expected a point, got a pass, which {game.name} does not have")
        return rows * columns
    place = _place(game, point)
    if place is None:
        raise UserError(f"expected two letters of a board of {rows} x {columns}, got {point[:20]!r}")
    return place[0] * columns + place[1]


def _game_of(root: Properties, moves: list[Stone]) -> tuple[Game, list[str]]:
    """Return the game that GC names if it is one of ours, else the usual one of that number, size, komi and rule."""
    spec, number = _text(root, "GC"), _text(root, "GM") or "1"
    if spec.split("(")[0] in games.names():
        with contextlib.suppress(UserError):  # in a file from elsewhere it is a comment, which may be any word
            game = games.make(spec, typed=False)
            _compare(game, root)
            if "komi" not in values_of(game) or "KM" in root:  # our own files state it
                return game, _differences(game, root)
    names = {str(n): name for n, name in games.BY_SGF_NUMBER.items()}
    if number not in names:
        raise UserError(f"expected a game of GM {', '.join(names)}, got GM {number[:20]!r}")
    usual = games.make(names[number])
    size = _square(_text(root, "SZ")) or _SIZES.get(number, "")
    points = [stone.point for stone in moves]
    parameters, notes = usual.named_by_sgf(size, _text(root, "KM"), _text(root, "RU"), points)
    inside = ",".join(f"{key}={value}" for key, value in parameters.items())
    return games.make(f"{usual.name}({inside})", typed=False), notes


def _square(size: str) -> str:
    """Return the lines of a square board of SZ, "" where it is missing."""
    found = re.fullmatch("([1-9][0-9]?)(?::([1-9][0-9]?))?", size)
    if size and (found is None or found[2] not in (None, found[1])):
        raise UserError(f"expected the size of a square board such as 19, got SZ {size[:20]!r}")
    return found[1] if found else ""


def _compare(game: Game, root: Properties) -> None:
    """Raise if a file is of another game, size or komi than `game`."""
    number, size, text = _text(root, "GM") or "1", _text(root, "SZ"), _text(root, "KM")
    if number != str(game.sgf_number):
        raise UserError(f"expected a game of {game.spec} (GM {game.sgf_number}), got GM {number[:20]!r}")
    rows, columns = game.grid_shape
    size = size or _SIZES.get(number, _size(game))
    if size not in (_size(game), f"{columns}:{rows}"):
        raise UserError(f"expected a board of {_size(game)} for {game.spec}, got {size[:20]}")
    own = values_of(game).get("komi")
    if own is not None and text and text != f"{own:g}" and (komi := komi_of(text, rows * columns)[0]) != own:
        raise UserError(f"expected komi {own:g} for {game.spec}, got {komi:g}")


def _differences(game: Game, root: Properties) -> list[str]:
    """Return notes on what a file states and a game of ours that was named does not take from it."""
    komi, notes, known = _text(root, "KM"), [], values_of(game)
    if "komi" in known and not komi:
        notes.append(f"the file states no komi: that of {game.spec} is used")
    elif komi and "komi" not in known and komi_of(komi, 10**6)[0] != 0:
        notes.append(f"KM[{komi[:20]}] is not used: the komi of {game.spec} is fixed")
    if rules := _text(root, "RU"):
        notes.append(game.sgf_rules_note(rules))
    return [note for note in notes if note]


def _first(node: Properties, name: str) -> bytes:
    return b"".join(node.get(name, [])[:1]).strip()


def _raw_text(value: bytes) -> str:
    return value.strip().decode("ascii", "backslashreplace")


def _text(node: Properties, name: str) -> str:
    """Return a property as one line."""
    value = _grammar().simpletext_value(_first(node, name)[:MOST_BYTES])
    return "".join(c for c in value.decode("utf-8", "ignore") if c.isprintable()).strip()[:100]


# ---- writing


def write(
    game: Game, moves: list[int], end: GameState, result: float | None, players: tuple[str, str], date: str,
    stated: dict[str, str], seconds: tuple[float, ...] = (), forfeit: str = "",
) -> bytes:  # fmt: skip
    """Return a game as SGF; `end` is the position after its moves, `stated` as in `Sheet`.

    seconds: of each move, written as a comment. forfeit: why the loser lost by rule, a comment on the whole game.
    """
    grammar, known = _grammar(), values_of(game)
    stated = {**_handicap_stated(game), **stated}
    points, stones = game.handicap_points(game.start()), stated.get("handicap", "")
    known_as = int(stones) if re.fullmatch("[0-9]{1,3}", stones) else 0
    if points and handicap_points(bonus_of(stated.get("rules", "")), known_as) != points:
        raise UserError(f"expected a .json file: no rules that SGF names give White {points:g} points for this setup")
    root = {
        "FF": "4", "GM": str(game.sgf_number), "CA": "UTF-8", "SZ": _size(game), "GC": game.spec,
        "PB": players[0], "PW": players[1], "DT": stated.get("date", date),
        "RE": stated.get("result", result_text(game, end, result, forfeit)), "HA": stated.get("handicap", ""),
        "KM": f"{known['komi']:g}" if "komi" in known else "", "RU": stated.get("rules", str(known.get("rule", ""))),
    }  # fmt: skip
    tree = grammar.Coarse_game_tree()
    texts = {name: text.encode("utf-8", "replace") for name, text in root.items() if text}
    tree.sequence = [{name: [grammar.escape_text(text)] for name, text in texts.items()}]
    tree.sequence[0].update(_stones(game))
    if forfeit:
        tree.sequence[0]["C"] = [grammar.escape_text(f"forfeit: {forfeit}".encode("ascii", "replace"))]
    for action, state in zip(moves, follow(game, moves), strict=False):
        tree.sequence.append({"B" if state.playerTurn == 1 else "W": [_point(game, action)]})
        if len(tree.sequence) - 2 < len(seconds):
            tree.sequence[-1]["C"] = [f"{seconds[len(tree.sequence) - 2]:.3f} s".encode()]
    return bytes(grammar.serialise_game_tree(tree))


def _handicap_stated(game: Game) -> dict[str, str]:
    """Return the rules and the handicap by which a game that begins with points for White is read with these again."""
    points = game.handicap_points(game.start())
    return words_for(points, int((stones_of(game.start()) == 1).sum())) if points else {}


def _stones(game: Game) -> Properties:
    """Return AB, AW and PL of a game that begins with a position set up."""
    if game.set_up_from is None:
        return {}
    state = game.start()
    found: Properties = {"PL": [b"B" if state.playerTurn == 1 else b"W"]}
    for name, stone in (("AB", 1), ("AW", -1)):
        points = np.flatnonzero(stones_of(state) == stone)
        if len(points):
            found[name] = [_point(game, int(p)) for p in points]
    return found


def _point(game: Game, action: int) -> bytes:
    """Return a move as the value of B or W; a pass is empty."""
    (r, c), rows = divmod(action, game.grid_shape[1]), game.grid_shape[0]
    text = game.vertex(action) if game.own_vertices else _LETTERS[c] + _LETTERS[r] if r < rows else ""
    return text.encode()


def result_text(game: Game, end: GameState, result: float | None, forfeit: str = "") -> str:
    """Return RE for a game that ended in this position with a result, given for Black."""
    if result is None:
        return "Void"
    if result == 0:
        return "0"
    winner = "B" if result > 0 else "W"
    if not end.isEndGame:
        return f"{winner}+F" if forfeit else f"{winner}+R"
    lead = abs(end.score[0] - end.score[1])
    return f"{winner}+{lead:g}" if game.scored_by_area else f"{winner}+"


def _size(game: Game) -> str:
    rows, columns = game.grid_shape
    return str(rows) if rows == columns else f"{columns}:{rows}"
