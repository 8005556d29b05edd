"""The rules of every game, against counts, against OpenSpiel and against `game.check`, which is tested itself."""

import numpy as np
import pytest
from corridor import PASS, Corridor, CorridorState
from numba import cfunc
from perft import lines, positions, sequences

import games
from config import UserError
from game import ENCODE, HEADER, KEY, OUTCOME, OVER, PLAYER, WINNER, Game, Symmetry, check
from games.boards import hash_cells, point_symmetries

CONFORMING = ["connect4", "connect4(rows=5,columns=6,n=3)", "tictactoe", "corridor"]


def make(spec):
    return Corridor() if spec == "corridor" else games.make(spec)


def play(game, moves):
    state = game.start()
    for action in game.parse_moves(moves):
        state = state.takeAction(action)[0]
    return state


def drawn(text):
    """The lines of a drawing, blanks at the ends left out."""
    return [line.strip() for line in text.strip().splitlines()]


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


# ---- check


@pytest.mark.parametrize("spec", CONFORMING)
def test_check_finds_no_fault_in_a_game_that_conforms(spec):
    assert check(make(spec)) == []


def spoiled(facts=None, **members):
    """Return Corridor with some members of its positions, and some of its own, replaced."""
    state = type("SpoiledState", (CorridorState,), members)
    return type("SpoiledCorridor", (Corridor,), {"state_class": state, **(facts or {})})()


def always(value):
    """A fact that stays what it is, whatever the game sets."""
    return property(lambda game: value, lambda game, other: None)


def original(member):
    return getattr(CorridorState, member).fget


def accepts_anything(state, action):
    good = action in state.allowedActions
    return CorridorState.takeAction(state, action) if good else (state, state.value, state.isEndGame)


def raises_value_error(state, action):
    if action not in state.allowedActions:
        raise ValueError
    return CorridorState.takeAction(state, action)


def gives_the_turn_away(state, action):
    if action not in state.allowedActions:
        state.playerTurn = -state.playerTurn
    return CorridorState.takeAction(state, action)


def changes_itself(state, action):
    new = CorridorState.takeAction(state, action)
    state.cells = new[0].cells
    return new


def values_for_the_player_who_moved(state, action):
    new, value, done = CorridorState.takeAction(state, action)
    return new, -value, done


def fails_on_a_pass(state, action):
    if action == PASS:
        raise IndexError("list index out of range")
    return CorridorState.takeAction(state, action)


def without_the_pass(state):
    planes = CorridorState.planes(state)
    planes[:, :, 2] = 0
    return planes


class OneRowForAll(Corridor):
    def state_of(self, row):
        return self.start()


@cfunc(OUTCOME, cache=True)
def outcome_for_the_beginner(row, out):
    out[0] = row[WINNER]
    return row[OVER]


@cfunc(KEY, cache=True)
def key_of_the_upper_cells(row):
    return hash_cells(row, HEADER, HEADER + 6, row[PLAYER] + 1)


@cfunc(ENCODE, cache=True)
def encode_signed(row, out):
    for i in range(27):
        out[i] = row[HEADER + i // 3]


def compiled_with(**rules):
    game = games.make("tictactoe")
    game.rules = game.rules._replace(**rules)
    return game


def turned_the_wrong_way():
    """The quarter turn's actions go the other way round than its points."""
    game = games.make("tictactoe")
    turn = game.symmetries[4]
    game.symmetries = [Symmetry(turn.grid, np.argsort(turn.actions))]
    return game


def mirror(grid, actions):
    return spoiled({"symmetries": always([Symmetry(np.array(grid), np.array(actions))])})


class Unsearchable(Game):
    """A game with positions but without rules that the search could call."""

    name, grid_shape, input_shape, action_size, max_plies = "corridor", (2, 4), (2, 4, 3), 9, 16
    symmetries = point_symmetries(2, 4, 1)

    def start(self):
        return CorridorState(self)


UPSIDE_DOWN = [4, 5, 6, 7, 0, 1, 2, 3]
SPOILED = {
    "legal moves in descending order": (
        "order of legal",
        lambda: spoiled(allowedActions=property(lambda s: original("allowedActions")(s)[::-1])),
    ),
    "a legal move outside the range": (
        "order of legal",
        lambda: spoiled(allowedActions=property(lambda s: [*original("allowedActions")(s), 9][-9:])),
    ),
    "legal moves after the end": (
        "number of legal",
        lambda: spoiled(allowedActions=property(lambda s: original("allowedActions")(s) or [PASS])),
    ),
    "illegal moves accepted": (
        "illegal action: expected UserError",
        lambda: spoiled(takeAction=accepts_anything),
    ),
    "illegal moves raise something else": ("illegal action", lambda: spoiled(takeAction=raises_value_error)),
    "illegal moves leave a trace": (
        "playerTurn after an illegal action",
        lambda: spoiled(takeAction=gives_the_turn_away),
    ),
    "takeAction changes the old position": (
        "planes of the old position after takeAction",
        lambda: spoiled(takeAction=changes_itself),
    ),
    "a value for the player who moved": (
        "value and done from takeAction",
        lambda: spoiled(takeAction=values_for_the_player_who_moved),
    ),
    "a value for the player who began": (
        "score: expected the sign",
        lambda: spoiled(value=property(lambda s: original("value")(s) * s.playerTurn)),
    ),
    "a value before the end": ("value: expected", lambda: spoiled(value=property(lambda s: 0.25))),
    "a value above 1": (
        "value: expected",
        lambda: spoiled(value=property(lambda s: 4 * original("value")(s))),
    ),
    "a value that is no float": (
        "value: expected",
        lambda: spoiled(value=property(lambda s: int(original("value")(s)))),
    ),
    "an id without the side to move": (
        "playerTurn where ids are equal",
        lambda: spoiled(id=property(lambda s: (s.cells, s.passes))),
    ),
    "an id without the pass": (
        "planes where ids are equal",
        lambda: spoiled(id=property(lambda s: (s.cells, s.playerTurn, s.isEndGame))),
    ),
    "an id and planes without the pass": (
        "isEndGame a move after ids are equal",
        lambda: spoiled(id=property(lambda s: (s.cells, s.playerTurn, s.isEndGame)), planes=without_the_pass),
    ),
    "an id that is new each time": (
        "id when the same moves are played again",
        lambda: spoiled(id=property(lambda s: s.__dict__.setdefault("new", object()))),
    ),
    "planes of floats": (
        "planes: expected uint8",
        lambda: spoiled(planes=lambda s: CorridorState.planes(s) * 1.0),
    ),
    "planes with twos": (
        "planes: expected only 0 and 1",
        lambda: spoiled(planes=lambda s: 2 * CorridorState.planes(s)),
    ),
    "planes of another shape": (
        "shape of planes",
        lambda: spoiled(planes=lambda s: CorridorState.planes(s)[:1]),
    ),
    "two moves of one name": ("move_name", lambda: spoiled({"move_name": lambda self, a: str(a // 2)})),
    "names read as another move": (
        "parse_move of each",
        lambda: spoiled({"parse_move": lambda self, text: 0}),
    ),
    "nothing drawn": ("render", lambda: spoiled(render=lambda s: "")),
    "the other player begins": (
        "the player who begins",
        lambda: spoiled({"start": lambda self: CorridorState(self, player=-1)}),
    ),
    "games longer than max_plies": ("length of a game", lambda: spoiled({"max_plies": always(5)})),
    "a layout without room for the board": (
        "action_size",
        lambda: spoiled({"grid_shape": always((3, 4))}),
    ),
    "a rule that raises": (
        "the rules: expected no exception, got IndexError",
        lambda: spoiled(takeAction=fails_on_a_pass),
    ),
    "rows that lose the position": ("planes after row_of and state_of", OneRowForAll),
    "a symmetry that is no permutation": ("actions of symmetry 0", lambda: mirror(UPSIDE_DOWN, [0] * 9)),
    "a symmetry of the points only": ("planes under symmetry 0", lambda: mirror(UPSIDE_DOWN, range(9))),
    "a symmetry of the moves only": ("planes under symmetry 0", lambda: mirror(range(8), [*UPSIDE_DOWN, 8])),
    "a symmetry turned the wrong way": ("planes under symmetry 0", turned_the_wrong_way),
    "a symmetry that the rules do not have": (
        "value under symmetry 0",
        lambda: spoiled(
            score=property(lambda s: (float(s.cells[0] == s.playerTurn), 0.0)),
            value=property(lambda s: s.score[0] if s.isEndGame else 0.0),
        ),
    ),
    "no rules for the search": ("rules", Unsearchable),
    "compiled: an outcome for the player who began": (
        "row (player, over, winner)",
        lambda: compiled_with(outcome=outcome_for_the_beginner),
    ),
    "compiled: a key that leaves out a row": (
        "planes where ids are equal",
        lambda: compiled_with(key=key_of_the_upper_cells),
    ),
    "compiled: planes with 255": (
        "planes: expected only 0 and 1",
        lambda: compiled_with(encode=encode_signed),
    ),
}


@pytest.mark.parametrize("fault", SPOILED)
def test_check_finds(fault):
    wanted, make_game = SPOILED[fault]
    found = check(make_game())
    assert any(line.startswith(wanted) for line in found), found


def test_a_fault_says_what_was_expected_what_came_and_after_which_moves():
    (fault,) = check(spoiled({"max_plies": always(3)}), games=1, seed=3)
    assert fault.startswith("length of a game: expected at most 3 plies, got more (after moves [")
    moves = [int(word) for word in fault.split("[")[1].strip("])").split(",")]
    state = Corridor().start()
    for action in moves:
        state = state.takeAction(action)[0]
    assert len(moves) == 3 and not state.isEndGame


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
        ("tictactoe(rows=3)", "tictactoe: expected a parameter out of none, got 'rows'"),
        ("connect4(rows=five)", "connect4: expected a whole number for rows, got 'five'"),
        ("connect4(rows=-5)", "connect4: expected a whole number for rows, got '-5'"),
        ("connect4(rows=30)", "connect4: expected 1 to 20 rows and columns .*, got 30x7x4"),
        ("connect4(rows=2,columns=2)", "connect4: expected .* 2 <= n <= the longer side, got 2x2x4"),
    ],
)
def test_a_wrong_name_or_parameter_is_refused_with_what_there_is(spec, message):
    with pytest.raises(UserError, match=message.replace("?", r"\?").replace("(", r"\(")):
        games.make(spec)


def test_a_position_of_another_game_has_no_row():
    small = games.make("connect4(rows=5)")
    with pytest.raises(UserError, match="expected a position of connect4, got CompiledState"):
        games.make("connect4").row_of(small.start())
