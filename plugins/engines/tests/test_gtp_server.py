"""GTP from the other program's side: every command, its answer and its refusals."""

import re

import pytest
from engine_talk import Live, gtp_server, told_gtp

import games
from config import UserError
from interface.cli import run as run_command
from plugins.engines.gtp import commands_of, parse
from storage import run_folders
from storage.game_files import load, save

COLUMNS = "ABCDEFGHJKLMNOPQRST"


def one(*lines, **options):
    """Return the last answer."""
    return told_gtp(*lines, **options)[-1]


def test_a_line_is_read_as_the_protocol_says():
    assert parse("  # all comment") is None and parse("\r\n") is None and parse("\x01\x02") is None
    assert parse("12 pl\x07ay\tb  D4 # x") == ("12", "play", ["b", "D4"])
    assert parse("7") == ("7", "", [])


def test_who_we_are_is_said_with_the_number_of_the_question():
    answers = told_gtp("protocol_version", "12 name", "3 version", "known_command play", "known_command x", "4 quit")
    assert answers[:2] == ["= 2", "=12 alphazero-keras"] and answers[2].startswith("=3 0.")
    assert answers[3:] == ["= true", "= false", "=4"]


@pytest.mark.parametrize("game", ["go", "gomoku", "hex"])
def test_every_command_that_is_listed_is_known_and_no_other(game):
    names = one("list_commands", game=game).removeprefix("= ").split("\n")
    assert names == commands_of(game) and len(names) > 20
    for name in names:
        if name != "quit":
            answer = one(name, game=game)
            assert answer[:1] in "=?" and answer != "? unknown command" and "internal" not in answer
    assert one("gogui-rules_board", game="go") == "? unknown command"
    assert one("komi 2.5", game="gomoku") == one("5", game="go").replace("?5", "?") == "? unknown command"


def test_after_quit_nothing_is_answered():
    assert told_gtp("name", "quit", "name") == ["= alphazero-keras", "="]


def test_all_chance_follows_from_the_seed():
    lines = ["genmove b", "genmove w"] * 6
    first, again, other = (told_gtp(*lines, game="go(size=9)", seed=seed) for seed in (0, 0, 1))
    assert first == again != other


def test_moves_are_played_taken_back_and_shown():
    shown = one("boardsize 5", "play b c3", "play w D4", "showboard")
    assert " 4  -  -  - [O] -" in shown and " 3  -  -  X  -  -" in shown and "black to move" in shown
    assert one("play b c3", "play w d4", "undo", "undo", "final_score") == "= W+2.5"
    assert one("undo") == "? cannot undo: no move was played"


@pytest.mark.parametrize(
    "lines, refused",
    [
        (["play b c3", "play w c3"], "illegal move"),
        (["play b z9"], "illegal move"),
        (["play b i3"], "illegal move"),
        (["play green c3"], "syntax error"),
        (["play b"], "syntax error"),
        (["play"], "syntax error"),
        (["boardsize x"], "syntax error"),
        (["boardsize 1"], "unacceptable size"),
        (["boardsize 26"], "unacceptable size"),
        (["komi x"], "syntax error"),
        (["komi 2.3"], "go: expected komi from -361.5 to 361.5 in steps of 0.5"),
        (["fixed_handicap 2"], "invalid number of stones"),
        (["play b c3", "fixed_handicap 2"], "board not empty"),
        (["boardsize 9", "fixed_handicap 10"], "invalid number of stones"),
        (["set_free_handicap c3 c3"], "bad vertex list"),
        (["set_free_handicap c3"], "bad vertex list"),
        (["set_free_handicap c3 pass"], "bad vertex list"),
        (["time_settings 1 2"], "syntax error"),
        (["time_settings -1 2 3"], "syntax error"),
        (["kgs-time_settings hourglass 1"], "syntax error"),
        (["final_status_list lost"], "syntax error"),
        (["loadsgf /nowhere.sgf"], "cannot load file"),
        (["lz-analyze b 0"], "expected an interval"),
        (["lz-analyze 10 avoid b"], "syntax error: expected a colour, points such as D4,E5 and a number of plies"),
        (["lz-analyze 10 avoid b z9 1"], "avoid: expected a point"),
        (["lz-analyze b 10 allow b c3 1 avoid b c3 1"], "avoid and allow leave no legal move"),
        (["kata-analyze 10"], "random has no search to show"),
        (["x" * 20_000], "expected a line of at most 10000 bytes"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line_and_changes_nothing(lines, refused):
    *before, last = lines
    answers = told_gtp(*before, "showboard", last, "showboard", player="random")
    assert answers[-2].startswith(f"? {refused}") and "\n" not in answers[-2]
    assert answers[-1] == answers[-3]


def test_the_refusal_of_a_move_names_points_as_the_protocol_does():
    """Othello counts its lines from the top, as all programs for it do, GTP else from below."""
    assert one("play b a1", game="othello") == "? illegal move: a1 (legal: D3 C4 F5 E6)"
    full = [f"play {'bw'[i % 2]} a{i + 1}" for i in range(6)]
    assert "(legal: B1 C1 D1 E1 F1 G1)" in one(*full, "play b a6", game="connect4")


def test_othello_is_played_by_the_names_that_its_programs_have():
    """A game that is known by them, to 32 discs each; GoGui's board has row 1 below, as GoGui counts."""
    text = ("F5D6C3D3C4F4F6F3E6E7D7C5B6D8C6C7D2B5A5A6A7G5E3B4C8G6G4C2E8D1F7E2G3H4F1E1F2G1B1F8G8B3H3B2H5B7A3A4A1A2C1H2H1"
            "G2B8A8G7H8H7H6")
    moves = [text[i : i + 2] for i in range(0, len(text), 2)]
    lines = [f"play {'bw'[i % 2]} {move}" for i, move in enumerate(moves)]
    found = told_gtp(*lines[:1], "gogui-rules_board", "gogui-rules_legal_moves", *lines[1:], "gogui-rules_final_result",
                     "genmove w", game="othello")
    assert {found[0], *found[3:-2]} == {"="} and found[-2] == "= Draw 32 : 32"
    board = [line.split() for line in found[1].removeprefix("= ").splitlines() if line.strip()]
    below = {f"{COLUMNS[c]}{8 - r}": board[r][c] for r in range(8) for c in range(8)}
    assert {name: disc for name, disc in below.items() if disc != "."} == {
        "D4": "O", "E4": "X", "D5": "X", "E5": "X", "F5": "X"}
    assert sorted(found[2].removeprefix("= ").split()) == ["D6", "F4", "F6"]
    assert one("genmove b", game="othello") in {"= D3", "= C4", "= F5", "= E6"}
    ten = told_gtp("boardsize 10", "play b e4", "gogui-rules_legal_moves", game="othello")
    assert ten[1] == "=" and ten[2].count(" ") == 3


def test_a_colour_may_move_twice_in_go_but_not_in_other_games():
    answers = told_gtp("play b c3", "play b c4", "play b c5", "undo", "genmove w", "showboard", "printsgf")
    assert answers[4][:2] == "= " and answers[5].count("X") >= 2 and answers[6].startswith("= (;FF[4]AB[")
    twice = ["play b c3", "play b c4", "play w c5", "play w d5"]
    assert "AB[cb][cc]AW[ca]" in one(*twice, "printsgf").replace("[cc][cb]", "[cb][cc]")
    assert one(*twice, "undo", "undo", "undo", "printsgf").endswith("SZ[5];B[cc])")
    assert one("play b e5", "play b e4", game="gomoku") == "? illegal move: it is the other player's turn"


@pytest.mark.parametrize("size", [5, 9, 19])
def test_a_whole_game_by_protocol_ends_and_is_counted(size):
    turns = [f"genmove {'bw'[i % 2]}" for i in range(2 * size * size)]
    answers = told_gtp(f"boardsize {size}", "komi 6.5", *turns, "final_score", "printsgf", player="random")
    moves = [answer.removeprefix("= ") for answer in answers[2 : 2 + len(turns)]]
    assert all(re.fullmatch("[A-HJ-T][0-9]{1,2}|pass", move) for move in moves)
    assert re.fullmatch(r"= [BW]\+[0-9]+(\.5)?", answers[-2])
    assert "KM[6.5]" in answers[-1] and f"SZ[{size}]" in answers[-1]


def test_the_score_is_that_of_the_stones_and_what_they_surround():
    wall = [f"play b {COLUMNS[c]}3" for c in range(5)]
    wall = [line for c, line in enumerate(wall) for line in (line, f"play w {COLUMNS[c]}4")]
    assert one(*wall, "final_score") == "= B+2.5"
    chains = one(*wall, "final_status_list alive").removeprefix("= ").split("\n")
    assert sorted(sorted(chain.split()) for chain in chains) == [["A3", "B3", "C3", "D3", "E3"],
                                                                 ["A4", "B4", "C4", "D4", "E4"]]  # fmt: skip
    assert one(*wall, "final_status_list dead") == one(*wall, "final_status_list seki") == "="


def test_after_two_passes_play_may_go_on():
    answers = told_gtp("play b c3", "play w pass", "play b pass", "genmove w", "play b pass", "final_score")
    assert answers[3].startswith("= ") and answers[5].startswith("= ")


def test_handicap_stones_stand_where_the_protocol_puts_them():
    assert one("boardsize 9", "fixed_handicap 5") == "= C3 G7 C7 G3 E5"
    assert one("boardsize 19", "fixed_handicap 3") == "= D4 Q16 D16"
    assert one("boardsize 19", "fixed_handicap 9") == "= D4 Q16 D16 Q4 D10 Q10 K4 K16 K10"
    answers = told_gtp("boardsize 7", "fixed_handicap 4", "showboard", "genmove w", "clear_board", "showboard")
    assert answers[1] == "= C3 E5 C5 E3" and answers[2].count("X") - 1 == 4 and "white to move" in answers[2]
    assert answers[5].count("X") == 1
    chosen = one("place_free_handicap 3").removeprefix("= ").split()
    assert len(set(chosen)) == 3 and one("place_free_handicap 3", player="shipped").count(" ") == 3
    answers = told_gtp("set_free_handicap a1 b2 c3", "komi 0.5", "final_score", "printsgf")
    assert answers[2] == "= B+24.5" and "AB[cc][bd][ae]" in answers[3] and "PL[W]" in answers[3]


def test_komi_may_be_given_at_any_time_and_littlego_has_its_own():
    assert told_gtp("play b c3", "komi 24.5", "final_score", "get_komi")[-2:] == ["= B+0.5", "= 24.5"]
    assert told_gtp("play b c3", "komi -3", "final_score", "komi 30.5", "get_komi")[-3:] == [
        "= B+28", "? go: expected a komi from -25.5 to 25.5 for size 5, got 30.5", "= -3"]
    assert told_gtp("komi 2.5", "komi 6.5", game="littlego") == ["=", "? the komi of littlego is 2.5"]


def test_games_go_to_files_in_sgf_and_come_back(tmp_path):
    file = tmp_path / "game.sgf"
    moves = ["play b c3", "play w c4", "play b pass"]
    assert told_gtp("komi 5.5", *moves, f"printsgf {file}")[-1] == "="
    assert len(load(file).moves) == 3
    again = told_gtp("play b a1", f"printsgf {file}", f"printsgf {file.with_suffix('.txt')}", "loadsgf x.json")
    assert re.fullmatch(r"\? \S+game.sgf: exists.*", again[1]) and len(load(file).moves) == 3
    assert all("expected a file name that ends in .sgf, got '" in answer for answer in again[2:]) and len(again) == 4
    answers = told_gtp(f"loadsgf {file}", "get_komi", "showboard", f"loadsgf {file} 2", "showboard", "undo", "undo")
    assert answers[1] == "= 5.5" and "passed" in answers[2] and answers[4].count("O") == 1 and "X" in answers[4]
    assert answers[5] == "=" and answers[6].startswith("? cannot undo")


def test_a_game_that_is_over_is_printed_with_its_result_and_another_without_one():
    assert "RE[W+2.5]" in one("play b c3", "play w d3", "play b pass", "play w pass", "printsgf")
    assert "RE[Void]" in one("play b c3", "play w pass", "printsgf")


@pytest.mark.parametrize("ours", [True, False])
def test_a_game_of_more_than_two_moves_for_each_point_comes_back_and_continues(ours, tmp_path):
    """Passes end it for nobody who plays on."""
    file = tmp_path / "long.sgf"
    moves = [f"play {'bw'[n % 2]} {'c3' if n == 0 else 'pass'}" for n in range(22)]
    written = told_gtp(*moves, "undo", "play w b1", f"printsgf {file}", game="go(size=3)")
    assert set(written) == {"="}
    if not ours:
        file.write_text(re.sub(r"GC\[.*?\]", "", file.read_text()))
    assert load(file).game.spec == "go(size=3)" and len(load(file).moves) == 22
    for other in (file.with_suffix(".json"), file.with_suffix(".txt")):
        save(other, load(file))
        assert load(other, games.make(load(file).game.spec)).moves == load(file).moves
    answers = told_gtp(f"loadsgf {file}", "play b a1", "play w pass", "play b b2", "showboard", game="go(size=3)")
    assert answers[:4] == ["="] * 4 and "X" in answers[4]


@pytest.mark.parametrize("begun", ["KM[0.5]", "HA[2]RU[Japanese]"])
def test_the_move_number_of_loadsgf_is_that_of_the_file(begun, tmp_path):
    """A handicap that Black plays, and a pass that is put in where Black moves twice, are no moves of their own."""
    file = tmp_path / "game.sgf"
    file.write_text(f"(;GM[1]FF[4]SZ[9]{begun};B[gc];B[cg];W[gg];B[cc];W[ee])")
    for number in (3, 4, 5):
        board = told_gtp(f"loadsgf {file} {number}", "showboard", game="go(size=9)")[1].rsplit("\n", 1)[0]
        assert (board.count("X"), board.count("O")) == {3: (2, 0), 4: (2, 1), 5: (3, 1)}[number], board


@pytest.mark.parametrize("game, size", [("gomoku", 9), ("othello", 8), ("connect4", 7), ("tictactoe", 3),
                                        ("metasquares(size=5)", 5)])  # fmt: skip
def test_gogui_is_told_the_rules_of_other_games_and_plays_them(game, size):
    target, names = [], ["black", "white"]
    with Live(gtp_server, game=game, player="random") as engine:

        def ask(line):
            engine.send(line)
            return "\n".join(engine.answer()).removeprefix("=").strip()

        assert ask("gogui-rules_board_size") == str(size) and ask("gogui-rules_final_result") == "unknown"
        assert ask("gogui-rules_game_id").lower() == game.split("(")[0]
        while legal := ask("gogui-rules_legal_moves").split():
            turn = ask("gogui-rules_side_to_move")
            assert turn in names
            if len(target) % 2:
                move = ask(f"genmove {turn}")
                assert move in legal
            else:
                move = legal[len(target) % len(legal)]
                assert ask(f"play {turn} {move}") == ""
            target.append(move)
            board = [line.split() for line in ask("gogui-rules_board").splitlines()]
            assert len(board) == size and all(len(row) == size for row in board)
            if move != "pass":
                assert board[size - int(move[1:])][COLUMNS.index(move[0])] in "XO"
        assert re.match("Draw|Black wins|White wins", ask("gogui-rules_final_result"))
        assert ask("genmove black").startswith("? illegal move: the game is over")


def test_a_disc_lies_where_it_falls():
    answers = told_gtp("play b d1", "play w d1", "play w d2", "play b d4", "undo", "genmove w", game="connect4")
    assert answers[:2] == ["=", "? illegal move: the disc does not come to lie there"] and answers[2] == "="
    assert answers[3].startswith("? illegal move") and answers[4] == "=" and answers[5].startswith("= ")


def test_the_size_chooses_the_network_and_none_is_made_up(caplog, monkeypatch, tmp_path):
    for name in ("gomoku", "gomoku-size-8"):  # of two sizes, and none of many
        (tmp_path / name).symlink_to(run_folders.SHIPPED / name)
    monkeypatch.setattr(run_folders, "SHIPPED", tmp_path)
    answers = told_gtp("boardsize 8", "genmove b", "boardsize 9", "boardsize 7", "showboard", game="gomoku",
                       player="shipped", sims=4)  # fmt: skip
    assert answers[0] == "=" and answers[1].startswith("= ") and answers[3] == "? unacceptable size"
    assert "gomoku\n" in answers[4]
    assert "boardsize 7: expected" in caplog.text


def test_a_player_that_is_none_ends_the_program_with_one_line(capsys, monkeypatch):
    with pytest.raises(UserError, match="did you mean"):
        told_gtp("name", "genmove b", player="rolout:5")
    with pytest.raises(UserError, match="needs nobody"):
        told_gtp("genmove b", player="human")
    with pytest.raises(UserError, match="points of a board"):
        told_gtp("genmove b", game="open_spiel:hex(board_size=3)")
    assert run_command(["gtp", "--sims", "0"]) == 2
    assert re.fullmatch(r"error: sims: [^\n]+\n", capsys.readouterr().err)


def test_hex_is_played_by_the_names_of_its_own_programs():
    answers = told_gtp("boardsize 4 4", "play black i1", "play black c1", "play white swap-pieces", "play b a1",
                       "showboard", "genmove w", "hexgui-analyze_commands", "gogui-rules_board",
                       game="hex(size=5,swap=yes)")  # fmt: skip
    assert [answers[i] for i in (0, 2, 3, 4, 7)] == ["="] * 5 and answers[1].startswith("? illegal")
    assert " 1 [X]- - -" in answers[5] and "   3  O - - -" in answers[5] and "hex(size=4,swap=yes)" in answers[5]
    assert re.fullmatch("= [a-d][1-4]", answers[6]) and answers[8] == "? unknown command"
    assert told_gtp("play b c2", "play w swap-pieces", game="hex(size=4)")[1].startswith("? illegal move")
