"""Records of games as fifteen producers write them: a deterministic generator, with the content that went in.

The forms follow their own texts: SGF FF[4] (red-bean.com/sgf), GGF (M. Buro), WTHOR (French Othello Federation), .psq
(P. Lastovicka), and what the servers Fox and Little Golem and the program Sabaki write.
"""

import json
import struct
from typing import NamedTuple

import numpy as np

import games
from games.line_of_moves import follow, ready, stones_of
from support.sgf_files import LETTERS, one


class Made(NamedTuple):
    """A file and what it says."""

    kind: str
    form: str
    data: bytes
    spec: str
    moves: list[str]
    """As our game names them, passes that the file leaves out included."""
    setup: dict[str, set[tuple[int, int]]]
    """{B, W: points (row, column) before the first move}"""
    turn: int
    result: float | None
    players: tuple[str, str]
    points: float
    """White's without a stone: komi, and those for a handicap."""
    number: int = 1
    broken: tuple[bytes, int] | None = None
    """The file with a move that cannot be read or played, and its number."""


def made(seed):
    """Return a file; the producers take turns."""
    rng = np.random.default_rng([50, seed])
    make = KINDS[seed % len(KINDS)]
    found = make(rng, seed)
    return found._replace(kind=make.__name__.strip("_"))


NOTHING = {"B": set(), "W": set()}


def _made(form, data, spec, moves, **more):
    usual = {"setup": NOTHING, "turn": 1, "result": None, "players": ("", ""), "points": 0.0}
    return Made("", form, data.encode() if isinstance(data, str) else data, spec, moves, **{**usual, **more})


def played(game, rng, count):
    """Return random legal moves from the start, none of which ends the game if there are others."""
    state, moves = game.start(), []
    while len(moves) < count and not state.isEndGame:
        for action in rng.permutation(state.allowedActions):
            after = state.takeAction(int(action))[0]
            if not after.isEndGame:
                break
        if after.isEndGame:
            break
        state = after
        moves.append(int(action))
    return moves


def point(place):
    return LETTERS[place[1]] + LETTERS[place[0]]


# ---- Go


def _server(rng, seed):
    """A file of an editor or a server, in many encodings."""
    file = one(1000 + seed)
    game = games.make(f"go(size={file.size})")
    moves = ["pass" if p is None else game.move_name(p[0] * file.size + p[1]) for _, p in file.moves]
    turn = 1 if file.moves[0][0] == "B" else -1
    points = file.komi
    if file.handicap and file.rules in ("Chinese", "AGA"):
        points += file.handicap - (file.rules == "AGA")
    return _made(".sgf", file.data, f"go(size={file.size})", moves, setup=file.setup, turn=turn, result=file.result,
                 players=file.players, points=points)


def _line(rng, size, colours):
    """Return [(colour, point)] of a line in which each side moves as `colours` says, and the names with passes."""
    game = games.make(f"go(size={size},ko=superko,plies={4 * size * size})")
    state, line, names = game.start(), [], []
    for colour in colours:
        player = 1 if colour == "B" else -1
        state = ready(game, state)
        if state.playerTurn != player:
            state = ready(game, state.takeAction(size * size)[0])
            names.append("pass")
        legal = state.allowedActions[:-1]
        action = int(rng.choice(legal)) if len(legal) else size * size
        line.append((colour, None if action == size * size else divmod(action, size)))
        names.append(game.move_name(action))
        state = state.takeAction(action)[0]
    return line, names


def _nodes(line):
    return "".join(f";{colour}[{'' if p is None else point(p)}]" for colour, p in line)


def _fox(rng, seed):
    """Komi in hundredths, a handicap as AB or as Black's first moves, properties that no text names."""
    size, stones = 19, int(rng.integers(2, 5))
    spots = [(3, 3), (15, 15), (3, 15), (15, 3)][:stones]
    forms = [("50", 0.5, "Japanese", 0), ("375", 7.5, "Chinese", stones), ("0", 0, "Chinese", stones),
             ("650", 6.5, "AGA", stones - 1), ("50", 0.5, "Korean", 0)]
    stated, komi, rules, more = forms[seed // 15 % 5]
    free = [(int(p) // size, int(p) % size) for p in rng.permutation(size * size)]
    free = [p for p in free if p not in spots][:20]
    line = [("W" if n % 2 == 0 else "B", p) for n, p in enumerate(free)]
    as_moves = seed // 15 % 2
    setup = "" if as_moves else "AB" + "".join(f"[{point(p)}]" for p in spots)
    first = [("B", p) for p in spots] if as_moves else []
    root = (f"(;GM[1]FF[4]SZ[{size}]GN[]DT[2026-01-01]PB[a]PW[b]BR[P9]WR[P9]KM[{stated}]HA[{stones}]RU[{rules}]"
            f"AP[GNU Go:3.8]RN[3]RE[W+R]TM[300]TC[3]TT[30]AP[foxwq]RL[0]{setup}")
    game = games.make("go(size=19)")
    names = [game.move_name(p[0] * size + p[1]) for _, p in line]
    bad = [*first, *line[:7], ("B", line[0][1])]
    return _made(".sgf", f"{root}{_nodes([*first, *line])})", "go(size=19)", names,
                 setup={"B": set(spots), "W": set()}, turn=-1, result=-1.0, players=("a", "b"), points=komi + more,
                 broken=(f"{root}{_nodes(bad)})".encode(), len(bad)))


def _crowded(rng, seed):
    """Nodes with a move of each side, or two of one, which GNU Go reads in their order."""
    size = int(rng.integers(7, 14))
    shapes = [["B", "W"], ["B"], ["W"], ["B", "B"], ["W", "B"]]
    nodes = [["B"], *(shapes[int(n)] for n in rng.integers(0, 5, 10))]
    line, names = _line(rng, size, [colour for node in nodes for colour in node])
    moves, text = iter(line), ""
    for node in nodes:
        shown = [point(p) if p is not None else "" for _, p in (next(moves) for _ in node)]
        text += f";B[{shown[0]}][{shown[1]}]" if node == ["B", "B"] else ";" + "".join(
            f"{colour}[{p}]" for colour, p in zip(node, shown, strict=True))
    return _made(".sgf", f"(;GM[1]SZ[{size}]KM[7]{text})", f"go(size={size})", names, points=7,
                 broken=(f"(;GM[1]SZ[{size}];B[aa]W[bb];B[cc]W[aa])".encode(), 4))


def _twice(rng, seed):
    """A side that moves twice in a row, as in files of GoGui and of teachers."""
    size = int(rng.integers(5, 12))
    colours = ["B", *rng.choice(["B", "W"], 20)]
    line, names = _line(rng, size, colours)
    bad = [("B", (0, 0)), ("B", (0, 1)), ("W", (size - 1, 0)), ("W", (0, 0))]
    return _made(".sgf", f"(;GM[1]SZ[{size}]KM[6.5]{_nodes(line)})", f"go(size={size})", names, points=6.5,
                 broken=(f"(;GM[1]SZ[{size}]{_nodes(bad)})".encode(), 4))


def _position(rng, seed):
    """Stones set up, with whose turn it is in a form that GNU Go reads."""
    size = int(rng.integers(5, 12))
    spots = [(int(p) // size, int(p) % size) for p in rng.permutation(size * size)[:4]]
    form, turn = [("B", 1), ("b", 1), ("Black", 1), ("1", 1), ("W", -1), ("w", -1), ("white", -1), ("2", -1)][seed % 8]
    stones = f"AB[{point(spots[0])}][{point(spots[1])}]AW[{point(spots[2])}][{point(spots[3])}]"
    return _made(".sgf", f"(;GM[1]SZ[{size}]KM[0]{stones}PL[{form}])", f"go(size={size})", [],
                 setup={"B": set(spots[:2]), "W": set(spots[2:])}, turn=turn)


# ---- gomoku


def _gomoku(rng, seed):
    """SGF with the rules in words."""
    words, rule = [("Standard", "exact"), ("freestyle", "freestyle"), ("Renju", "renju"), ("exact", "exact"),
                   ("", "freestyle")][seed // 15 % 5]
    game = games.make(f"gomoku(size=15,rule={rule})")
    actions = played(game, rng, 14)
    line = [("BW"[n % 2], divmod(a, 15)) for n, a in enumerate(actions)]
    root = f"(;GM[4]FF[4]SZ[15]RU[{words}]"
    bad = [*line[:6], ("B", line[1][1])]
    return _made(".sgf", f"{root}{_nodes(line)})", game.spec, [game.move_name(a) for a in actions],
                 broken=(f"{root}{_nodes(bad)})".encode(), 7))


def _piskvork(rng, seed):
    """.psq with the division of a tournament."""
    words, rule = [("Standard", "exact"), ("Freestyle15_1", "freestyle"), ("Renju", "renju")][seed // 15 % 3]
    size = 15 if rule == "renju" else int(rng.integers(10, 21))
    game = games.make(f"gomoku(size={size},rule={rule})")
    actions = played(game, rng, 14)
    lines = [f"{a % size + 1},{a // size + 1},{int(rng.integers(0, 999))}" for a in actions]
    head, tail = f"Piskvorky {size}x{size}, 11:11, 0\n", f"\nAnn.zip\nBob.zip\n-1\n1,{words}\n"
    bad = head + "\n".join([*lines[:5], lines[0]]) + tail
    return _made(".psq", head + "\n".join(lines) + tail, game.spec, [game.move_name(a) for a in actions],
                 players=("Ann.zip", "Bob.zip"), broken=(bad.encode(), 6))


# ---- Hex


def _hex(rng, seed, swap=True):
    size = int(rng.integers(5, 14))
    game = games.make(f"hex(size={size},swap=yes)")
    first = int(rng.integers(size * size))
    state = game.start().takeAction(first)[0].takeAction(size * size)[0]
    actions = [first, size * size]
    for _ in range(8):
        actions.append(int(rng.choice([a for a in state.allowedActions if a < size * size])))
        state = state.takeAction(actions[-1])[0]
    if state.isEndGame:
        actions = actions[:5]
    return game, size, actions, [game.move_name(a) for a in actions]


def _hexgui(rng, seed):
    """SGF FF[4] as its text has Hex: a letter and a number, swap-pieces, resign."""
    game, size, actions, names = _hex(rng, seed)
    text = "".join(f";{'BW'[n % 2]}[{'swap-pieces' if name == 'swap' else name}]" for n, name in enumerate(names))
    loser = "BW"[len(names) % 2]
    bad = f"(;FF[4]GM[11]SZ[{size}]PB[Ann]PW[Bo]{text};{loser}[{names[-1]}])"
    return _made(".sgf", f"(;FF[4]GM[11]SZ[{size}]PB[Ann]PW[Bo]{text};{loser}[resign])", game.spec, names,
                 players=("Ann", "Bo"), result=-1.0 if loser == "B" else 1.0,
                 broken=(bad.encode(), len(names) + 1))


def _sabaki(rng, seed):
    """A swap as the mirrored stone, with AE of the old one."""
    game, size, actions, names = _hex(rng, seed)
    row, column = divmod(actions[0], size)
    mirrored = game.move_name(column * size + row)
    text = f";B[{names[0]}];W[{mirrored}]AE[{names[0]}]"
    text += "".join(f";{'BW'[n % 2]}[{name}]" for n, name in enumerate(names[2:]))
    if mirrored == names[0]:  # a stone on the diagonal stays where it is
        text = text.replace(f"AE[{names[0]}]", f"AE[{mirrored}]")
    bad = f"(;GM[11]FF[4]CA[UTF-8]AP[Sabaki:0.60.0]SZ[{size}]{text};{'BW'[len(names) % 2]}[zz])"
    return _made(".sgf", f"(;GM[11]FF[4]CA[UTF-8]AP[Sabaki:0.60.0]SZ[{size}]{text})", game.spec, names,
                 broken=(bad.encode(), len(names) + 1))


def _little_golem(rng, seed):
    """No GM; W moves first and is named in PB; two letters a point."""
    game, size, actions, names = _hex(rng, seed)
    letters = ["swap" if a == size * size else point(divmod(a, size)) for a in actions]
    text = "".join(f";{'WB'[n % 2]}[{word}]" for n, word in enumerate(letters))
    loser = "WB"[len(names) % 2]
    winner = "W" if loser == "W" else "B"  # RE[B]: the side that moved first, as W, has won
    root = f"(;FF[4]EV[hex.ch.{seed}.1.1]PB[aa]PW[bb]SZ[{size}]RE[{winner}]GC[ game #{seed}]"
    root += "SO[http://www.littlegolem.com]"
    bad = f"{root}{text};{loser}[{letters[-1]}])"
    return _made(".sgf", f"{root}{text};{loser}[resign])", game.spec, names, players=("aa", "bb"),
                 result=1.0 if winner == "B" else -1.0, broken=(bad.encode(), len(names) + 1))


# ---- Othello


def _othello(rng, count, size=8):
    """Return (game, actions, state at the end) of a random game, which may be over."""
    game = games.make(f"othello(size={size})")
    state, actions = game.start(), []
    while len(actions) < count and not state.isEndGame:
        actions.append(int(rng.choice(state.allowedActions)))
        state = state.takeAction(actions[-1])[0]
    if actions and actions[-1] == size * size and not state.isEndGame:
        actions.pop()
    *_, state = follow(game, actions)
    return game, actions, state


def _lead(state):
    board = stones_of(state)
    lead = int(board.sum())
    return lead + int(np.sign(lead)) * int((board == 0).sum())


def _transcript(rng, seed):
    """A line of moves: with numbers, joined, with or without the passes."""
    game, actions, state = _othello(rng, 70 if seed % 2 else int(rng.integers(5, 50)), int(rng.choice([6, 8])))
    passed, names = game.action_size - 1, [game.move_name(a) for a in actions]
    word = ["--", "ps", "pass", "pa"][seed // 15 % 4]
    shown = [word if a == passed else name for a, name in zip(actions, names, strict=True)]
    if seed % 3 == 0:
        shown = [n for a, n in zip(actions, names, strict=True) if a != passed]
    text = ["".join(shown), " ".join(f"{n // 2 + 1}. {w}" if n % 2 == 0 else w for n, w in enumerate(shown)),
            " ".join(shown).upper()][seed // 15 % 3]
    result = float(np.sign(_lead(state))) if state.isEndGame else None
    return _made(".txt", text, game.spec, names, result=result,
                 broken=(("".join(names[:4]) + "zz").encode(), 5))


def _ggs(rng, seed):
    """GGF with evaluations, times, passes, and other games in the file; now and then with a board of its own."""
    game, actions, state = _othello(rng, 70)
    names, begin = [game.move_name(a) for a in actions], 0
    board, turn = stones_of(game.start()), 1
    if seed // 15 % 2 and len(actions) > 20:  # the file begins in the middle of the game
        begin = 12
        states = list(follow(game, actions))
        board, turn = stones_of(states[begin]), states[begin].playerTurn
    points = "".join("O-*"[int(v) + 1] for v in board.ravel())
    rows = " ".join(points[i : i + 8] for i in range(0, 64, 8))
    moves, player = "", turn
    for name in names[begin:]:
        extra = ["", "/1.25", "//2.5", "/-0.5/11.0"][int(rng.integers(4))]
        moves += f"{'B' if player == 1 else 'W'}[{'PA' if name == 'pass' else name.upper()}{extra}]"
        player = -player
    root = (f"(;GM[Othello]PC[GGS/os]DT[2004.09.18_05:54:38.MDT]PB[ann]PW[bob]RB[1837.5]RW[2203.5]TI[05:00//02:00]"
            f"TY[8]RE[{_lead(state):+.3f}]BO[8 {rows} {'*' if turn == 1 else 'O'}]")
    other = "(;GM[Othello]BO[8 " + "-" * 64 + " *];)"
    setup = NOTHING
    if begin:
        setup = {c: {tuple(map(int, p)) for p in np.argwhere(board == s)} for c, s in (("B", 1), ("W", -1))}
    bad = f"{root}{'B' if turn == 1 else 'W'}[zz];)"
    return _made(".ggf", f"{other}\n{root}{moves};)\n", "othello", names[begin:], setup=setup, turn=turn, number=2,
                 result=float(np.sign(_lead(state))), players=("ann", "bob"),
                 broken=(f"{other}{bad}".encode(), 1))


def _wthor(rng, seed):
    """WTHOR's file of a year, in which the game is one of three."""
    game, actions, state = _othello(rng, 70)
    names = [game.move_name(a) for a in actions]
    codes = bytes(10 * (a // 8 + 1) + a % 8 + 1 for a in actions if a != 64)
    discs = (64 + _lead(state)) // 2
    head = struct.pack("<4BIHHBBBB", 20, 26, 11, 28, 3, 0, 2001, 8 * (seed // 15 % 2), 0, 22, 0)

    def row(codes):
        return struct.pack("<3HBB60s", 5, 12, 7, discs, 32, codes)

    data = head + row(b"8") + row(codes) + row(b"\x0b")
    bad = head + row(b"") + row(codes[:3] + codes[:1] + codes[4:]) + row(b"")
    return _made(".wtb", data, "othello", names, number=2, result=float(np.sign(_lead(state))),
                 players=("WTHOR player 12", "WTHOR player 7"), broken=(bad, 4))


def _ffo(rng, seed):
    """A position as in FFO's tests, with its solution."""
    game, actions, state = _othello(rng, int(rng.integers(30, 50)))
    while state.isEndGame or state.allowedActions == [64]:
        actions.pop()
        *_, state = follow(game, actions)
    board = stones_of(state)
    points = "".join("OX-"[[-1, 1, 0].index(int(v))] for v in board.ravel())
    side = "X" if state.playerTurn == 1 else "O"
    words = {"X": "Black", "O": "White"}[side]
    text = [f"{points} {side}\n", f"{points} {side}; a8:+06; b7:-12;\n", f"% FFO\n{points}\n{words}\n"]
    setup = {c: {tuple(map(int, p)) for p in np.argwhere(board == s)} for c, s in (("B", 1), ("W", -1))}
    form = [".obf", ".txt"][seed // 15 % 2]
    return _made(form, text[seed // 15 % 3], "othello", [], setup=setup, turn=int(state.playerTurn))


def _own(rng, seed):
    """Our JSON of a handicap game, with White's points."""
    stones = ["c3", "g7", "c7", "g3"][: int(rng.integers(2, 5))]
    turn = {"black": stones, "white": [], "turn": "white", "points": len(stones)}
    komi = 0.5 + seed // 15
    values = {"game": f"go(size=9,komi={komi:g})", "moves": ["e5", "pass", "e4"], "result": None, "setup": turn,
              "stated": {"rules": "Chinese", "handicap": str(len(stones))}}
    bad = {**values, "moves": ["e5", "pass", "e5"]}
    game = games.make("go(size=9)")
    spots = {divmod(game.parse_move(name), 9) for name in stones}
    return _made(".json", json.dumps(values), "go(size=9)", values["moves"], setup={"B": spots, "W": set()}, turn=-1,
                 points=komi + len(stones), broken=(json.dumps(bad).encode(), 3))


KINDS = (_server, _fox, _crowded, _twice, _position, _gomoku, _piskvork, _hexgui, _sabaki, _little_golem, _transcript,
         _ggs, _wthor, _ffo, _own)
