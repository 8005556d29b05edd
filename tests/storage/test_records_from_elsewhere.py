"""Records of other programs that are no SGF: Piskvork's .psq, transcripts of Othello, Connect 4 and gomoku."""

import pytest

import games
from config import UserError
from games.connect4 import split_score
from games.line_of_moves import after_moves
from storage.game_files import from_bytes, load_game, save
from support.game_samples import GAMES, played

HEAD = "Piskvorky 15x15, 11:11, 0\n"
SIX = "1,1,5\n1,2,5\n2,1,5\n2,2,5\n3,1,5\n3,2,5\n5,1,5\n5,2,5\n6,1,5\n6,2,5\n4,1,5\n"
"""Black's last stone makes six in a row."""


def psq(text, game=None):
    return from_bytes(text.encode(), ".psq", game)


# ---- .psq


def test_a_record_of_piskvork_has_its_size_and_points_from_1_at_the_top_left():
    found = psq(HEAD + "8,8,0\n9,9,100\n15,1,3\n-1\n")
    assert found.game.spec == "gomoku(size=15)" and found.moves == [7 * 15 + 7, 8 * 15 + 8, 14]
    assert found.result is None and found.players == ("", "")
    assert found.notes == ("the file names no rule: the game is read as freestyle",)


def test_the_lines_after_the_moves_are_the_players_and_the_division():
    for division, spec in (("Freestyle15_1", "gomoku(size=15)"), ("Standard", "gomoku(rule=exact,size=15)"),
                           ("Renju", "gomoku(rule=renju,size=15)"), ("Caro", "gomoku(size=15)")):  # fmt: skip
        found = psq(HEAD + f"8,8,0\nAnn.zip\nBob.zip\n-1\n1,{division}\n")
        assert found.game.spec == spec and found.players == ("Ann.zip", "Bob.zip"), division
        assert f"left out: '1,{division}' after the moves" in found.notes
    assert psq(HEAD.replace("0\n", "1\n") + "8,8,0\nAnn\nBob\n15\n").players == ("Bob", "Ann"), "player 2 began"
    assert from_bytes(HEAD.encode() + b"8,8,0\r\nAnn\r\nJos\xe9\r\n-1\r\n", ".psq").players == ("Ann", "José")


def test_a_row_of_six_is_won_in_freestyle_and_a_game_that_goes_on_after_it_is_of_the_exact_rule():
    found = psq(HEAD + SIX + "-1\n")
    assert found.result == 1 and found.game.spec == "gomoku(size=15)"
    found = psq(HEAD + SIX + "9,9,5\n-1\n")
    assert found.game.spec == "gomoku(rule=exact,size=15)" and found.result is None and len(found.moves) == 12
    assert found.notes == ("the file names no rule: the game is read as exact: six in a row did not end it",)
    with pytest.raises(UserError, match="move 12: illegal move"):
        psq(HEAD + SIX + "9,9,5\n-1\n", games.make("gomoku(size=15)"))


@pytest.mark.parametrize("text, words", [
    ("hello\n", "expected a first line such as 'Piskvorky 15x15, 11:11, 0', got 'hello'"),
    ("Piskvorky 15x20, 0:0, 0\n", "expected a square board, got 15 x 20"),
    ("Piskvorky 30x30, 0:0, 0\n1,1,0\n", "gomoku: expected size from 3 to 22, got 30"),
    (HEAD + "8,8,0\n16,8,0\n-1\n", "move 2: expected x and y from 1 to 15, got 16,8"),
    (HEAD + "8,8,0\n0,8,0\n-1\n", "move 2: expected x and y from 1 to 15, got 0,8"),
    (HEAD + "8,8,0\n8,8,0\n-1\n", "move 2: illegal move h8"),
    (HEAD + "8,8,0\nx,y\n9,9,0\n-1\n", "move 2: expected x,y,ms, then the end of the moves, got 'x,y'"),
    (HEAD + "8,8,0\n9;9;0\n-1\n", "move 2: expected x,y,ms, then the end of the moves, got '9;9;0'"),
    (HEAD + "8,8,0\n9;9;0\n9;8;0\n-1\n", "move 2: expected x,y,ms"),
])  # fmt: skip
def test_what_is_no_record_of_piskvork_is_refused_with_the_number_of_the_move(text, words):
    with pytest.raises(UserError) as error:
        psq(text)
    assert words in str(error.value) and str(error.value).splitlines()[0].isprintable()


def test_a_record_of_piskvork_is_read_by_its_ending_and_saved_in_another_form(tmp_path):
    (tmp_path / "game.psq").write_text("Piskvorky 22x22, 0:0, 0\n22,22,0\n1,1,9\n-1\n")
    found = load_game(tmp_path / "game.psq")
    assert found.game.move_name(found.moves[0]) == "v1" and found.moves == [483, 0]
    save(tmp_path / "game.json", found)
    assert load_game(tmp_path / "game.json").moves == found.moves
    with pytest.raises(UserError, match=r"ends in .json, .txt or .sgf"):
        save(tmp_path / "new.psq", found)
    with pytest.raises(UserError, match="expected a game of connect4, got one of gomoku"):
        load_game(tmp_path / "game.psq", 1, games.make("connect4"))


# ---- lines of moves


@pytest.mark.parametrize("text", [
    "1. f5 d6 2. c3 d3 3. c4", "1.f5 d6 2.c3 d3 3.c4", "1) F5 D6 2) C3 D3 3) C4", "f5d6c3d3c4", "f5,d6,c3,d3,c4",
    "1. f5\n2. d6\n3. c3\n4. d3\n5. c4",
])  # fmt: skip
def test_numbers_of_moves_in_a_transcript_of_othello_are_no_moves(text):
    assert from_bytes(text.encode(), ".txt", GAMES["othello"]).moves == [37, 43, 18, 19, 26]


@pytest.mark.parametrize("word", ["--", "ps", "pa", "pass", "PASS", "PS", "-"])
def test_a_pass_is_read_in_each_of_its_forms(word):
    game = GAMES["othello(size=6)"]
    whole = next(moves for moves in (played(game, seed).moves for seed in range(99)) if 36 in moves)
    moves = whole[: whole.index(36)]
    text = f"{' '.join(map(game.move_name, moves))} {word}"
    if word == "-":
        with pytest.raises(UserError, match=f"move {len(moves) + 1}: expected a move"):
            game.parse_moves(text)
    else:
        assert game.parse_moves(text) == [*moves, 36]
        joined = "".join(map(game.move_name, moves)) + word
        assert game.parse_moves(joined) == [*moves, 36]


def test_a_pass_that_is_not_legal_is_named_with_its_number():
    with pytest.raises(UserError, match="move 6: illegal move pass"):
        from_bytes(b"f5 d6 c3 d3 c4 --\n", ".txt", GAMES["othello"])


def test_the_number_of_a_move_is_that_of_the_text_which_leaves_passes_out():
    game = GAMES["othello"]
    text = ("F5D6C3D3C4F4F6F3E6E7D7C5B6D8C6C7D2B5A5A6A7G5E3B4C8G6G4C2E8D1F7E2G3H4F1E1F2G1B1F8G8B3H3B2H5B7A3A4A1A2C1H2H1"
            "G2B8A8G7H8H7")  # fmt: skip
    with pytest.raises(UserError, match="move 60: expected a move such as 'a1', got 'zz'"):
        game.parse_moves(text + "zz")


@pytest.mark.parametrize("spec, text, words", [
    ("connect4", "443x", "move 4: expected a move"), ("connect4", "4444444", "move 7: illegal move 4"),
    ("gomoku", "a9 b9 a9", "move 3: illegal move a9"), ("gomoku", "a9b9zz", "move 3: expected a move"),
    ("gomoku", "1. a9 2. j10", "move 2: expected a move"), ("tictactoe", "b2 b2", "move 2: illegal move b2"),
    ("othello", "f5d6c3d3c4f4f6f3e6e7zz", "move 11: expected a move"), ("othello", "f5f5", "move 2: illegal move f5"),
])  # fmt: skip
def test_a_wrong_move_of_any_text_is_named_with_its_number(spec, text, words):
    with pytest.raises(UserError, match=words):
        after_moves(games.make(spec), games.make(spec).parse_moves(text))
    with pytest.raises(UserError, match=words):
        from_bytes(text.encode(), ".txt", games.make(spec))


@pytest.mark.parametrize(
    "text", ["h8 i9 j10", "h8i9j10", "H8I9J10", "1. h8 2. i9 3. j10", "1. h8 i9 2. j10", "1.h8 i9 j10"]
)
def test_gomoku_is_read_with_numbers_of_moves_and_without_blanks(text):
    game = GAMES["gomoku(size=15,rule=renju)"]
    assert [game.move_name(a) for a in from_bytes(text.encode(), ".txt", game).moves] == ["h8", "i9", "j10"]


@pytest.mark.parametrize("text, moves, score", [
    ("44455554221 2", "44455554221", "2"), ("2252576253462244111563365343671351441 -1", None, "-1"),
    ("44 +3", "44", "+3"), ("4433", "4433", ""), ("4 4 3 3", "4433", ""), ("44 33", "4433", ""),
    (" 44\n33 ", "4433", ""), ("444\n2", "4442", ""), ("4455 22", "445522", ""), ("4 4", "44", ""),
    ("1. 4 4 2. 3", "443", ""),
])  # fmt: skip
def test_a_solvers_score_behind_the_moves_is_no_move(text, moves, score):
    game = GAMES["connect4"]
    found = from_bytes(text.encode(), ".txt", game)
    assert split_score(text)[1] == score
    assert "".join(map(game.move_name, found.moves)) == (moves or text.split()[0])
    assert found.notes == ((f"left out: {score} behind the moves, which is a solver's score",) if score else ())


def test_numbers_that_do_not_count_moves_are_not_skipped():
    with pytest.raises(UserError, match="move 3: expected a move"):
        GAMES["connect4"].parse_moves("44.33")
