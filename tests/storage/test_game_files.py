"""Games as files: what is written is read again, by others too, and what others wrote is read."""

import re

import numpy as np
import pytest

from storage.game_files import Record, from_bytes, to_bytes
from support.game_samples import FORMS, GAMES, WANTED, end_of, played

sgfmill = pytest.importorskip("sgfmill.sgf", reason="sgfmill reads what we write")


# ---- there and back


@pytest.mark.parametrize("spec, form", FORMS)
def test_a_game_written_and_read_again_is_the_same_game(spec, form):
    game = GAMES[spec]
    for seed in range(8):
        record = played(game, seed, whole=seed % 2 == 0)
        expected = record if form != ".txt" else record._replace(players=("", ""), date="")
        assert from_bytes(to_bytes(record, form), form, game) == expected


@pytest.mark.parametrize("spec, form", [(s, f) for s, f in FORMS if f != ".txt" and s in WANTED])
def test_a_file_tells_which_game_it_holds(spec, form):
    record = played(GAMES[spec], 3)
    found = from_bytes(to_bytes(record, form), form)
    assert found.game.spec == GAMES[spec].spec and found._replace(game=record.game) == record


@pytest.mark.parametrize("spec, form", [(s, f) for s, f in FORMS if f != ".txt"])
@pytest.mark.parametrize("result", [1.0, -1.0])
def test_a_game_given_up_keeps_its_result(spec, form, result):
    record = played(GAMES[spec], 1, whole=False)._replace(result=result)
    assert from_bytes(to_bytes(record, form), form, record.game).result == result


@pytest.mark.parametrize("spec", [s for s, game in GAMES.items() if game.sgf_number in (1, 4) and s != "lanes"])
def test_sgfmill_reads_the_same_stones_names_and_winner(spec):
    """Its points are (row, column) from the bottom left; None is a pass."""
    game = GAMES[spec]
    rows, columns = game.grid_shape
    for seed in range(5):
        record = played(game, seed)
        found = sgfmill.Sgf_game.from_bytes(to_bytes(record, ".sgf"))
        stones = [node.get_move() for node in found.get_main_sequence()[1:]]
        assert found.get_size() == rows and found.root.get_raw("GM") == str(game.sgf_number).encode()
        points = [None if a == rows * columns else (rows - 1 - a // columns, a % columns) for a in record.moves]
        assert [point for _, point in stones] == points
        assert [colour for colour, _ in stones] == ["bw"[i % 2] for i in range(len(stones))]
        assert (found.get_player_name("b"), found.get_player_name("w")) == record.players
        assert found.get_winner() == {1: "b", 0: None, -1: "w"}[np.sign(record.result)]
        assert found.root.get("DT") == "2026-02-28"


@pytest.mark.parametrize("spec", [spec for spec, game in GAMES.items() if spec in WANTED and game.sgf_number == 1])
def test_a_game_of_go_played_on_the_board_of_sgfmill_has_the_same_stones(spec):
    from sgfmill import boards, sgf_moves

    game = GAMES[spec]
    for seed in range(5):
        record = played(game, seed, whole=seed % 2 == 0)
        found = sgfmill.Sgf_game.from_bytes(to_bytes(record, ".sgf"))
        board, moves = sgf_moves.get_setup_and_moves(found)
        assert isinstance(board, boards.Board) and len(moves) == len(record.moves)
        for colour, point in moves:
            if point is not None:
                board.play(*point, colour)
        text = "\n".join(line for line in end_of(record).render().splitlines() if re.match(r" ?[0-9 ]?[0-9] ", line))
        marks = re.findall(r"[XO-]", text)
        size = game.grid_shape[0]
        theirs = [board.get(size - 1 - i // size, i % size) for i in range(size * size)]
        assert marks == [{"b": "X", "w": "O", None: "-"}[colour] for colour in theirs]
        if record.result is not None and spec.startswith("go"):
            lead = board.area_score() - found.get_komi()
            assert found.root.get("RE") == (f"B+{lead:g}" if lead > 0 else f"W+{-lead:g}" if lead else "0")


def test_a_transcript_without_passes_is_the_game_that_openspiel_plays_with_its_passes():
    pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel's Othello")
    with_passes = 0
    for seed in range(30):
        record = played(GAMES["othello"], seed)
        text = to_bytes(record, ".txt").decode()
        state, names = pyspiel.load_game("othello").new_initial_state(), re.findall("[a-h][1-8]", text)
        assert "".join(names) + "\n" == text, "one letter and one number a move, passes not told"
        actions = []
        for name in [*names, None]:
            while not state.is_terminal() and state.legal_actions() == [64]:
                actions.append(64)
                state.apply_action(64)
            if name is not None:
                actions.append("abcdefgh".index(name[0]) + 8 * (int(name[1]) - 1))
                state.apply_action(actions[-1])
        assert state.is_terminal() and actions == record.moves and np.sign(state.returns()[0]) == record.result
        with_passes += 64 in actions
    assert with_passes > 5


def test_a_transcript_that_stops_after_a_pass_tells_it():
    cut = 0
    for seed in range(40):
        moves = played(GAMES["othello"], seed).moves
        for end in [i + 1 for i, action in enumerate(moves) if action == 64]:
            record = Record(GAMES["othello"], moves[:end])
            assert from_bytes(to_bytes(record, ".txt"), ".txt", GAMES["othello"]) == record
            cut += 1
    assert cut > 5


def test_a_published_transcript_is_read_to_its_end():
    text = ("F5D6C3D3C4F4F6F3E6E7D7C5B6D8C6C7D2B5A5A6A7G5E3B4C8G6G4C2E8D1F7E2G3H4F1E1F2G1B1F8G8B3H3B2H5B7A3A4A1A2C1H2H1"
            "G2B8A8G7H8H7H6")  # fmt: skip
    record = from_bytes(text.encode(), ".txt", GAMES["othello"])
    assert len(record.moves) == 60 and record.result == 0, "32 discs each"


def test_connect_4_is_a_line_of_digits_and_a_wide_board_a_line_of_numbers():
    assert to_bytes(Record(GAMES["connect4"], [3, 3, 2, 2]), ".txt") == b"4433\n"
    wide = GAMES["connect4(rows=4,columns=12)"]
    assert to_bytes(Record(wide, [11, 0, 9]), ".txt") == b"12 1 10\n"
    for text in (b"4433", b"4 4 3 3\r\n", b"\xef\xbb\xbf4433\n", b" 44\n33 "):
        assert from_bytes(text, ".txt", GAMES["connect4"]).moves == [3, 3, 2, 2]


# ---- from elsewhere


def test_only_the_main_line_of_the_first_game_is_read():
    text = b"junk (;GM[4]SZ[3]C[a \\] (; b];B[aa](;W[bb];B[ca](;W[cc])(;W[ac]))(;W[ba]))\r\n(;GM[4]SZ[3];B[cc])"
    found = from_bytes(text, ".sgf", GAMES["points"])
    assert [found.game.move_name(a) for a in found.moves] == ["a3", "b2", "c3", "c1"] and found.result is None


def test_players_are_read_in_the_encoding_of_the_file_or_in_some_way():
    for charset, name, data in (("ISO-8859-1", "Žofie", "?ofie"), ("GB2312", "柯洁", "柯洁"), ("utf-8", "이", "이")):
        raw = name.encode(charset, "replace")
        text = b"(;GM[4]SZ[3]CA[" + charset.encode() + b"]PB[" + raw + b"]PW[a\\\\b\\]\x07c])"
        assert from_bytes(text, ".sgf", GAMES["points"]).players == (data, "a\\b]c")
    for charset in (b"nonsense", b"zip", b"\xff", b"undefined", b""):
        found = from_bytes(b"(;GM[4]SZ[3]CA[" + charset + b"]PB[\xe9];B[aa])", ".sgf", GAMES["points"])
        assert found.players == ("é", "") and found.moves == [0]


def test_a_name_is_cut_before_it_is_read_and_only_by_encodings_that_are_quick():
    slow = b"(;GM[4]SZ[3]CA[punycode]PB[" + b"a-" + b"b" * 900_000 + b"];B[aa])"
    assert from_bytes(slow, ".sgf", GAMES["points"]).players[0] == ("a-" + "b" * 98)
    for charset, letter in (("utf-8", "柯"), ("GB2312", "柯"), ("cp1251", "ж"), ("Shift_JIS", "日")):
        raw = letter.encode(charset) * 300
        text = b"(;GM[4]SZ[3]CA[" + charset.encode() + b"]PB[x" + raw + b"];B[aa])"
        assert from_bytes(text, ".sgf", GAMES["points"]).players[0] == "x" + letter * 99


@pytest.mark.parametrize("told_result, result", [("B+R", 1), ("W+T", -1), ("w+3.5", -1), ("Void", None), ("?", None),
                                                  ("0", 0), ("Draw", 0), ("", None), ("nobody", None)])  # fmt: skip
def test_the_result_of_a_game_that_stopped_is_the_one_told(told_result, result):
    text = f"(;GM[4]SZ[3]RE[{told_result}];B[aa])".encode()
    assert from_bytes(text, ".sgf", GAMES["points"]).result == result


def test_the_result_of_a_game_played_out_is_the_one_told_and_the_difference_is_named():
    text = b"(;GM[4]SZ[3]RE[W+];B[aa];W[ba];B[ab];W[bb];B[ac])"
    found = from_bytes(text, ".sgf", GAMES["points"])
    assert found.result == -1 and found.notes == ("the file says W+, which is kept; by our rules it is B+",)
    assert from_bytes(text.replace(b"RE[W+]", b""), ".sgf", GAMES["points"]).result == 1


def test_the_game_of_a_file_from_elsewhere_follows_from_number_size_and_rule():
    for text, spec in ((b"SZ[15]", "gomoku(size=15)"), (b"SZ[15]RU[Renju]", "gomoku(rule=renju,size=15)"),
                       (b"SZ[9]RU[tournament]GC[a fine game]", "gomoku"), (b"", "gomoku")):  # fmt: skip
        found = from_bytes(b"(;GM[4]" + text + b";B[ca])", ".sgf")
        assert found.game.spec == spec and found.moves == [2]


def test_the_komi_of_a_go_file_from_elsewhere_is_kept_and_tt_is_a_pass():
    found = from_bytes(b"(;SZ[9]KM[6.50]RU[Japanese]HA[0]AB[];B[ee];W[tt];B[])", ".sgf")
    assert found.game.spec == "go(komi=6.5,size=9)" and found.moves == [40, 81, 81] and found.result == 1
    assert from_bytes(b"(;FF[4];B[qd])", ".sgf").game.spec == "go(komi=0,size=19)"


def test_a_comment_that_is_a_name_of_ours_counts_where_it_fits_the_rest():
    for text, spec in ((b"GM[1]SZ[19]GC[go]", "go(komi=0,size=19)"), (b"GM[4]SZ[15]GC[gomoku]", "gomoku(size=15)"),
                       (b"GM[1]SZ[9]GC[go(a comment)]", "go(komi=0,size=9)"), (b"GM[1]SZ[5]GC[littlego]", "littlego"),
                       (b"GM[4]GC[gomoku(size=15)]SZ[15]", "gomoku(size=15)")):  # fmt: skip
        assert from_bytes(b"(;" + text + b";B[ba])", ".sgf").game.spec == spec, text
