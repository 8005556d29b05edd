"""Files that are no game, or not the one expected, are refused in one line; nothing else ever happens."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config import UserError
from games.openspiel import check_harmless
from storage import game_files
from storage.game_files import LIMIT, from_bytes, to_bytes
from support.game_samples import FORMS, GAMES, played

pytest.importorskip("sgfmill.sgf", reason="sgfmill reads SGF")


def refused(data, form, game=None):
    """Return the line with which a file's content is refused."""
    with pytest.raises(UserError) as raised:
        from_bytes(data, form, game)
    return str(raised.value)


LONG = b"[" * 200_000
FOREIGN = [
    (b"", "the file is empty"),
    (b" \r\n", "the file is empty"),
    (b"\xef\xbb\xbf", "expected"),
    ("(;GM[4])".encode("utf-16"), "UTF-16 or no text"),
    (b"\x89PNG\r\n\x1a\n\0\0", "UTF-16 or no text"),
    (b"\x80\x81\x82", "expected"),
    (b"x" * (LIMIT + 1), "at most 1,000,000 bytes"),
]
SGF = [
    (b"hello", "no SGF data"),
    (b"(;GM[4]SZ[3]", "unexpected end"),
    (b"(;" * 300_000, "unexpected end"),
    (b"(;GM[4]SZ[3]PL)", "no values"),
    (b"(;GM[1]SZ[3];B[aa])", "expected a game of tictactoe (GM 4), got GM '1'"),
    (b"(;SZ[3];B[aa])", "(GM 4), got GM '1'"),
    (b"(;GM[4]SZ[15];B[aa])", "expected a board of 3 for tictactoe, got 15"),
    (b"(;GM[4]SZ[3:2];B[aa])", "expected a board of 3"),
    (b"(;GM[4]SZ[3]AB[aa][bb];W[cc])", "expected moves only, got stones set up, which tictactoe does not have"),
    (b"(;GM[4]SZ[3];B[aa];AE[aa];W[cc])", "stones set up by AE"),
    (b"(;GM[4]SZ[3];B[aa];W[ba];B[aa])", "move 3: illegal move a3"),
    (b"(;GM[4]SZ[3];B[aa];B[ba])", "move 2: expected a move of W, got one of B"),
    (b"(;GM[4]SZ[3];B[aa];W[ad])", "move 2: expected two letters of a board of 3 x 3, got 'ad'"),
    (b"(;GM[4]SZ[3];B[aa];W[])", "move 2: expected a point, got a pass"),
    (b"(;GM[4]SZ[3];B[aa][bb])", "move 2: expected a move of W, got one of B"),
    (b"(;GM[4]SZ[3];B[\xff\x07])", "move 1: expected two letters"),
    (b"(;GM[4]SZ[3]AB[ad];W[cc])", "AB: expected two letters of a board of 3 x 3, got 'ad'"),
]
JSON = [
    (b"{", "expected JSON"), (LONG, "expected JSON"), (b'{"a":' * 100_000, "expected JSON"),
    (b"[]", "an object, got []"), (b"4433", "an object, got 4433"),
    (b"{}", "game: expected the name of a game, got null"),
    (b'{"game": "tictactoe"}', "moves: expected a list of names, got null"),
    (b'{"game": "tictactoes", "moves": []}', "did you mean 'tictactoe'"),
    (b'{"game": 3, "moves": []}', "game: expected the name of a game, got 3"),
    (b'{"game": "../etc", "moves": []}', "expected a game out of"),
    (b'{"game": "connect4(rows=99999)", "moves": []}', "whole number for rows"),
    (b'{"game": "tictactoe", "moves": [1]}', "moves: expected a list of names, got [1]"),
    (b'{"game": "tictactoe", "moves": ["b2", "b2"]}', "move 2: illegal move b2"),
    (b'{"game": "tictactoe", "moves": ["b2", "\\ud800"]}', "move 2: expected a move such as 'a3', got '\\ud800'"),
    (b'{"game": "tictactoe", "moves": ["a3","b2","b3","c1","c3","a1"]}', "move 6: illegal move a1 (the game is over)"),
    (b'{"game": "tictactoe", "moves": ["a3","b2","b3","c1","c3"], "result": -1}', "expected 1 by the rules, got -1"),
    (b'{"game": "tictactoe", "moves": [], "result": 0.5}', "result: expected 1, 0, -1 or null"),
    (b'{"game": "tictactoe", "moves": [], "result": NaN}', "expected JSON"),
    (b'{"game": "tictactoe", "moves": [], "result": 1e400}', "result: expected a number from -1 to 1 or null"),
    (b'{"game": "tictactoe", "moves": [], "result": true}', "result: expected a number"),
    (b'{"game": "tictactoe", "moves": [], "result": ' + b"9" * 5000 + b"}", "expected"),
    (b'{"game": "tictactoe", "moves": [], "players": ["a"]}', "players: expected two names"),
    (b'{"game": "tictactoe", "moves": [], "players": ["a", "\\u001b[2J"]}', "players: expected two names"),
    (b'{"game": "tictactoe", "moves": [], "date": "yesterday"}', "date: expected a day"),
    (b'{"game": "tictactoe", "moves": [], "sgf": 1}',
     "expected game, moves, result, players, date, stated, setup, seconds, forfeit only, got 'sgf'"),
    (b'{"game": "go", "moves": [], "setup": {"black": ["a1"]}}', "setup: expected black, white and turn"),
    (b'{"game": "go", "moves": [], "setup": {"black": ["pass"], "white": [], "turn": "black"}}', "free point"),
    (b'{"game": "go", "moves": [], "setup": {"black": ["a1"], "white": ["a1"], "turn": "black"}}', "free point"),
    (b'{"game": "go(size=2)", "moves": [], "setup": {"black": ["a1"], "white": ["a2", "b1"], "turn": "black"}}',
     "every chain has a liberty"),
    (b'{"game": "gomoku(size=3,n=2)", "moves": [], "setup": {"black": ["a1", "a2"], "white": [], "turn": "white"}}',
     "nobody has won"),
    (b'{"game": "connect4", "moves": [], "setup": {"black": [], "white": [], "turn": "white"}}', "does not have"),
    *((b'{"game": "go", "moves": [], "setup": {"black": ["a1"], "white": [], "turn": "white", "points": %b}}' % points,
       "setup: expected black, white and turn") for points in (b"0.3", b"0", b"-2", b"true", b"362", b"1e400")),
    (b'{"game": "tictactoe", "moves": [], "stated": {"winner": "x"}}', "stated: expected result, rules, handicap"),
]  # fmt: skip
TEXT = [(b"4438", "expected a move such as '1', got '8'"), (b"4444444", "move 7: illegal move 4"),
        (b"4" * 2000, "at most 1,780 characters"), (b"4\x1b", "expected a move"),
        ("4４".encode(), "expected a move")]  # fmt: skip
REFUSED = [(data, form, words) for data, words in FOREIGN for form in game_files.READ if form != ".wtb"]
REFUSED += [(data, ".wtb", words if words[:2] in ("th", "at") else "WTHOR") for data, words in FOREIGN]
REFUSED += [(data, ".sgf", words) for data, words in SGF] + [(data, ".json", words) for data, words in JSON]
REFUSED += [(data, ".txt", words) for data, words in TEXT]


@pytest.mark.parametrize("data, form, words", REFUSED, ids=lambda x: repr(x[:40]))
def test_a_file_that_is_no_game_is_refused_in_a_line_with_the_number_of_the_move(data, form, words):
    game = {".sgf": GAMES["points"], ".txt": GAMES["connect4"]}.get(form)
    line, *board = refused(data, form, game).splitlines()
    assert words in line and len(line) < 300 and line.isprintable()
    assert bool(board) == ("illegal" in line), "an illegal move is told with the board"


def test_a_file_of_another_game_is_refused():
    data = to_bytes(played(GAMES["tictactoe"], 0), ".json")
    assert refused(data, ".json", GAMES["connect4"]) == "expected a game of connect4, got one of tictactoe"
    same = b'{"game": "connect4( rows=6, columns=7 )", "moves": ["4"]}'
    assert from_bytes(same, ".json", GAMES["connect4"]).moves == [3]
    assert "does not name its game" in refused(b"4433", ".txt")
    assert "connect4 has no form in SGF" in refused(b"(;GM[4]SZ[7];B[aa])", ".sgf", GAMES["connect4"])
    assert "expected a game of GM 1, 4, 11, got GM '3'" in refused(b"(;GM[3])", ".sgf")
    if "go" in GAMES:
        assert refused(b"(;KM[7.5]SZ[5])", ".sgf", GAMES["go"]) == "expected komi 2.5 for go, got 7.5"


def answered(data, form, game=None):
    """Read what may be anything: a record of legal moves comes, or one `UserError`."""
    try:
        found = from_bytes(data, form, game)
    except UserError as error:
        assert str(error).strip()
        return False
    assert from_bytes(to_bytes(found, ".json"), ".json", found.game).moves == found.moves
    return True


@pytest.mark.parametrize("spec", ["{}:Evil", "{}", "tictactoe({}:Evil)", "{}(size=3)"])
def test_no_code_is_run_because_a_file_names_it(spec, tmp_path, monkeypatch):
    loaded = []
    monkeypatch.setattr("games.own.load", lambda spec: loaded.append(spec) or GAMES["tictactoe"])
    spec = spec.format(tmp_path / "evil.py")
    data = json.dumps({"game": spec, "moves": []}).encode()
    assert "named with --game" in refused(data, ".json")
    assert "expected a game of connect4" in refused(data, ".json", GAMES["connect4"])
    for text in (f"GM[4]GC[{spec}]", f"GM[7]GC[{spec}]", f"GM[4]RU[{spec}]SZ[3]", f"SZ[{spec}]", f"KM[{spec}]"):
        answered(f"(;{text})".encode(), ".sgf")
    assert loaded == []


OPENING = [
    "efg_game(filename={})", "nfg_game(filename={})", "efg_game(filename=1)", "nfg_game", "misere(game=efg_game)",
    "misere(game=nfg_game(filename={}))", "bargaining(instances_file={})", "bargaining(instances_file=1)",
    "crossword(puzzles_root=words)", "hex(board_size={})", "hex({})", "hex(secret)", "chess(fen={})", "{}",
]  # fmt: skip


@pytest.mark.parametrize("inside", OPENING)
def test_no_game_of_openspiel_opens_a_file_because_a_record_names_it(inside, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr("games.openspiel.probe", asked.append)
    (tmp_path / "secret.txt").write_text("the secret\n")
    spec = "open_spiel:" + inside.format(tmp_path / "secret.txt")
    for game in (None, GAMES["tictactoe"]):
        line = refused(json.dumps({"game": spec, "moves": []}).encode(), ".json", game)
        assert "named with --game" in line and line.isprintable()
        answered(f"(;GM[4]GC[{spec}])".encode(), ".sgf", game)
    assert asked == []


@pytest.mark.parametrize("inside", [
    "hex", " hex( board_size = 5 )", "go(board_size=3,komi=-2.5)", "hex(board_size=3,swap=True)", "nim(pile_sizes=1;2)",
    "misere(game=hex(board_size=3))", "start_at(game=tic_tac_toe(),history=0;1)", "2048",
])  # fmt: skip
def test_games_of_openspiel_with_numbers_may_be_named_by_a_record(inside):
    check_harmless(inside)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6)
    | st.sampled_from(["tictactoe", "connect4", "b2", "a3", "4", "2026-02-28", -1, 0, 1]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)  # fmt: skip
FIELDS = {"game": st.just("tictactoe") | VALUES, "moves": st.lists(st.sampled_from(["b2", "a1", "c3"])) | VALUES}
OBJECTS = st.fixed_dictionaries(FIELDS, optional=dict.fromkeys(["result", "players", "date", "more"], VALUES))


@settings(max_examples=300, deadline=None)
@given(OBJECTS | VALUES)
def test_any_json_is_a_game_or_refused(values):
    answered(json.dumps(values).encode(), ".json")


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from([*"(;)[]\\ BW", "AB", "SZ[3]", "GM[4]", "B[aa]", ";W[bb]", ";B[ca]", "CA[", "KM[1"]))
       | st.binary(max_size=60))  # fmt: skip
def test_any_sgf_is_a_game_or_refused(parts):
    data = parts if isinstance(parts, bytes) else ("(;GM[4]SZ[3]" + "".join(parts) + ")").encode()
    answered(data, ".sgf", GAMES["points"])
    answered(data, ".sgf")


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(FORMS), st.integers(0, 20), st.integers(0), st.integers(0, 255), st.booleans())
def test_a_game_with_a_byte_changed_or_cut_off_is_a_game_or_refused(kind, seed, place, byte, cut):
    spec, form = kind
    data = to_bytes(played(GAMES[spec], seed), form)
    place %= len(data)
    answered(data[:place] if cut else data[:place] + bytes([byte]) + data[place + 1 :], form, GAMES[spec])


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(["1,1,0", "3,2", "15,15,9", "16,1,0", "a,b", "-1", "Ann", "1,Renju", "", ",", "2;2"]))
       | st.lists(st.text(max_size=8)))  # fmt: skip
def test_any_psq_is_a_game_or_refused(lines):
    answered("\n".join(["Piskvorky 15x15, 11:11, 0", *lines]).encode("utf-8", "replace"), ".psq")
