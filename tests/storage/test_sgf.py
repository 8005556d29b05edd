"""SGF files from elsewhere: what they state is kept, as sgfmill reads it, and differences from our rules are named."""

import numpy as np
import pytest

import games
from config import UserError
from games.line_of_moves import after_moves, follow, stones_of
from games.sgf_words import go_rules_of, komi_of
from storage.game_files import Record, from_bytes, to_bytes
from storage.sgf_facts import result_of
from support.sgf_files import one

sgfmill = pytest.importorskip("sgfmill.sgf", reason="sgfmill reads SGF too")


def read(text, **options):
    return from_bytes(text.encode() if isinstance(text, str) else text, ".sgf", **options)


def in_utf8(made):
    """Return a file for sgfmill, which parses before it decodes and knows no size such as 9:9."""
    charset = made.charset or "utf-8"
    text = made.data.decode("utf-8-sig" if charset.lower() == "utf-8" else charset)
    text = text.replace(f"[{made.size}:{made.size}]", f"[{made.size}]")
    return text.replace(f"CA[{made.charset}]", "CA[UTF-8]").encode()


def stones(game):
    """Return {colour: points (row, column)} of the position with which a game begins."""
    board = stones_of(game.start())
    return {name: {tuple(map(int, p)) for p in np.argwhere(board == stone)} for name, stone in (("B", 1), ("W", -1))}


def points(record):
    """Return (colour, point or None) of a game's moves."""
    size, states = record.game.grid_shape[0], follow(record.game, record.moves)
    return [
        ("B" if state.playerTurn == 1 else "W", None if action == size * size else divmod(action, size))
        for action, state in zip(record.moves, states, strict=False)
    ]


@pytest.mark.parametrize("first", range(0, 200, 20))
def test_two_hundred_files_are_read_as_they_were_written_and_as_sgfmill_reads_them(first):
    from sgfmill import sgf_moves

    for seed in range(first, first + 20):
        made = one(seed)
        found, theirs = read(made.data), sgfmill.Sgf_game.from_bytes(in_utf8(made))
        size = made.size
        board, plays = sgf_moves.get_setup_and_moves(theirs)
        stood = board.list_occupied_points()
        board = {c: {(size - 1 - r, k) for colour, (r, k) in stood if colour == c.lower()} for c in "BW"}
        plays = [(c.upper(), None if p is None else (size - 1 - p[0], p[1])) for c, p in plays]
        assert points(found) == made.moves == plays, made.data
        assert stones(found.game) == made.setup == board, made.data
        assert found.game.grid_shape == (size, size) and theirs.get_size() == size
        assert found.result == made.result, made.data
        winner = {"b": 1, "w": -1}.get(theirs.get_winner())
        assert made.result in (winner, 0, None) and (winner is None) == (made.result in (0, None))
        assert found.game.komi == made.komi, made.data
        if made.stated_komi.strip() in ("", "0", "6.5", "7.50", "-3.5", "0.5", "+5.5"):
            assert theirs.get_komi() == made.komi
        assert found.players == made.players == (theirs.get_player_name("b"), theirs.get_player_name("w"))
        assert found.stated.get("rules", "") == made.rules
        assert found.stated.get("handicap", "0") == str(theirs.get_handicap() or 0) == str(made.handicap)
        assert any("comment" in note and "unknown property (XX)" in note for note in found.notes)
        for form in (".sgf", ".json"):
            again = from_bytes(to_bytes(found, form), form)
            assert stones(again.game) == made.setup
            assert again._replace(game=0, notes=()) == found._replace(game=0, notes=()), form


def test_the_files_hold_what_is_to_be_shown():
    files = [one(seed) for seed in range(200)]
    text = b"".join(made.data for made in files)
    assert {made.size for made in files} == set(range(5, 20)) and len({made.data for made in files}) == 200
    for part in ("[375]", "KoMi[", "\\]", "AddBlack[", "White[", "(;W[aa]", "[tt]", "[]", "\r\n", "\ufeff", "PL[W]"):
        assert part.encode() in text, part
    pairs = [a[1] is None is b[1] for made in files for a, b in zip(made.moves, made.moves[1:-1], strict=False)]
    assert sum(pairs) > 30, "play after two passes"
    trails = [made.players[0].encode(made.charset) for made in files if made.charset in ("Shift_JIS", "Big5", "GBK")]
    assert sum(b"\\" in name or b"]" in name for name in trails) > 60, "letters with the byte of a bracket"


# ---- results


DEAD = ("(;GM[1]SZ[9]KM[5.5]RU[Japanese]RE[{}];B[da];W[ea];B[db];W[eb];B[dc];W[ec];B[dd];W[ed];B[de];W[ee];B[df];W[ef]"
        ";B[dg];W[eg];B[dh];W[eh];B[di];W[ei];B[he];W[];B[])")  # fmt: skip


def test_a_result_with_dead_stones_is_the_players_own_and_the_difference_is_named():
    found = read(DEAD.format("W+14.5"))
    assert found.result == -1 and found.stated == {"result": "W+14.5", "rules": "Japanese"}
    end = after_moves(found.game, found.moves)
    assert end.value * end.playerTurn > 0, "by our count Black won"
    notes = [note for note in found.notes if "W+14.5" in note]
    assert len(notes) == 1 and "by our rules it is B+22.5" in notes[0] and "dead" in notes[0]
    assert b"RE[W+14.5]" in to_bytes(found, ".sgf") and b"RU[Japanese]" in to_bytes(found, ".sgf")
    assert from_bytes(to_bytes(found, ".json"), ".json").result == -1


@pytest.mark.parametrize("text, result", [
    ("B+R", 1), ("b+resign", 1), ("W+T", -1), ("W+F", -1), ("B+", 1), ("W+0.5", -1), ("W + 3", -1), ("Black wins", 1),
    ("W won by 3", -1), ("B+R, after 3 hours", 1), ("0", 0), ("0.0", 0), ("Jigo", 0), ("DRAW by agreement", 0),
    ("Void", None), ("?", None), ("", None), ("unfinished", None), ("0.5", None), ("drawn out", None), ("Bob", None),
    ("0-1", None), ("1-0", None), ("0 - 0", None), ("0:1", None),
])  # fmt: skip
def test_a_result_is_read_in_each_of_its_forms(text, result):
    assert result_of(text) == result


def test_a_result_that_is_void_is_kept_and_one_that_is_missing_is_counted():
    assert read(DEAD.format("Void")).result is None and read(DEAD.format("Void")).stated["result"] == "Void"
    for text in ("?", ""):
        found = read(DEAD.format(text))
        assert found.result == 1 and any("states no result: by our count it is B+22.5" in n for n in found.notes)
    assert any("RE[unclear] names no result" in note for note in read(DEAD.format("unclear")).notes)


# ---- komi and rules


@pytest.mark.parametrize("text, komi, said", [
    ("", 0, "states no komi"), ("0", 0, ""), ("7.5", 7.5, ""), ("-5.5", -5.5, ""), ("375", 7.5, "komi 7.5"),
    ("325", 6.5, "komi 6.5"), ("275", 5.5, "komi 5.5"), ("350", 7, "komi 7"), ("550", 5.5, "5.5"), ("650", 6.5, "6.5"),
    ("750", 7.5, "7.5"), ("700", 7, "7"), ("3.75", 7.5, "7.5"), ("2.75", 5.5, "5.5"), ("6,5", 6.5, ""),
    ("6.5 points", 6.5, "6.5"), ("6.3", 6.5, "6.5"), ("lots", 0, "no number"), ("1234567", 0, "not possible"),
    ("9" * 99, 0, "not possible"),
])  # fmt: skip
def test_a_komi_is_read_as_servers_write_it_and_what_is_changed_is_named(text, komi, said):
    found, note = komi_of(text, 361)
    assert found == komi and said in note and bool(note) == bool(said) and len(note) < 90


def test_a_game_without_komi_has_none():
    text = DEAD.replace("KM[5.5]", "").format("B+1")
    assert read(text).game.spec == "go(komi=0,size=9)" and sgfmill.Sgf_game.from_bytes(text.encode()).get_komi() == 0


@pytest.mark.parametrize("text, parameters, said", [
    ("Japanese", {}, "territory"), ("korean", {}, "territory"), ("Chinese, Pair Go", {}, "simple ko"),
    ("AGA", {}, "simple ko"), ("NZ", {"suicide": "yes"}, "simple ko"), ("New Zealand", {"suicide": "yes"}, "simple ko"),
    ("GOE", {"suicide": "yes"}, "simple ko"), ("Standard", {}, "not known here"), ("", {}, ""),
    ("Tromp-Taylor", {"ko": "superko", "suicide": "yes"}, ""),
])  # fmt: skip
def test_rules_are_kept_and_what_ours_do_differently_is_named(text, parameters, said):
    assert go_rules_of(text)[0] == parameters and said in go_rules_of(text)[1]
    assert bool(said) == bool(go_rules_of(text)[1])


# ---- moves


def test_moves_after_two_passes_are_played_and_a_game_may_be_longer_than_ours():
    text = DEAD.format("W+14.5").replace("B[he];W[];B[]", "B[];W[];B[];W[];B[hh];W[];B[]")
    found = read(text)
    assert len(found.moves) == 25 and after_moves(found.game, found.moves).isEndGame
    passes = "".join(f";{'BW'[i % 2]}[]" for i in range(60))
    for rules, plies in (("", 100), ("RU[tromp]", 100)):
        found = read(f"(;GM[1]SZ[5]{rules}{passes})")
        assert len(found.moves) == 60 and found.game.max_plies == plies and not found.moves[60:]
    assert read(f"(;GM[1]SZ[5]{passes})").game.spec == "go(komi=0)", "its networks play it"
    passes = "".join(f";{'BW'[i % 2]}[]" for i in range(120))
    with pytest.raises(UserError, match="move 101: illegal move pass"):
        read(f"(;GM[1]SZ[5]{passes})")


def test_bytes_that_look_like_brackets_are_letters_of_the_encoding_that_the_file_names():
    for charset, name in (("Shift_JIS", "白石表"), ("Big5", "許功蓋"), ("GBK", "誠乗")):
        for text in ("(;GM[1]SZ[9]CA[{0}]PB[{1}];B[ee];W[cc])", "(;GM[1]SZ[9]PB[{1}]CA[{0}];B[ee];W[cc])"):
            data = text.format(charset, name).encode(charset)
            assert b"\\" in data or b"]" in name.encode(charset), "else the test shows nothing"
            found = read(data)
            assert len(found.moves) == 2 and found.players[0] == name
    found = read("(;GM[1]SZ[9]C[CA[Big5 \\] CA[Shift_JIS\\]]CA[GBK]PB[柯洁];B[ee])".encode("gbk"))
    assert found.players[0] == "柯洁", "a comment names no encoding"
    odd = read(b"(;GM[1]SZ[9]PB[\xe9];B[ee])")
    assert odd.players[0] == "é" and any("(CA)" in note for note in odd.notes)


def test_one_of_several_games_is_read_by_its_number():
    text = "(;GM[1]SZ[9]KM[0];B[aa])(;GM[1]SZ[5]KM[0];B[bb];W[cc])"
    assert len(read(text).moves) == 1 and "2 games: this is game 1" in read(text).notes[0]
    assert len(read(text, number=2).moves) == 2
    for number in (3, 0, -1):
        with pytest.raises(UserError, match=f"expected a game from 1 to 2, got {number}"):
            read(text, number=number)


def test_a_pass_in_renju_is_named_with_its_number():
    with pytest.raises(UserError, match="move 3: expected a point, got a pass, which gomoku does not have"):
        read("(;GM[4]SZ[15]RU[renju];B[hh];W[hi];B[])")


# ---- set up


def test_a_handicap_game_begins_with_its_stones_and_white_to_move():
    found = read("(;GM[1]SZ[9]KM[0.5]HA[2]AB[cc:dc][gg]AE[gg]AW[ee];W[dd];B[gc])")
    assert stones(found.game) == {"B": {(2, 2), (2, 3)}, "W": {(4, 4)}}
    assert found.game.start().playerTurn == -1 and found.game.spec == "go(komi=0.5,size=9)"
    last = after_moves(found.game, found.moves)
    assert np.count_nonzero(stones_of(last)) == 5 and found.stated["handicap"] == "2"
    for form in (".sgf", ".json"):
        again = from_bytes(to_bytes(found, form), form)
        assert stones(again.game) == stones(found.game) and points(again) == points(found)
    with pytest.raises(UserError, match="stones set up, .txt holds moves only"):
        to_bytes(found, ".txt")


def test_who_begins_follows_from_the_first_move_or_pl_or_the_stones():
    for text, turn in (("AB[cc];B[dd]", 1), ("AB[cc]PL[B]", 1), ("AB[cc]", -1), ("AB[cc]AW[dd]", 1), ("PL[W]", -1),
                       (";W[dd]", -1), ("AB[]AW[]", 1)):  # fmt: skip
        assert read(f"(;GM[1]SZ[9]KM[0]{text})").game.start().playerTurn == turn, text


def test_stones_set_up_later_are_refused_with_the_number_of_the_move():
    with pytest.raises(UserError, match="move 2: expected moves only, got stones set up by AW"):
        read("(;GM[1]SZ[9];B[aa];AW[bb];W[cc])")
    with pytest.raises(UserError, match="every chain has a liberty"):
        read("(;GM[1]SZ[9]AB[aa]AW[ab][ba];B[cc])")


def test_a_position_of_gomoku_set_up_is_the_one_played():
    moves = [7 * 15 + 7, 7 * 15 + 8, 8 * 15 + 8, 6 * 15 + 6, 9 * 15 + 7]
    for rule in ("freestyle", "renju"):
        game = read(f"(;GM[4]SZ[15]RU[{rule}]AB[hh][ii][hj]AW[ih][gg]PL[W])").game
        played = after_moves(game.set_up_from, moves)
        found, there = game.start(), played.row.copy()
        there[4] = -1  # the last stone is not known
        assert np.array_equal(found.row, there) and found.allowedActions == played.allowedActions
    record = Record(game, [0], None)
    assert stones(from_bytes(to_bytes(record, ".sgf"), ".sgf").game) == stones(game)


# ---- Hex: points by letter and number, and moves that are none


def test_a_game_of_hex_from_elsewhere_is_read():
    found = read("(;FF[4]GM[11]SZ[5]PB[Ann]PW[Bo];B[a3];W[swap-pieces];B[C3];W[d2];B[resign])")
    assert (found.game.spec, found.result, found.players) == ("hex(size=5,swap=yes)", -1.0, ("Ann", "Bo"))
    assert found.game.format_moves(found.moves) == "a3 swap c3 d2"
    assert read("(;FF[4]GM[11];B[k11];W[a1])").game.spec == "hex", "the usual size is 11"
    assert read("(;GM[11]SZ[4]RE[B+];B[a1];W[forfeit])").result == 1.0
    stood = read("(;FF[4]GM[11]SZ[4]AB[b2][c1]AW[d4]PL[W];W[a1])")
    assert stones(stood.game) == {"B": {(1, 1), (0, 2)}, "W": {(3, 3)}} and stood.moves == [0]
    assert b"AB[c1][b2]" in to_bytes(stood, ".sgf") and from_bytes(to_bytes(stood, ".sgf"), ".sgf").moves == [0]


def test_a_swap_is_written_as_sgf_has_it_and_other_moves_of_hex_are_refused():
    game = games.make("hex(size=4,swap=yes)")
    written = to_bytes(Record(game, game.parse_moves("b1 swap d3"), None), ".sgf")
    assert b";B[b1];W[swap-pieces];B[d3]" in written.replace(b"\n", b"") and b"GM[11]" in written
    assert from_bytes(written, ".sgf").moves == [1, 16, 11]
    for point in ("swap-sides", "aa", "", "e1", "tt"):
        with pytest.raises(UserError, match="move 2: expected a move such as 'a1'"):
            read(f"(;GM[11]SZ[4]RU[swap];B[b1];W[{point}])")
    with pytest.raises(UserError, match="expected size from 3 to 19, got 20"):
        read("(;GM[11]SZ[20];B[b1])")
