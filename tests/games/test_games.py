"""The rules of every game against known counts and OpenSpiel; what people type and see."""

import numpy as np
import pytest

import games
from config import UserError
from games.boards import hash_cells
from support.board_drawings import drawn, play
from support.corridor import Corridor
from support.perft import lines, positions, sequences

# ---- counts


def test_connect4_has_the_known_number_of_move_sequences():
    game = games.make("connect4")
    known = [7, 49, 343, 2401, 16807, 117649, 823536]
    assert [sequences(game, depth)[0] for depth in range(1, 8)] == known


def test_connect4_has_the_known_number_of_positions_by_ply_and_a_key_for_each():
    known = [1, 7, 49, 238, 1120, 4263, 16422, 54859]
    assert positions(games.make("connect4"), 7) == [(n, n) for n in known]


def test_tictactoe_has_255168_games_with_the_known_results():
    assert sequences(games.make("tictactoe"), 9)[1] == [131184, 46080, 77904]


def test_tictactoe_has_5478_positions_and_a_key_for_each():
    found = positions(games.make("tictactoe"), 9)
    assert sum(boards for boards, _ in found) == 5478
    assert all(boards == keys for boards, keys in found)


def test_rules_of_a_plain_game_called_from_compiled_code_count_the_same_lines():
    game = Corridor()
    # 9 first moves; of the 8 stones each leaves 7 points and a pass, and the pass leaves 9 moves
    assert [sequences(game, depth)[0] for depth in (1, 2, 3, 4)] == [9, 73, lines(game.start(), 3), 3256]


def test_a_key_tells_who_is_to_move_even_when_the_last_stone_differs():
    """The side must not cancel against the last cell: with passes both positions can occur."""
    keys = {
        (side, last): hash_cells(np.array([0, 0, last]), 0, 3, side + 1)
        for side in (1, -1)
        for last in (1, 0, -1)
    }
    assert len(set(keys.values())) == 6


# ---- another implementation


@pytest.mark.parametrize("spec, other", [("connect4", "connect_four"), ("tictactoe", "tic_tac_toe")])
def test_a_thousand_random_games_go_as_in_openspiel(spec, other):
    pyspiel = pytest.importorskip("pyspiel", reason="open_spiel is not installed")
    game, spiel = games.make(spec), pyspiel.load_game(other)
    rng = np.random.default_rng(1)
    for _ in range(1000):
        state, twin = game.start(), spiel.new_initial_state()
        while not twin.is_terminal():
            legal = state.allowedActions
            assert (state.isEndGame, legal) == (False, twin.legal_actions()), f"\n{state}"
            assert state.playerTurn == 1 - 2 * twin.current_player(), f"\n{state}"
            action = legal[rng.integers(len(legal))]
            state, value, done = state.takeAction(action)
            twin.apply_action(action)
            assert done == twin.is_terminal(), f"\n{state}"
            assert value * state.playerTurn == twin.returns()[0], f"\n{state}"
        assert (state.isEndGame, state.allowedActions) == (True, [])


# ---- what people type and see


def test_moves_of_connect4_are_read_with_and_without_blanks():
    game = games.make("connect4")
    assert game.parse_moves("4433") == game.parse_moves(" 4 4,3  3 ") == [3, 3, 2, 2]
    assert games.make("connect4(columns=12)").parse_moves("12 1") == [11, 0]


@pytest.mark.parametrize("text", ["0", "8", "a1", "", "-1", "１", "4" * 10_000])
def test_what_is_no_move_is_refused_with_an_example(text):
    with pytest.raises(UserError, match=r"expected a move such as '1', got '") as error:
        games.make("connect4").parse_move(text)
    assert len(str(error.value)) < 100


def test_cells_of_tictactoe_are_named_by_letter_and_row_from_below():
    assert drawn(str(play(games.make("tictactoe"), "b2 A1 c3"))) == drawn("""
        3  -  - [X]
        2  -  X  -
        1  O  -  -
           a  b  c """)


def test_connect4_is_drawn_with_the_last_stone_in_brackets():
    assert drawn(str(play(games.make("connect4"), "44334"))) == drawn("""
        -  -  -  -  -  -  -
        -  -  -  -  -  -  -
        -  -  -  -  -  -  -
        -  -  - [X] -  -  -
        -  -  O  O  -  -  -
        -  -  X  X  -  -  -
        1  2  3  4  5  6  7 """)


def test_an_illegal_move_is_refused_with_the_board_and_the_legal_moves():
    state = play(games.make("connect4(rows=2,columns=3,n=3)"), "11")
    with pytest.raises(UserError) as error:
        state.takeAction(0)
    assert drawn(str(error.value)) == drawn("""
        illegal move 1 (legal: 2 3)
        [O] -  -
        X  -  -
        1  2  3 """)


@pytest.mark.parametrize("action, shown", [("4", "'4'"), (7, "7"), (-1, "-1"), (None, "None"), ("x" * 99, "'xxx")])
def test_what_is_no_action_is_named_as_it_came(action, shown):
    with pytest.raises(UserError) as error:
        games.make("connect4").start().takeAction(action)
    first = str(error.value).splitlines()[0]
    assert first.startswith(f"illegal move {shown}") and len(first) < 99


def test_a_move_after_the_end_is_refused():
    state = play(games.make("connect4"), "1122334")
    assert (state.isEndGame, state.value) == (True, -1.0)
    with pytest.raises(UserError, match="illegal move 5 .the game is over"):
        state.takeAction(4)


ENDS = {
    "1122334": (True, """
        -  -  -  -  -  -  -
        -  -  -  -  -  -  -
        -  -  -  -  -  -  -
        -  -  -  -  -  -  -
        O  O  O  -  -  -  -
        X  X  X [X] -  -  -"""),
    "17176767": (True, """
        -  -  -  -  -  -  -
        -  -  -  -  -  -  -
        -  -  -  -  -  - [O]
        -  -  -  -  -  -  O
        X  -  -  -  -  X  O
        X  -  -  -  -  X  O"""),
    "12233434464": (True, """
        -  -  -  -  -  -  -
        -  -  -  -  -  -  -
        -  -  - [X] -  -  -
        -  -  X  X  -  -  -
        -  X  X  O  -  -  -
        X  O  O  O  -  O  -"""),
    "76655454424": (True, """
        -  -  -  -  -  -  -
        -  -  -  -  -  -  -
        -  -  - [X] -  -  -
        -  -  -  X  X  -  -
        -  -  -  O  X  X  -
        -  O  -  O  O  O  X"""),
    "1556677": (False, """
        -  -  -  -  -  -  -
        -  -  -  -  -  -  -
        -  -  -  -  -  -  -
        -  -  -  -  -  -  -
        -  -  -  -  X  X [X]
        X  -  -  -  O  O  O"""),
}  # fmt: skip


@pytest.mark.parametrize("moves", ENDS)
def test_four_in_a_row_in_any_direction_but_not_round_the_edge_ends_the_game(moves):
    state = play(games.make("connect4"), moves)
    over, board = ENDS[moves]
    assert drawn(str(state))[:-1] == drawn(board)
    assert (state.isEndGame, state.value) == (over, -1.0 if over else 0.0), "the player to move has lost"


def test_a_full_board_without_a_line_is_a_draw():
    state = play(games.make("tictactoe"), "a3 b3 c3 b2 a2 c2 b1 a1 c1")
    assert drawn(str(state))[:3] == drawn("""
        3  X  O  X
        2  X  O  O
        1  O  X [X]""")
    assert (state.value, state.isEndGame, state.score) == (0.0, True, (0.0, 0.0))


def test_identities_show_a_position_and_its_moves_in_the_mirror():
    game = games.make("connect4(rows=2,columns=3,n=3)")
    state = play(game, "12")
    (planes, pi), (mirrored, mirrored_pi) = game.identities(state.planes(), np.array([0.5, 0.3, 0.2]))
    assert (planes == state.planes()).all() and pi.tolist() == [0.5, 0.3, 0.2]
    assert (mirrored == play(game, "32").planes()).all() and mirrored_pi.tolist() == [0.2, 0.3, 0.5]


def test_planes_are_own_stones_other_stones_and_ones():
    planes = play(games.make("tictactoe"), "a3 b2 c1").planes()
    own, other, ones = planes.transpose(2, 0, 1).tolist()
    assert own == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]
    assert other == [[1, 0, 0], [0, 0, 0], [0, 0, 1]]
    assert ones == [[1, 1, 1]] * 3


# ---- games by name


@pytest.mark.parametrize("spec", ["connect4", "tictactoe", "connect4(columns=6,rows=5)", "connect4(n=5)"])
def test_the_spec_of_a_game_makes_it_again(spec):
    game = games.make(spec)
    assert game.spec == spec
    assert games.make(game.spec).start().id == game.start().id


@pytest.mark.parametrize("spec", [
    "connect4", "tictactoe", "hex", "hex(swap=yes)", "go", "littlego", "othello", "gomoku", "gomoku(rule=exact)",
    "gomoku(rule=renju)", "metasquares", "metasquares(rule=race)",
])  # fmt: skip
def test_a_built_in_game_says_what_wins_and_each_rule_in_its_own_words(spec):
    game = games.make(spec)
    assert game.aim.endswith(".") and 30 < len(game.aim) < 170
    assert "(" not in spec or game.aim != games.make(spec.split("(")[0]).aim


@pytest.mark.parametrize(
    "spec, message",
    [
        (
            "conect4",
            "expected a game out of connect4, .*tictactoe.*, got 'conect4'; did you mean 'connect4'?",
        ),
        ("boards", "expected a game out of"),
        ("connect4(", "expected a game out of"),
        ("", "expected a game out of"),
        (
            "connect4(row=5)",
            "connect4: expected a parameter out of rows, columns, n, got 'row'; did you mean 'rows'?",
        ),
        ("tictactoe(rows=3)", "tictactoe: expected no parameters, got 'rows'"),
        ("connect4(rows=five)", "connect4: expected a whole number for rows, got 'five'"),
        ("connect4(rows=-5)", "connect4: expected a whole number for rows, got '-5'"),
        ("connect4(rows=30,columns=30)", "connect4: expected at most 400 cells .*, got rows 30, columns 30, n 4"),
        ("connect4(rows=2,columns=2)", "connect4: expected .* n up to the longer side, got rows 2, columns 2, n 4"),
    ],
)
def test_a_wrong_name_or_parameter_is_refused_with_what_there_is(spec, message):
    with pytest.raises(UserError, match=message.replace("?", r"\?").replace("(", r"\(")):
        games.make(spec)


def test_a_position_of_another_game_has_no_row():
    small = games.make("connect4(rows=5)")
    with pytest.raises(UserError, match="expected a position of connect4, got CompiledState"):
        games.make("connect4").row_of(small.start())


def test_every_name_of_a_game_makes_one():
    for name in games.names():
        assert games.make(name).name == name


def test_a_file_in_games_without_a_game_is_named(monkeypatch):
    monkeypatch.setattr(games, "_LIBRARY", set())
    with pytest.raises(UserError, match=r"games/boards.py: expected a class derived from Game"):
        games.make("boards")
