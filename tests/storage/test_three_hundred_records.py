"""Three hundred records of fifteen producers: read as they were written, and as sgfmill reads them."""

import re

import numpy as np
import pytest

import games
from config import UserError
from games.line_of_moves import after_moves, stones_of
from games.parameters import values_of
from storage.game_files import FORMS, Record, from_bytes, to_bytes
from support.record_files import KINDS, made

sgfmill = pytest.importorskip("sgfmill.sgf", reason="sgfmill reads SGF too")
COUNT = 300


def read(file, data=None):
    game = games.make(file.spec) if file.form == ".txt" else None
    return from_bytes(file.data if data is None else data, file.form, game, file.number)


def stones(state):
    board = stones_of(state)
    return {name: {tuple(map(int, p)) for p in np.argwhere(board == stone)} for name, stone in (("B", 1), ("W", -1))}


def sgfmill_board(data):
    """Return the stones after the main line by sgfmill's own rules; None where it reads one move of a node only."""
    from sgfmill import sgf_moves

    root = sgfmill.Sgf_game.from_bytes(data)
    board, plays = sgf_moves.get_setup_and_moves(root)
    for node in root.get_main_sequence():
        if sum(len(node.get_raw_list(name)) for name in ("B", "W") if node.has_property(name)) > 1:
            return None
    for colour, move in plays:
        if move is not None:
            board.play(*move, colour)
    size = board.side
    found = {"B": set(), "W": set()}
    for colour, (r, c) in board.list_occupied_points():
        found[colour.upper()].add((size - 1 - r, c))
    return found


@pytest.mark.parametrize("first", range(0, COUNT, 30))
def test_three_hundred_files_are_read_as_they_were_written(first):
    for seed in range(first, first + 30):
        file = made(seed)
        found, wanted = read(file), games.make(file.spec)
        assert (found.game.name, found.game.grid_shape) == (wanted.name, wanted.grid_shape), file
        assert values_of(found.game).get("rule") == values_of(wanted).get("rule"), file
        assert [found.game.move_name(a) for a in found.moves] == file.moves, file
        begin = found.game.start()
        if any(file.setup.values()):
            assert stones(begin) == file.setup, file
        assert begin.playerTurn == file.turn and found.game.white_points(begin) == file.points, file
        if file.result is not None:
            assert found.result == file.result, file
        assert found.players == file.players, file


@pytest.mark.parametrize("first", range(0, COUNT, 60))
def test_three_hundred_files_are_written_and_read_again_as_they_are(first):
    for seed in range(first, first + 60):
        found = read(made(seed))
        for form in FORMS:
            if (form == ".sgf" and found.game.sgf_number is None) or (form == ".txt" and found.game.set_up_from):
                continue
            game = found.game if form == ".txt" else None
            again = from_bytes(to_bytes(found, form), form, game)
            start, began = again.game.start(), found.game.start()
            assert again.moves == found.moves and start.id == began.id, (seed, form)
            assert again.game.white_points(start) == found.game.white_points(began), (seed, form)
            if form != ".txt":
                assert (again.result, again.players, again.stated) == (found.result, found.players, found.stated)


@pytest.mark.parametrize("first", range(0, COUNT, 60))
def test_go_stands_as_sgfmill_has_it(first):
    compared = 0
    for seed in range(first, first + 60):
        file = made(seed)
        if file.kind not in ("fox", "twice", "position", "crowded"):
            continue
        expected, found = sgfmill_board(file.data), read(file)
        if expected is not None:
            assert stones(after_moves(found.game, found.moves)) == expected, file
            compared += 1
    assert compared >= 10


@pytest.mark.parametrize("first", range(0, COUNT, 60))
def test_what_cannot_be_read_is_named_with_its_number(first):
    for seed in range(first, first + 60):
        file = made(seed)
        if file.broken is not None:
            data, number = file.broken
            with pytest.raises(UserError) as error:
                read(file, data)
            line = str(error.value).splitlines()[0]
            assert re.match(rf"move {number}\b", line) and len(line) < 300 and line.isprintable(), (file, line)


def test_the_files_are_of_every_producer_and_none_is_twice():
    files = [made(seed) for seed in range(COUNT)]
    assert len({file.data for file in files}) >= 295  # a few transcripts may be short
    counts = [sum(file.kind == kind.__name__.strip("_") for file in files) for kind in KINDS]
    assert counts == [COUNT // len(KINDS)] * len(KINDS)
    assert {file.form for file in files} == {".sgf", ".psq", ".txt", ".ggf", ".wtb", ".obf", ".json"}
    assert sum(file.broken is not None for file in files) > 200


# ---- by hand: what was found misread, and the formats' own texts

FOX = ("(;GM[1]FF[4]SZ[19]GN[]PB[a]PW[b]KM[50]HA[2]RU[Japanese]AP[GNU Go:3.8]RN[3]RE[W+R]AP[foxwq]RL[0]AB[pd][dp];W[dd]"
       ";B[pp])")
LITTLE_GOLEM = ("(;FF[4]EV[hex.ch.1.1.1]PB[aa]PW[bb]SZ[13]RE[W]GC[ game #2]SO[http://www.littlegolem.com];"
                "W[mf];B[swap];W[kj];B[ie];W[fh];B[ed];W[cd])")
GGF = ("(;GM[Othello]PC[GGS/os]DT[2003.12.15_13:28:02.MST]PB[a]PW[b]RB[2197.01]RW[2199.72]TI[05:00//02:00]TY[8]RE[?]"
       "BO[8 -------- -------- -------- ---O*--- ---*O--- -------- -------- -------- *]B[F5//0.09]W[d6/-3.1/2.5];)")


@pytest.mark.parametrize(
    "text, form, spec, moves, points",
    [
        (FOX, ".sgf", "go(komi=0.5,size=19)", "d16 q4", 0.5),
        ("(;GM[1]SZ[19]KM[375]HA[2]RU[Chinese]AP[foxwq];B[pd];B[dp];W[dd];B[pp])", ".sgf", "go(komi=7.5,size=19)",
         "d16 q4", 9.5),
        ("(;GM[1]FF[4]SZ[9]KM[50]HA[2]RU[Japanese]AP[foxwq]AB[gc][cg];W[cc];B[gg])", ".sgf", "go(komi=0.5,size=9)",
         "c7 g3", 0.5),
        ("(;GM[1]SZ[9]KM[0.5]HA[3]RU[AGA]AB[cc][gg][cg];W[gc])", ".sgf", "go(komi=0.5,size=9)", "g7", 2.5),
        ("(;GM[1]SZ[9]KM[0.5]HA[3]RU[AGA];B[cc];W[gc])", ".sgf", "go(komi=0.5,size=9)", "c7 g7", 0.5),
        ("(;GM[1]SZ[9]KM[0];B[cc];W[tt];B[];W[gg])", ".sgf", "go(komi=0,size=9)", "c7 pass pass g3", 0),
        (LITTLE_GOLEM, ".sgf", "hex(size=13,swap=yes)", "m6 swap k10 i5 f8 e4 c4", 0),
        ("(;GM[11]FF[4]CA[UTF-8]AP[Sabaki:0.60.0]SZ[9];B[a3];W[c1]AE[a3];B[e5];W[d7])", ".sgf", "hex(size=9,swap=yes)",
         "a3 swap e5 d7", 0),
        ("(;GM[4]FF[4]SZ[15]RU[Standard];B[hh];W[ii];B[ig])", ".sgf", "gomoku(rule=exact,size=15)", "h8 i7 i9", 0),
        ("(;GM[4]SZ[15];B[hh];B[ii];W[ig])", ".sgf", "gomoku(size=15)", "i7 i9", 0),
        (GGF, ".ggf", "othello", "f5 d6", 0),
        ("---------------------------OX------XO--------------------------- X", ".obf", "othello", "", 0),
    ],
)
def test_records_by_hand_are_read_as_their_producers_mean_them(text, form, spec, moves, points):
    found = from_bytes(text.encode(), form)
    assert found.game.spec == spec and " ".join(map(found.game.move_name, found.moves)) == moves
    assert found.game.white_points(found.game.start()) == points


def test_what_is_read_in_another_way_is_a_note():
    notes = {
        FOX: "KM[50] is read as komi 0.5",
        "(;GM[1]SZ[19]HA[2]RU[Chinese];B[pd];B[dp];W[dd])": "Black's first 2 moves are the handicap",
        "(;GM[1]SZ[9]HA[2]RU[AGA]AB[cc][gg];W[dd])": "RU[AGA]: White gets 1 point for the handicap",
        "(;GM[1]SZ[9];B[aa];W[bb]B[cc];W[dd])": "move 2: a node with several moves",
        "(;GM[1]SZ[9];B[aa];B[bb];W[dd])": "move 2: B moves twice in a row; the other passes",
        "(;GM[4]SZ[9];B[aa];B[bb];W[dd])": "move 2: B moves twice in a row; the moves before are set up",
        LITTLE_GOLEM: "the side that moves first is its W",
    }
    for text, note in notes.items():
        assert any(note in each for each in from_bytes(text.encode(), ".sgf").notes), text


def test_a_result_of_little_golem_is_that_of_the_sides_that_pb_and_pw_name():
    for winner, loser, result in (("B", "B", 1.0), ("W", "W", -1.0)):
        text = LITTLE_GOLEM.replace("RE[W]", f"RE[{winner}]").replace("W[cd]", f"W[cd];{loser}[resign]")
        found = from_bytes(text.encode(), ".sgf")
        assert found.result == result and found.players == ("aa", "bb")


@pytest.mark.parametrize(
    "data, form, words",
    [
        ("(;FF[4]GM[1]SZ[9]KM[0]AB[cb:aa]AW[ee]PL[B];B[gc])", ".sgf", "AB: expected the top left and the bottom right "
         "corner of a rectangle, got 'cb:aa'"),
        ("(;GM[1]SZ[9]AB[ac:ca];B[gc])", ".sgf", "AB: expected the top left"),
        ("(;GM[4]SZ[9];B[aa];B[aa];W[bb])", ".sgf", "move 2: illegal move a9"),
        ("(;GM[4]SZ[9];B[aa];W[zz];W[bb])", ".sgf", "move 2: expected a free point of gomoku"),
        ("(;GM[11]SZ[9];B[a3];W[c2]AE[a3])", ".sgf", "move 2: expected moves only, got stones set up by AE"),
        ("(;GM[11]SZ[9];B[a3];W[swap-pieces];W[c2])", ".sgf", "move 2: expected a free point of hex"),
        ("hello", ".ggf", "expected (;GM[Othello]"),
        ("(;GM[Go]BO[19];)", ".ggf", "expected a game of GM[Othello], got GM[Go]"),
        ("(;GM[Othello]BO[8 ---- *];)", ".ggf", "BO: expected 64 points, then who moves, got 4 points"),
        ("(;GM[Othello]BO[8 " + "-" * 63 + "? *];)", ".ggf", "BO: expected *, O or - on point 64, got '?'"),
        ("(;GM[Othello]BO[8 " + "-" * 64 + " ?];)", ".ggf", "BO: expected who moves, X or O, got '?'"),
        ("(;GM[Othello]BO[9 " + "-" * 81 + " *];)", ".ggf", "expected size from 4 to 16 in steps of 2, got 9"),
        ("(;GM[Othello]TY[8a];)", ".ggf", "TY: expected Othello, got 8a, in which fewer discs win"),
        ("(;GM[Othello]B[d3]W[c5]X;)", ".ggf", "move 3: expected B[d3] or W[d3], got 'X'"),
        ("(;GM[Othello]W[d3];)", ".ggf", "move 1: expected a move of B, got one of W"),
        (b"WTHOR", ".wtb", "expected a WTHOR file with a head of 16 bytes, got 5 bytes"),
        (b"\x14\x1a\x0b\x1c\x02\0\0\0\0\0\xd1\x07\x08\0\x16\0", ".wtb", "expected 2 games of 68 bytes"),
        (b"\x14\x1a\x0b\x1c\x01\0\0\0\0\0\xd1\x07\x0a\0\x16\0" + bytes(68), ".wtb", "got a board of 10 lines"),
        (b"\x14\x1a\x0b\x1c\x01\0\0\0\0\0\xd1\x07\x08\0\x16\0" + bytes(8) + b"\x38\x09" + bytes(58), ".wtb",
         "move 2: expected 10 * row + column from 11 to 88, got 9"),
        ("X" * 64 + " O\n", ".obf", "expected a position in which somebody can move"),
        ("-" * 63 + " O\n", ".obf", "position 1: expected the points of a square board such as 64, got 63"),
        ("-" * 64 + " 7\n", ".obf", "position 1: expected a board's points, then who moves, as X or O"),
        ("f5d6\n", ".obf", "expected lines of 64 points of X, O and -, then who moves"),
    ],
)
def test_what_is_refused_is_named_with_its_place(data, form, words):
    with pytest.raises(UserError) as error:
        from_bytes(data if isinstance(data, bytes) else data.encode(), form)
    line = str(error.value).splitlines()[0]
    assert words in line and len(line) < 300 and line.isprintable()


def test_points_that_no_rules_give_are_not_lost_in_sgf():
    text = ('{"game": "go(size=9)", "moves": [], "setup": {"black": ["c3", "g7"], "white": [], "turn": "white", '
            '"points": %s}}')
    for points in (2, 1):
        assert from_bytes(to_bytes(from_bytes((text % points).encode(), ".json"), ".sgf"), ".sgf").game.start().score
    with pytest.raises(UserError, match="no rules that SGF names give White 7 points"):
        to_bytes(from_bytes((text % 7).encode(), ".json"), ".sgf")
    for points in ("0", "-1", "true", "1000", '"2"'):
        with pytest.raises(UserError, match="setup: expected black, white and turn"):
            from_bytes((text % points).encode(), ".json")
    with pytest.raises(UserError, match="no points for handicap stones"):
        from_bytes((text.replace("go(size=9)", "gomoku") % 2).encode(), ".json")


def test_a_komi_that_only_hundredths_can_mean_is_never_played():
    for stated, komi in (("50", 0.5), ("-650", -6.5), ("375", 7.5), ("325", 6.5), ("550", 5.5), ("650", 6.5),
                         ("350", 7.0), ("75", 1.5), ("100", 1.0)):
        found = from_bytes(f"(;GM[1]SZ[19]KM[{stated}];B[aa])".encode(), ".sgf")
        assert found.game.komi == komi and any(f"KM[{stated}] is read as komi {komi:g}" in n for n in found.notes)
    own = to_bytes(Record(games.make("go(size=19,komi=50)"), [0], None), ".sgf")
    assert from_bytes(own, ".sgf").game.komi == 50, "our own files name the game"
