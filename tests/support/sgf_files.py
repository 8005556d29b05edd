"""SGF files as servers and editors write them: a deterministic generator, with the content that went in."""

from typing import NamedTuple

import numpy as np

import games
from games.line_of_moves import ready, starting_at

LETTERS = "abcdefghijklmnopqrs"
KOMI = [("", 0.0), ("0", 0.0), ("6.5", 6.5), ("7.50", 7.5), ("-3.5", -3.5), ("375", 7.5), ("325", 6.5), ("550", 5.5),
        ("650", 6.5), ("275", 5.5), ("3.75", 7.5), ("6,5", 6.5), (" 0.5 ", 0.5), ("+5.5", 5.5)]  # fmt: skip
RESULTS = [("B+R", 1), ("W+Resign", -1), ("b+t", 1), ("W+Time", -1), ("B+F", 1), ("W+12.5", -1), ("B+0.5", 1),
           ("0", 0), ("Draw", 0), ("draw", 0), ("Jigo", 0), ("W+R (by time)", -1), ("Void", None)]  # fmt: skip
RULES = ["", "Japanese", "Chinese", "AGA", "NZ", "Tromp-Taylor", "Standard", "korean"]
NAMES = {
    "": "Ann", "UTF-8": "이세돌 é", "ISO-8859-1": "ofie é", "Shift_JIS": "ソ表能", "Big5": "功許蓋閱",
    "GBK": "誠乗竇癩", "GB2312": "柯洁", "EUC-KR": "이창호", "windows-1251": "Жук",
}  # fmt: skip
"""{charset: a name}; in Shift_JIS, Big5 and GBK with letters whose second byte is a backslash or a bracket."""


HANDICAP = "(;GM[1]SZ[5]KM[2.5]HA[2]AB[bb][dd]C[hi]RU[Chinese];W[cc];B[bd];W[db])"
RESUMED = "(;GM[1]SZ[5]KM[2.5]RE[W+3.5]C[resumed];B[cc];W[];B[];W[bb];B[bc])"
COUNTED = "(;GM[1]SZ[5]KM[2.5]RE[W+3.5];B[cc];W[bb];B[];W[])"
"""Records with stones set up, with moves after two passes, and with a result that our rules count otherwise."""


class Written(NamedTuple):
    """A file and what it says."""

    data: bytes
    charset: str
    size: int
    komi: float
    stated_komi: str
    result: float | None
    rules: str
    players: tuple[str, str]
    handicap: int
    setup: dict[str, set[tuple[int, int]]]
    """{B, W: points as (row, column)}"""
    moves: list[tuple[str, tuple[int, int] | None]]
    """(B or W, point, None for a pass)"""


def one(seed):
    """Return a file."""
    rng = np.random.default_rng([7, seed])
    size, charset = int(rng.integers(5, 20)), list(NAMES)[seed % len(NAMES)]
    (stated, komi), (re, result) = KOMI[seed % len(KOMI)], RESULTS[seed % len(RESULTS)]
    rules = RULES[seed % len(RULES)]
    handicap = int(rng.integers(2, 6)) if seed % 3 == 0 else 0
    spots = [(int(p) // size, int(p) % size) for p in rng.permutation(size * size)[: handicap + seed % 2]]
    setup = {"B": set(spots[:handicap]), "W": set(spots[handicap:]) if handicap else set()}
    moves = _moves(rng, size, setup, int(rng.integers(4, 60)))
    names = (NAMES[charset], NAMES[charset][::-1])
    data = _written(rng, seed, size, stated, re, rules, names, handicap, setup, moves, charset)
    return Written(data, charset, size, komi, stated, result, rules, names, handicap, setup, moves)


def _moves(rng, size, setup, count):
    """Return legal moves with some passes, also two in a row with play after them."""
    game = games.make(f"go(size={size},ko=superko,plies={4 * size * size})")
    board = np.zeros((size, size), int)
    for colour, stone in (("B", 1), ("W", -1)):
        for point in setup[colour]:
            board[point] = stone
    begins = -1 if board.any() else 1
    state = starting_at(game, game.set_up(board, begins)).start() if board.any() else game.start()
    moves, passed = [], size * size
    while len(moves) < count:
        state = ready(game, state)
        legal = state.allowedActions
        action = passed if rng.random() < 0.1 or len(legal) == 1 else int(rng.choice(legal[:-1]))
        moves.append(("B" if state.playerTurn == 1 else "W", None if action == passed else divmod(action, size)))
        state = state.takeAction(action)[0]
        if moves[-1][1] is None and rng.random() < 0.3 and len(moves) < count:
            state = ready(game, state)
            moves.append(("B" if state.playerTurn == 1 else "W", None))
            state = state.takeAction(passed)[0]
    return moves


def _point(point, size, rng):
    if point is None:
        return "tt" if size <= 19 and rng.random() < 0.5 else ""
    return LETTERS[point[1]] + LETTERS[point[0]]


def _written(rng, seed, size, komi, re, rules, names, handicap, setup, moves, charset):
    escaped = [name.replace("\\", "\\\\").replace("]", "\\]") for name in names]
    long = seed % 7 == 5  # FF[3] allows lower-case letters in names of properties
    n = {"GM": "GaMe", "SZ": "SiZe", "KM": "KoMi", "RE": "REsult", "PB": "PlayerBlack", "B": "Black", "W": "White",
         "AB": "AddBlack"}  # fmt: skip
    n = {short: name if long and short.isupper() else short for short, name in n.items()}
    ca = f"CA[{charset}]" if charset else ""
    names_first = f"{n['PB']}[{escaped[0]}]PW[{escaped[1]}]"
    root = [f"{n['GM']}[1]" if seed % 5 else "", "FF[4]", f"{n['SZ']}[{size}]" if seed % 4 else f"SZ[{size}:{size}]"]
    root += [names_first, ca] if seed % 2 else [ca, names_first]
    root += [f"{n['KM']}[{komi}]" if komi else "", f"{n['RE']}[{re}]", f"RU[{rules}]" if rules else ""]
    root += [f"HA[{handicap}]" if handicap or seed % 2 else "", "C[a comment: CA[latin-1 \\] (;B[aa\\]) \\\\]"]
    root += ["XX[private][values]", "GC[go]" if seed % 6 == 0 else "DT[2019-03-04]"]
    for name, colour in ((n["AB"], "B"), ("AW", "W")):
        if setup[colour]:
            root.append(name + "".join(f"[{_point(p, size, rng)}]" for p in sorted(setup[colour])))
    root += ["PL[W]"] if handicap and seed % 2 else []
    space = ["", "\n", "\r\n", " \t"][seed % 4]
    nodes = [f";{space}{n[colour]}{space}[{_point(p, size, rng)}]" for colour, p in moves]
    nodes[-1] += f"BL[30]C[the end \\] {escaped[0]}]"
    if seed % 4 == 1:  # variations: the first is the main line
        cut = len(nodes) // 2
        nodes = [*nodes[:cut], "(", *nodes[cut:], ")", "(;W[aa];B[bb])"]
    text = "(;" + space.join(root) + space + "".join(nodes) + ")"
    if seed % 5 == 2:
        text += f"{space}(;GM[1]SZ[9];B[aa])"
    data = text.encode(charset or "utf-8")
    return (b"\xef\xbb\xbf" if charset == "UTF-8" and seed % 2 else b"some words\n" if seed % 9 == 8 else b"") + data
